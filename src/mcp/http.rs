//! Speaking to a server at an address ("streamable HTTP"): each message is a POST, answered with JSON or with events
//! until the answer is among them. The stream on which a server could speak first is not opened, and streams that break
//! are not taken up again: the request fails.

use super::connection::Manner;
use super::error::{McpError, quoted};
use super::spec::{ServerSpec, Transport};
use super::wire::{self, Incoming, MESSAGE_LIMIT, RpcError};
use crate::provider::{SseDecoder, http_client, lost};
use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

const SESSION: &str = "mcp-session-id";
const PROTOCOL: &str = "mcp-protocol-version";
/// Bytes of an error's text that are read.
const ERROR_BYTES: usize = 4 << 10;
/// How long a server may take over a farewell, or over a notification.
const ASIDE: Duration = Duration::from_secs(2);
/// How long it may take over a farewell when somebody waits for the end.
const IN_PASSING: Duration = Duration::from_millis(100);
/// Requests of the server's own that are refused within one answer; more are not heard.
const REFUSALS: usize = 16;

/// A connection to an address.
pub(super) struct Http {
    server: String,
    client: Client,
    url: Url,
    headers: HeaderMap,
    next: AtomicU64,
    /// Headers that the server's own answers set: its session, the version agreed on.
    agreed: Mutex<HeaderMap>,
}

impl Http {
    /// Reaches nothing yet.
    pub(super) fn new(spec: &ServerSpec) -> Result<Self, McpError> {
        let start = |reason: String| McpError::Start {
            server: spec.name.clone(),
            reason,
        };
        let Transport::Http { url, headers } = &spec.transport else {
            return Err(start("it has no address".into()));
        };
        let url = Url::parse(url).map_err(|error| start(format!("its address: {error}")))?;
        Ok(Self {
            server: spec.name.clone(),
            client: http_client(&url).map_err(|error| start(error.to_string()))?,
            headers: header_map(headers).map_err(start)?,
            url,
            next: AtomicU64::new(1),
            agreed: Mutex::default(),
        })
    }

    /// One request, and its answer.
    pub(super) async fn request(&self, method: &str, params: Value, limit: Duration) -> Result<Value, McpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let asked = self.exchange(id, wire::request(id, method, params));
        match timeout(limit, asked).await {
            Ok(answer) => answer,
            Err(_) => {
                self.notify("notifications/cancelled", json!({"requestId": id})).await;
                Err(McpError::Timeout {
                    server: self.server.clone(),
                    what: method.to_owned(),
                    limit,
                    hint: String::new(),
                })
            }
        }
    }

    /// A message that wants no answer.
    pub(super) async fn notify(&self, method: &str, params: Value) {
        let _ = timeout(ASIDE, self.post(&wire::notification(method, params))).await;
    }

    /// The version that both sides speak, from now on told with every message.
    pub(super) fn agree(&self, version: &str) {
        if let Ok(value) = HeaderValue::from_str(version) {
            self.agreed().insert(HeaderName::from_static(PROTOCOL), value);
        }
    }

    /// Says farewell, where the server knows a session.
    pub(super) async fn close(&self, manner: Manner) {
        let agreed = self.agreed().clone();
        if agreed.contains_key(SESSION) {
            let delete = self.client.delete(self.url.clone());
            let delete = delete.headers(self.headers.clone()).headers(agreed);
            let patience = match manner {
                Manner::Polite => ASIDE,
                Manner::AtOnce => IN_PASSING,
            };
            let _ = timeout(patience, delete.send()).await;
        }
    }

    fn agreed(&self) -> std::sync::MutexGuard<'_, HeaderMap> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn post(&self, message: &Value) -> Result<Response, McpError> {
        let agreed = self.agreed().clone();
        let post = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .headers(agreed)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(message.to_string());
        let response = post.send().await.map_err(|error| self.gone(lost(error)))?;
        if let Some(session) = response.headers().get(SESSION) {
            self.agreed().insert(HeaderName::from_static(SESSION), session.clone());
        }
        Ok(response)
    }

    async fn exchange(&self, id: u64, message: Value) -> Result<Value, McpError> {
        let response = self.post(&message).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        let events = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let answer = if events {
            self.in_events(response, id).await?
        } else {
            let body = self.body(response, MESSAGE_LIMIT).await?;
            let messages = wire::messages(&body).ok_or_else(|| self.nonsense("what it sent is no message"))?;
            self.hear(messages, id, &mut 0).await
        };
        match answer {
            None => Err(self.nonsense("its answer has no answer in it")),
            Some(Ok(value)) => Ok(value),
            Some(Err(RpcError { code, message })) => Err(McpError::Refused {
                server: self.server.clone(),
                code,
                message: quoted(&message),
            }),
        }
    }

    async fn in_events(&self, response: Response, id: u64) -> Result<Option<Result<Value, RpcError>>, McpError> {
        let mut decoder = SseDecoder::new(MESSAGE_LIMIT);
        let (mut events, mut refused) = (Vec::new(), 0);
        let mut bytes = response.bytes_stream();
        while let Some(piece) = bytes.next().await {
            let piece = piece.map_err(|error| self.gone(lost(error)))?;
            let decoded = decoder.push(&piece, &mut events);
            for event in events.drain(..) {
                let messages = wire::messages(event.as_bytes()).unwrap_or_default();
                if let Some(answer) = self.hear(messages, id, &mut refused).await {
                    return Ok(Some(answer));
                }
            }
            decoded.map_err(|error| self.nonsense(&error.to_string()))?;
        }
        Err(self.gone("its stream ended before the answer".into()))
    }

    /// The answer among these messages; what the server asks is refused.
    async fn hear(&self, messages: Vec<Incoming>, id: u64, refused: &mut usize) -> Option<Result<Value, RpcError>> {
        for message in messages {
            match message {
                Incoming::Answer(of, answer) if of == id => return Some(answer),
                Incoming::Request(asked, method) if *refused < REFUSALS => {
                    *refused += 1;
                    if let Some(answer) = wire::answer_to(&asked, &method) {
                        let _ = timeout(ASIDE, self.post(&answer)).await;
                    }
                }
                _ => {}
            }
        }
        None
    }

    async fn body(&self, response: Response, limit: usize) -> Result<Vec<u8>, McpError> {
        let mut body = Vec::new();
        let mut bytes = response.bytes_stream();
        while let Some(piece) = bytes.next().await {
            body.extend_from_slice(&piece.map_err(|error| self.gone(lost(error)))?);
            if body.len() > limit {
                return Err(self.gone(format!("it sent more than {} MB", limit >> 20)));
            }
        }
        Ok(body)
    }

    /// Another status than success.
    async fn refused(&self, response: Response) -> McpError {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && self.agreed().contains_key(SESSION) {
            return McpError::Forgotten {
                server: self.server.clone(),
            };
        }
        let mut words = Vec::new();
        let mut bytes = response.bytes_stream();
        while let Some(Ok(piece)) = bytes.next().await {
            words.extend(piece.iter().take(ERROR_BYTES - words.len()));
            if words.len() >= ERROR_BYTES {
                break;
            }
        }
        let words = String::from_utf8_lossy(&words);
        let advice = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                "; it wants a credential: give it as a header, \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}"
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; is the address that of its streamable HTTP?",
            _ if status.is_redirection() => "; redirects to other servers are not followed, because headers hold keys",
            _ => "",
        };
        self.gone(format!("it answered {status} {}{advice}", quoted(&words)))
    }

    fn gone(&self, reason: String) -> McpError {
        McpError::Gone {
            server: self.server.clone(),
            reason,
        }
    }

    fn nonsense(&self, reason: &str) -> McpError {
        McpError::Nonsense {
            server: self.server.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// All of them sensitive: what a header is for, the server knows.
fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, String> {
    let one = |(name, value): &(String, String)| {
        let bad = || format!("the header {name:?} has characters that HTTP cannot carry");
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    headers.iter().map(one).collect()
}
