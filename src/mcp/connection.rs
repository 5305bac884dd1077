//! A connection that has shaken hands, over pipes or HTTP: requests, and lists that come in pages.

use super::error::McpError;
use super::http::Http;
use super::spec::{ServerSpec, Transport};
use super::stdio::Stdio;
use super::wire::{self, VERSIONS};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Entries of a list that are taken, pages that they may come in, and bytes that these may have together.
const ENTRIES: usize = 10_000;
const PAGES: usize = 1_000;
const LIST_BYTES: usize = 16 << 20;

/// How a server is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It is given the time to end by itself.
    Polite,
    /// Somebody waits.
    AtOnce,
}

enum Line {
    Stdio(Stdio),
    Http(Http),
}

/// A server that is there.
pub(super) struct Connection {
    server: String,
    line: Line,
    capabilities: Value,
    call_timeout: Duration,
}

impl Connection {
    /// Starts or reaches a server, and shakes hands.
    pub(super) async fn open(spec: &ServerSpec) -> Result<Self, McpError> {
        let line = match &spec.transport {
            Transport::Stdio { .. } => Line::Stdio(Stdio::start(spec)?),
            Transport::Http { .. } => Line::Http(Http::new(spec)?),
        };
        let mut connection = Self {
            server: spec.name.clone(),
            line,
            capabilities: Value::Null,
            call_timeout: spec.call_timeout,
        };
        let greeted = connection.greet(spec.start_timeout).await;
        match greeted {
            Ok(()) => Ok(connection),
            Err(error) => {
                connection.close(Manner::AtOnce).await;
                Err(McpError::Start {
                    server: spec.name.clone(),
                    reason: reason(error),
                })
            }
        }
    }

    async fn greet(&mut self, limit: Duration) -> Result<(), McpError> {
        let mut hello = self.send("initialize", wire::hello(), limit).await?;
        let version = hello.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !VERSIONS.contains(&version) {
            return Err(McpError::Nonsense {
                server: self.server.clone(),
                reason: format!(
                    "it speaks version {version:?} of the protocol, and this client {}",
                    VERSIONS.join(", ")
                ),
            });
        }
        if let Line::Http(http) = &self.line {
            http.agree(version);
        }
        self.capabilities = hello.get_mut("capabilities").map(Value::take).unwrap_or_default();
        let ready = "notifications/initialized";
        match &self.line {
            Line::Stdio(stdio) => stdio.notify(ready, json!({})).await,
            Line::Http(http) => http.notify(ready, json!({})).await,
        }
        Ok(())
    }

    async fn send(&self, method: &str, params: Value, limit: Duration) -> Result<Value, McpError> {
        match &self.line {
            Line::Stdio(stdio) => stdio.request(method, params, limit).await,
            Line::Http(http) => http.request(method, params, limit).await,
        }
    }

    /// One request.
    pub(super) async fn request(&self, method: &str, params: Value) -> Result<Value, McpError> {
        self.send(method, params, self.call_timeout).await
    }

    /// Whether the server says that it has tools, or resources.
    pub(super) fn offers(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|offer| !offer.is_null())
    }

    /// All entries of a list, within the time of one call.
    pub(super) async fn list(&self, method: &str, key: &str) -> Result<Vec<Value>, McpError> {
        let until = Instant::now() + self.call_timeout;
        let (mut entries, mut cursor, mut bytes) = (Vec::new(), None, 0);
        for _ in 0..PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor: String| json!({"cursor": cursor}));
            let page = timeout_at(until, self.request(method, params)).await;
            let mut page = page.unwrap_or_else(|_| {
                Err(McpError::Timeout {
                    server: self.server.clone(),
                    what: method.to_owned(),
                    limit: self.call_timeout,
                    hint: "; its list has no end".into(),
                })
            })?;
            bytes = size(&page).saturating_add(bytes);
            if bytes > LIST_BYTES {
                return Err(McpError::Nonsense {
                    server: self.server.clone(),
                    reason: format!("its list of {key} is longer than {} MB", LIST_BYTES >> 20),
                });
            }
            let Some(Value::Array(found)) = page.get_mut(key).map(Value::take) else {
                return Err(McpError::Nonsense {
                    server: self.server.clone(),
                    reason: format!("its list has no {key:?}"),
                });
            };
            entries.extend(found);
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || entries.len() >= ENTRIES {
                break;
            }
        }
        entries.truncate(ENTRIES);
        Ok(entries)
    }

    /// Ends it, and the server's program with it.
    pub(super) async fn close(&self, manner: Manner) {
        match &self.line {
            Line::Stdio(stdio) => stdio.close(manner).await,
            Line::Http(http) => http.close(manner).await,
        }
    }
}

/// Bytes of a value as JSON.
fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// Why it did not start, without saying twice which server it is.
fn reason(error: McpError) -> String {
    match error {
        McpError::Gone { reason, .. } | McpError::Nonsense { reason, .. } | McpError::Start { reason, .. } => reason,
        McpError::Timeout { limit, hint, .. } => format!("no answer within {} s{hint}", limit.as_secs_f64()),
        McpError::Refused { message, code, .. } => format!("{message} (code {code})"),
        other => other.to_string(),
    }
}
