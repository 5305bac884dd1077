//! What can go wrong with a server. Its own words are quoted as it wrote them, cut; they are not trusted.

use std::time::Duration;

/// Characters of a server's words that are quoted.
const QUOTED: usize = 2_000;

/// A server that did not do what it was asked. Texts name the server and end as a sentence for a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// There is no server of this name.
    #[error("there is no MCP server {0:?}")]
    Unknown(String),
    /// It has no tool of this name.
    #[error("the MCP server {server} has no tool {tool:?}; it has {known}")]
    NoTool {
        /// Its name.
        server: String,
        /// What was asked for.
        tool: String,
        /// The tools that it has.
        known: String,
    },
    /// It could not be started or reached, or the handshake failed.
    #[error("the MCP server {server} could not be started: {reason}")]
    Start {
        /// Its name.
        server: String,
        /// Why, with the end of what it wrote to standard error.
        reason: String,
    },
    /// It answered with an error.
    #[error("the MCP server {server} refused: {message} (code {code})")]
    Refused {
        /// Its name.
        server: String,
        /// The protocol's code.
        code: i64,
        /// Its words.
        message: String,
    },
    /// A tool of it ran and failed.
    #[error("the tool {tool} of the MCP server {server} failed: {message}")]
    Tool {
        /// The server's name.
        server: String,
        /// The tool's.
        tool: String,
        /// Its words.
        message: String,
    },
    /// It did not answer in time.
    #[error("the MCP server {server} did not answer {what} within {} s{hint}", limit.as_secs_f64())]
    Timeout {
        /// Its name.
        server: String,
        /// The protocol's method.
        what: String,
        /// How long it was waited for.
        limit: Duration,
        /// What it wrote instead, if anything.
        hint: String,
    },
    /// It ended, or what it wrote cannot be read on.
    #[error("the MCP server {server} is gone: {reason}")]
    Gone {
        /// Its name.
        server: String,
        /// Why.
        reason: String,
    },
    /// It does not know this session any more.
    #[error("the MCP server {server} has forgotten the session")]
    Forgotten {
        /// Its name.
        server: String,
    },
    /// What it answered is not what the protocol says.
    #[error("the MCP server {server} answered nonsense: {reason}")]
    Nonsense {
        /// Its name.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl McpError {
    /// Whether the connection is of no use any more.
    pub(super) fn ends_connection(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Forgotten { .. } | Self::Start { .. })
    }

    /// Whether time ran out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }
}

/// The end of a text where it is long, else all of it.
pub(super) fn quoted(text: &str) -> String {
    let text = text.trim();
    let surplus = text.chars().count().saturating_sub(QUOTED);
    match surplus {
        0 => text.to_owned(),
        _ => format!("… {}", text.chars().skip(surplus).collect::<String>()),
    }
}
