//! What went wrong, as a typed error: with the server's own words cut to a line, keys taken out, and what to do.

use super::tls::distrust;
use crate::provider::error::{ErrorKind, Redirect};
use crate::provider::retry::retry_after;
use crate::text::instant;
use crate::text::secret::Secrets;
use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use serde_json::Value;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// How much of an error's body is read, and how long that may take.
const ERROR_BODY_BYTES: usize = 64 << 10;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a server's words is shown.
const MESSAGE_CHARS: usize = 400;

/// What a person can set when the server is the wrong one or refuses the key.
#[derive(Clone, Debug)]
pub(in crate::provider) struct Hints {
    /// The variable that names the server.
    pub(in crate::provider) base_url: &'static str,
    /// What to do about a refused key.
    pub(in crate::provider) key: String,
}

/// Makes the errors of one server.
#[derive(Debug)]
pub(in crate::provider) struct Faults {
    server: String,
    hints: Hints,
    secrets: Secrets,
}

impl Faults {
    pub(super) fn new(url: &Url, hints: Hints, secrets: Secrets) -> Self {
        let server = place(url).unwrap_or_else(|| "the server".to_owned());
        Self { server, hints, secrets }
    }

    pub(in crate::provider) fn server(&self) -> &str {
        &self.server
    }

    pub(in crate::provider) fn transport(&self, error: reqwest::Error) -> ErrorKind {
        if let Some(reason) = distrust(&error) {
            return ErrorKind::Untrusted {
                server: self.server.clone(),
                reason: self.line(&reason),
            };
        }
        ErrorKind::Transport {
            server: self.server.clone(),
            reason: self.line(&chain(&error.without_url())),
        }
    }

    pub(in crate::provider) fn broken_by(&self, error: reqwest::Error) -> ErrorKind {
        self.broken(&chain(&error.without_url()))
    }

    pub(in crate::provider) fn broken(&self, reason: &str) -> ErrorKind {
        ErrorKind::Broken {
            server: self.server.clone(),
            reason: self.line(reason),
        }
    }

    pub(in crate::provider) fn empty(&self) -> ErrorKind {
        ErrorKind::Empty {
            server: self.server.clone(),
        }
    }

    pub(in crate::provider) fn too_large(&self, limit: usize) -> ErrorKind {
        ErrorKind::TooLarge {
            server: self.server.clone(),
            limit,
        }
    }

    pub(in crate::provider) fn not_an_api(&self, content_type: &str) -> ErrorKind {
        ErrorKind::NotAnApi {
            server: self.server.clone(),
            content_type: self.line(content_type),
            setting: self.hints.base_url,
        }
    }

    /// The error object of an answer that began with status 200.
    pub(in crate::provider) fn reported(&self, json: &str) -> ErrorKind {
        let error: Value = serde_json::from_str(json).unwrap_or_default();
        let code = match error.get("code").or_else(|| error.get("type")) {
            Some(Value::String(word)) => self.line(word),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        ErrorKind::Reported {
            server: self.server.clone(),
            code,
            message: self.line(&message(&error)),
        }
    }

    /// Whether there is an error message in an object that is not marked as an error.
    pub(in crate::provider) fn has_message(&self, json: &str) -> bool {
        serde_json::from_str(json).is_ok_and(|value| !message(&value).is_empty())
    }

    /// The error of an answer with another status than 200.
    pub(in crate::provider) async fn status(&self, response: Response) -> ErrorKind {
        let server = self.server.clone();
        let status = response.status().as_u16();
        let header = |name| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        if response.status().is_redirection() {
            // Before it is parsed: that makes small letters of a host's large ones, and no key is found among them.
            let target = self.without_keys(&header(LOCATION).unwrap_or_default());
            let how = redirect(&response, &target);
            let other = Url::parse(&target).ok().filter(|_| how == Redirect::Elsewhere);
            let target = other.as_ref().and_then(place).unwrap_or(target);
            return ErrorKind::Redirected {
                server,
                target: self.line(&target),
                how,
                setting: self.hints.base_url,
            };
        }
        let retry_after = header(RETRY_AFTER).and_then(|value| retry_after(&value, instant(SystemTime::now())));
        let message = self.line(&error_text(&read_some(response).await));
        match status {
            401 | 403 => ErrorKind::Auth {
                status,
                server,
                message,
                hint: self.hints.key.clone(),
            },
            _ => ErrorKind::Status {
                status,
                server,
                hint: self.status_hint(status, &message),
                message,
                retry_after,
            },
        }
    }

    fn status_hint(&self, status: u16, message: &str) -> String {
        match status {
            400 | 413 if overflows(message) => {
                "the conversation does not fit: give the server a larger context, take another model, or lower truncate_len"
                    .to_owned()
            }
            402 => "the account has no credit left".to_owned(),
            404 => format!("check the model's name and {}", self.hints.base_url),
            400 | 422 => "it cannot use the request: check the model's name and what the model can do".to_owned(),
            413 => "the conversation is too long for it: lower truncate_len, or take another model".to_owned(),
            429 => "asked too often: wait, or raise api_max_retries".to_owned(),
            408 | 500..=599 => "its own trouble: try again later, or take another model".to_owned(),
            _ => String::new(),
        }
    }

    /// The server's text, with the names of keys in their place.
    pub(in crate::provider) fn without_keys(&self, text: &str) -> String {
        self.secrets.redact(text).into_owned()
    }

    /// The server's words in one line, without keys.
    fn line(&self, text: &str) -> String {
        let text = self.secrets.redact(text);
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let line = words.join(" ");
        let mut short: String = line.chars().take(MESSAGE_CHARS).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        short
    }
}

/// The host of an address, with its port where that is not the usual one.
/// What kind of a redirect a response is. Those that repeat the request on the same server were followed, up to here.
fn redirect(response: &Response, target: &str) -> Redirect {
    let is_here = |url: &Url| url.origin() == response.url().origin();
    match response.url().join(target).is_ok_and(|url| is_here(&url)) {
        true if matches!(response.status().as_u16(), 307 | 308) => Redirect::Endless,
        true => Redirect::Within,
        false => Redirect::Elsewhere,
    }
}

fn place(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

pub(in crate::provider) fn content_type(response: &Response) -> String {
    let value = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    value.unwrap_or("an answer of no stated type").to_owned()
}

/// Why a request came to nothing, without its address; of a server that is not trusted, what to do.
pub(crate) fn lost(error: reqwest::Error) -> String {
    distrust(&error).unwrap_or_else(|| chain(&error.without_url()))
}

/// An error with its causes, which say more than the error itself.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    causes.collect::<Vec<_>>().join(": ")
}

async fn read_some(response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let mut bytes = response.bytes_stream();
    let read = async {
        while let Some(Ok(piece)) = bytes.next().await {
            body.extend(piece.iter().take(ERROR_BODY_BYTES - body.len()));
            if body.len() >= ERROR_BODY_BYTES {
                break;
            }
        }
    };
    // What came in time is enough for a message.
    let _ = timeout(ERROR_BODY_TIMEOUT, read).await;
    body
}

/// The words in an error's body: a JSON error, or plain text, but no web page.
fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(list)) => list.first().map(message).unwrap_or_default(),
        Ok(value) => message(&value),
        Err(_) if text.trim_start().starts_with('<') => String::new(),
        Err(_) => text.into_owned(),
    }
}

/// The message in an error object, wherever this server puts it.
fn message(value: &Value) -> String {
    let inner = value.get("error").unwrap_or(value);
    let own = [
        inner.get("message"),
        inner.get("detail"),
        value.get("message"),
        Some(inner),
    ]
    .into_iter()
    .flatten()
    .find_map(Value::as_str)
    .unwrap_or_default();
    // OpenRouter's own message only says that the provider behind it failed; what that one said is here.
    match inner.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(raw) => format!("{own}: {raw}"),
        None => own.to_owned(),
    }
}

/// Whether a server says that a conversation is too long for it; each has words of its own.
fn overflows(message: &str) -> bool {
    let message = message.to_lowercase();
    ["context", "too long", "too many tokens"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults() -> Faults {
        let secrets = Secrets::default();
        secrets.register("OPENAI_API_KEY", "sk-abcdefgh").unwrap();
        let hints = Hints {
            base_url: "RLM_MODEL_BASE_URL",
            key: "set another one".to_owned(),
        };
        Faults::new(&Url::parse("http://h:81/v1").unwrap(), hints, secrets)
    }

    #[test]
    fn messages_are_found_where_servers_put_them() {
        let cases = [
            (r#"{"error": {"message": "m"}}"#, "m"),
            (r#"{"error": "m"}"#, "m"),
            (r#"[{"error": {"message": "m", "code": 400}}]"#, "m"),
            (r#"{"object": "error", "message": "m"}"#, "m"),
            (r#"{"detail": "m"}"#, "m"),
            (
                r#"{"error": {"message": "failed", "metadata": {"raw": "m"}}}"#,
                "failed: m",
            ),
            ("plain words", "plain words"),
            ("<html>busy</html>", ""),
            ("{}", ""),
            ("", ""),
        ];
        for (body, expected) in cases {
            assert_eq!(error_text(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn a_servers_words_are_one_short_line_without_the_key() {
        let text = format!("bad key sk-abcdefgh\r\n\u{1b}[31m{}", "x".repeat(1000));
        let line = faults().line(&text);
        assert!(line.starts_with("bad key [secret OPENAI_API_KEY] [31mxxx"), "{line}");
        assert_eq!(line.chars().count(), MESSAGE_CHARS + 1);
    }

    #[test]
    fn a_reported_code_decides_about_trying_again() {
        let kind = |json: &str| faults().reported(json);
        assert!(kind(r#"{"code": 502, "message": "m"}"#).is_retriable());
        assert!(kind(r#"{"code": "429"}"#).is_retriable());
        assert!(kind(r#"{"type": "overloaded_error"}"#).is_retriable());
        assert!(kind("\"m\"").is_retriable());
        assert!(!kind(r#"{"code": 400, "message": "m"}"#).is_retriable());
        assert_eq!(
            kind(r#"{"code": 502, "message": "m"}"#).to_string(),
            "h:81 reported an error 502: m"
        );
    }
}
