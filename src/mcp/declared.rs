//! Servers as files declare them, in the form that MCP clients share: `{"mcpServers": {NAME: {command, args, env} or
//! {url, headers}}}`, with `${VARIABLE}` from the environment. Nothing is started here.

use super::credentials::is_credential;
use super::spec::{CALL, START, ServerSpec, Transport};
use crate::disk::advice::on_named;
use crate::disk::whole::{LARGEST_NAMED, read_named};
use crate::text::parse_fault;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest name.
const NAME_CHARS: usize = 64;

/// A configuration that names no servers that could be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Its file cannot be read.
    #[error("cannot read the MCP servers in {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// It has another form.
    #[error("MCP servers: {0}")]
    Form(String),
    /// One server cannot be used as it is declared.
    #[error("the MCP server {server:?}: {reason}")]
    Server {
        /// Its name.
        server: String,
        /// What is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
struct Declared {
    #[serde(alias = "transport")]
    r#type: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    disabled: bool,
    start_timeout_s: Option<f64>,
    call_timeout_s: Option<f64>,
}

/// The servers that a file declares, with variables from this process's environment.
///
/// # Errors
///
/// As [`read`], and [`SpecError::File`].
pub fn load(path: &Path) -> Result<Vec<ServerSpec>, SpecError> {
    let unread = |reason: String| SpecError::File {
        path: path.to_owned(),
        reason,
    };
    let failed = |error| unread(format!("{error}; {}", on_named(&error)));
    let text = read_named(path, LARGEST_NAMED).map_err(failed)?;
    let config = serde_json::from_str(&text)
        .map_err(|error: serde_json::Error| parse_fault(&error.to_string()))
        .map_err(|fault| unread(format!("it is no JSON: {fault}; check it there, or name another file")))?;
    read(&config, |name| std::env::var(name).ok())
}

/// The servers that a configuration declares, in its order; `lookup` gives the environment.
///
/// # Errors
///
/// [`SpecError`]: another form, a variable that is not set, a transport that is not spoken.
pub fn read(config: &Value, lookup: impl Fn(&str) -> Option<String>) -> Result<Vec<ServerSpec>, SpecError> {
    let servers = config.get("mcpServers").and_then(Value::as_object);
    let servers =
        servers.ok_or_else(|| SpecError::Form("an object with \"mcpServers\": {NAME: {…}} is wanted".into()))?;
    let mut specs = Vec::new();
    for (name, declared) in servers {
        let bad = |reason: String| SpecError::Server {
            server: name.clone(),
            reason,
        };
        if name.trim().is_empty() || name.chars().count() > NAME_CHARS || name.chars().any(char::is_control) {
            return Err(bad(format!("a name has 1 to {NAME_CHARS} characters")));
        }
        let declared: Declared = Declared::deserialize(declared).map_err(|error| bad(error.to_string()))?;
        if !declared.disabled {
            specs.push(declared.spec(name, &lookup).map_err(bad)?);
        }
    }
    Ok(specs)
}

impl Declared {
    fn spec(self, name: &str, lookup: &impl Fn(&str) -> Option<String>) -> Result<ServerSpec, String> {
        let mut filling = Filling {
            lookup,
            used: BTreeMap::new(),
        };
        let start = limit(self.start_timeout_s, START)?;
        let call = limit(self.call_timeout_s, CALL)?;
        let (command, url) = (self.command, self.url);
        let transport = match (self.r#type.as_deref(), command, url) {
            (Some("sse"), ..) => {
                return Err("the transport \"sse\" of 2024 is not spoken: use the server's streamable HTTP address, with \"type\": \"http\"".into());
            }
            (None | Some("stdio"), Some(command), None) => Transport::Stdio {
                command: filling.text(&command)?,
                args: self
                    .args
                    .iter()
                    .map(|arg| filling.text(arg))
                    .collect::<Result<_, _>>()?,
                cwd: self.cwd,
                env: Filling::pairs(lookup, &self.env)?,
            },
            (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => Transport::Http {
                url: checked(&filling.text(&url)?)?,
                headers: Filling::pairs(lookup, &self.headers)?,
            },
            (Some(kind), ..) if !matches!(kind, "stdio" | "http" | "streamable-http" | "streamableHttp") => {
                return Err(format!("the type {kind:?} is not known: \"stdio\" or \"http\""));
            }
            _ => return Err("either \"command\" or \"url\" is wanted".into()),
        };
        let used = filling.used.into_iter();
        let hidden = used.filter(|(name, _)| is_credential(name)).collect();
        let spec = ServerSpec::new(name.to_owned(), transport).within(start, call);
        Ok(ServerSpec { hidden, ..spec })
    }
}

fn limit(seconds: Option<f64>, usual: Duration) -> Result<Duration, String> {
    let Some(seconds) = seconds else { return Ok(usual) };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is no number of seconds"))
}

fn checked(url: &str) -> Result<String, String> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(url.to_owned()),
        // Not the address itself: it may hold a credential.
        _ => Err("its url is no address that begins with http:// or https://".into()),
    }
}

/// Puts variables into texts, and remembers which.
struct Filling<'a, F> {
    lookup: &'a F,
    used: BTreeMap<String, String>,
}

impl<F: Fn(&str) -> Option<String>> Filling<'_, F> {
    fn pairs(lookup: &F, fields: &Map<String, Value>) -> Result<Vec<(String, String)>, String> {
        let mut filling = Filling {
            lookup,
            used: BTreeMap::new(),
        };
        let pair = |(name, value): (&String, &Value)| {
            let text = match value {
                Value::String(text) => filling.text(text)?,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(format!("{name} is no text")),
            };
            Ok((name.clone(), text))
        };
        fields.iter().map(pair).collect()
    }

    /// `${NAME}`, `${env:NAME}` and `${NAME:-default}`.
    fn text(&mut self, text: &str) -> Result<String, String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let (inner, after) = after.split_once('}').ok_or("a \"${\" has no \"}\"")?;
            let (name, default) = match inner.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inner, None),
            };
            let name = name.strip_prefix("env:").unwrap_or(name);
            let found = (self.lookup)(name).filter(|value| !value.is_empty());
            let value = found.clone().or(default.map(str::to_owned));
            let value = value.ok_or_else(|| format!("the variable {name} is not set"))?;
            if let Some(found) = found {
                self.used.insert(name.to_owned(), found);
            }
            filled.push_str(before);
            filled.push_str(&value);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::secret::Secrets;
    use serde_json::json;

    fn env(name: &str) -> Option<String> {
        match name {
            "API_TOKEN" => Some("tok-0123456789".into()),
            "PIN_KEY" => Some("1234".into()),
            "HOME" => Some("/home/ada".into()),
            _ => None,
        }
    }

    fn specs(servers: Value) -> Result<Vec<ServerSpec>, SpecError> {
        read(&json!({"mcpServers": servers}), env)
    }

    fn told(server: Value) -> String {
        specs(json!({"it": server})).unwrap_err().to_string()
    }

    #[test]
    fn both_kinds_with_variables_put_in() {
        let specs = specs(json!({
            "files": {"command": "npx", "args": ["-y", "${HOME}/x", "--key=${API_TOKEN}"], "env": {"LEVEL": 3}},
            "web": {"type": "http", "url": "https://a.test/mcp", "headers": {"Authorization": "Bearer ${API_TOKEN}"}},
            "off": {"command": "x", "disabled": true},
            "plain": {"command": "${TOOL:-tool}", "call_timeout_s": 1.5},
        }))
        .unwrap();
        assert_eq!(specs.len(), 3);
        let Transport::Stdio { args, env, .. } = &specs[0].transport else {
            panic!()
        };
        assert_eq!(args[1..], ["/home/ada/x", "--key=tok-0123456789"]);
        assert_eq!(env, &[("LEVEL".to_owned(), "3".to_owned())]);
        assert!(matches!(&specs[2].transport, Transport::Stdio { command, .. } if command == "tool"));
        assert_eq!(specs[2].call_timeout, Duration::from_millis(1_500));
    }

    #[test]
    fn what_cannot_be_used_is_named_without_its_values() {
        assert!(told(json!({"command": "x", "args": ["${NOWHERE}"]})).contains("NOWHERE is not set"));
        assert!(told(json!({"type": "sse", "url": "https://a.test/sse"})).contains("streamable HTTP"));
        assert!(told(json!({"type": "carrier", "url": "https://a.test"})).contains("carrier"));
        assert!(told(json!({})).contains("either"));
        assert!(!told(json!({"url": "ftp://user:hunter22@a.test"})).contains("hunter22"));
        assert!(read(&json!({"servers": {}}), env).is_err());
    }

    #[test]
    fn credentials_are_registered_and_settings_are_not() {
        let specs = specs(json!({
            "a": {"command": "x", "args": ["--key=${API_TOKEN}", "${HOME}"],
                  "env": {"NODE_ENV": "production", "DB_URL": "postgres://u:p@h/db", "LEVEL": "2", "ROOT": "/srv/data"}},
            "b": {"url": "https://a.test/mcp?api_key=zzzz-9999-zzzz", "headers": {"X-Auth": "Bearer abcdefghijkl"}},
        }))
        .unwrap();
        let secrets = Secrets::default();
        specs
            .iter()
            .try_for_each(|spec| spec.register_secrets(&secrets))
            .unwrap();
        for hidden in [
            "tok-0123456789",
            "postgres://u:p@h/db",
            "zzzz-9999-zzzz",
            "abcdefghijkl",
        ] {
            assert!(secrets.redact(hidden).contains("[secret"), "{hidden}");
        }
        for shown in ["production", "/home/ada", "/srv/data"] {
            assert_eq!(secrets.redact(shown), shown);
        }
        let short = self::specs(json!({"c": {"command": "x", "args": ["--pin=${PIN_KEY}"]}})).unwrap();
        let refused = short[0].register_secrets(&secrets).unwrap_err().to_string();
        assert!(refused.contains("PIN_KEY"), "{refused}");
        let debug = format!("{specs:?}");
        assert!(
            !debug.contains("tok-") && !debug.contains("zzzz") && debug.contains("a: x"),
            "{debug}"
        );
    }
}
