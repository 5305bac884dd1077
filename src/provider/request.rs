//! What a model is asked: the conversation, and the limits of one call.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The engine's standing orders.
    System,
    /// What the model is told: the task, then the output of each step.
    User,
    /// What the model said.
    Assistant,
}

/// One message of a conversation. Cloning shares the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its text.
    #[serde(serialize_with = "as_str")]
    pub content: Arc<str>,
}

fn as_str<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

impl Message {
    /// A system message.
    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: Role::System,
            content: content.into(),
        }
    }

    /// A user message.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// An assistant message.
    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }
}

/// The limits of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most tokens the model may produce, told to the server; `None` leaves it to the server.
    pub max_completion_tokens: Option<u64>,
    /// The longest text and reasoning together, in bytes; a longer reply is an error.
    pub max_reply_bytes: usize,
    /// How often a failed attempt is tried again.
    pub max_retries: u32,
    /// The time for everything: attempts, waits between them, and the whole stream.
    pub timeout: Duration,
    /// The longest silence inside a stream.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_completion_tokens: None,
            max_reply_bytes: 8 << 20,
            max_retries: 3,
            timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(120),
        }
    }
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The model string as the user gave it, prefix included.
    pub model: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The asking agent's depth: 0 for the root. Never sent; scripts can match on it.
    pub depth: u32,
    /// The limits of this call.
    pub limits: Limits,
}

impl Request {
    /// A request of the root agent with the default limits.
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            depth: 0,
            limits: Limits::default(),
        }
    }

    /// What identifies the question: the same for two requests that a model cannot tell apart.
    ///
    /// SHA-256 over the compact JSON `{"v":1,"model":…,"max_completion_tokens":…,"messages":[{"role":…,"content":…}…]}`.
    #[must_use]
    pub fn hash(&self) -> RequestHash {
        let canonical = Canonical {
            v: 1,
            model: &self.model,
            max_completion_tokens: self.limits.max_completion_tokens,
            messages: &self.messages,
        };
        let mut hasher = Sha256::new();
        // Strings, numbers and a hasher: there is nothing in it that could fail to be written.
        let _ = serde_json::to_writer(HashWriter(&mut hasher), &canonical);
        RequestHash(hasher.finalize().into())
    }
}

#[derive(Serialize)]
struct Canonical<'a> {
    v: u32,
    model: &'a str,
    max_completion_tokens: Option<u64>,
    messages: &'a [Message],
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The SHA-256 of a request; shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash(pub [u8; 32]);

impl fmt::Display for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::new("m", vec![Message::system("be brief"), Message::user("é\n")])
    }

    #[test]
    fn the_hash_is_that_of_the_documented_json() {
        let json = r#"{"v":1,"model":"m","max_completion_tokens":null,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"é\n"}]}"#;
        let expected: [u8; 32] = Sha256::digest(json).into();
        assert_eq!(request().hash(), RequestHash(expected));
        assert_eq!(request().hash().to_string().len(), 64);
    }

    #[test]
    fn only_what_the_model_sees_changes_the_hash() {
        let mut other = request();
        other.depth = 2;
        other.limits.timeout = Duration::from_secs(1);
        assert_eq!(other.hash(), request().hash());
        other.limits.max_completion_tokens = Some(10);
        assert_ne!(other.hash(), request().hash());
        // A boundary between two messages cannot be moved without notice.
        let joined = Request::new("m", vec![Message::user("ab"), Message::user("c")]);
        let moved = Request::new("m", vec![Message::user("a"), Message::user("bc")]);
        assert_ne!(joined.hash(), moved.hash());
    }
}
