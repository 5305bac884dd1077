//! What can go wrong in a call, in words that say what to do.

use super::reply::{Timings, Usage};
use std::time::Duration;

/// A redirect that is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// To another server.
    Elsewhere,
    /// To another place on the same server, in a way that would not repeat the request.
    Within,
    /// On the same server, once more after some that were followed.
    Endless,
}

/// The reason a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// Someone cancelled it.
    #[error("the model call was cancelled")]
    Cancelled,
    /// All the time for the call was used up.
    #[error("no complete reply within {}; a slow model needs a larger api_timeout_ms", seconds(*.limit))]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The stream was open but nothing came.
    #[error("the model server went silent for {}", seconds(*.limit))]
    Silent {
        /// The longest silence allowed.
        limit: Duration,
    },
    /// The server refused the key (401, 403), or there was none.
    #[error("{server} refused the key ({status}{}): {hint}", said(.message))]
    Auth {
        /// The HTTP status.
        status: u16,
        /// The server's host.
        server: String,
        /// What the server said.
        message: String,
        /// Which variable to set.
        hint: String,
    },
    /// The server answered with an error status.
    #[error("{server} answered {status}{}{}", said(.message), hinted(.hint))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The server's host.
        server: String,
        /// What the server said.
        message: String,
        /// How long the server asked to wait before trying again.
        retry_after: Option<Duration>,
        /// What may be wrong on this side, when the status tells.
        hint: String,
    },
    /// The server answered 200, but with an error object, at once or in the middle of the stream.
    #[error("{server} reported an error{}{}", coded(.code), said(.message))]
    Reported {
        /// The server's host.
        server: String,
        /// The error's own code, a number or a word.
        code: String,
        /// What the server said.
        message: String,
    },
    /// The connection could not be made, or broke before the reply.
    #[error("cannot reach {server}: {reason}; check the network and the base URL")]
    Transport {
        /// The server's host.
        server: String,
        /// What the network said.
        reason: String,
    },
    /// The server did not prove that it is the right one: nothing was sent to it.
    #[error("{server} is not trusted: {reason}")]
    Untrusted {
        /// The server's host.
        server: String,
        /// What is wrong with its certificate, and what to do.
        reason: String,
    },
    /// The reply began but is not whole or not well-formed.
    #[error("the reply of {server} broke off: {reason}; try again, or raise api_max_retries")]
    Broken {
        /// The server's host.
        server: String,
        /// What was wrong.
        reason: String,
    },
    /// A reply without any choice in it.
    #[error("{server} sent a reply with no choices in it; try again, or take another model")]
    Empty {
        /// The server's host.
        server: String,
    },
    /// What answered is not a model API.
    #[error("{server} answered with {content_type}, not with a model's reply: is {setting} right?")]
    NotAnApi {
        /// The server's host.
        server: String,
        /// What the server called its answer.
        content_type: String,
        /// The variable that names the server.
        setting: &'static str,
    },
    /// The server sends the caller elsewhere. Not followed: the key is meant for this server only.
    #[error("{server} redirects {}", redirected(target, *how, setting))]
    Redirected {
        /// The server's host.
        server: String,
        /// Where to; empty where it does not say.
        target: String,
        /// What kind of a redirect it is.
        how: Redirect,
        /// The variable that names the server.
        setting: &'static str,
    },
    /// The reply is longer than allowed.
    #[error("the reply of {server} is longer than {limit} bytes")]
    TooLarge {
        /// The server's host.
        server: String,
        /// The limit.
        limit: usize,
    },
    /// A coding agent failed.
    #[error("the agent {agent} failed: {reason}")]
    Agent {
        /// Its name.
        agent: String,
        /// What it said.
        reason: String,
    },
    /// The script has no reply for this request.
    #[error("{0}")]
    Script(String),
    /// The recorded session has no reply to this request.
    #[error("{0}")]
    Cassette(String),
}

impl ErrorKind {
    /// Whether the same request may succeed a little later.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Status { status, .. } => is_retriable_status(*status),
            // A word instead of a number ("overloaded") says nothing certain; trying again does no harm.
            Self::Reported { code, .. } => code.parse().map_or(true, is_retriable_status),
            Self::Silent { .. } | Self::Transport { .. } | Self::Broken { .. } | Self::Empty { .. } => true,
            _ => false,
        }
    }

    /// Whether the model had been asked, and was answering or about to, when the call ended.
    fn leaves_a_model_at_work(&self) -> bool {
        matches!(
            self,
            Self::Cancelled | Self::TimedOut { .. } | Self::Silent { .. } | Self::Broken { .. } | Self::TooLarge { .. }
        )
    }

    /// The same, where the server asks for a longer wait than the `left` time of the call.
    pub(super) fn asked_too_long(mut self, left: Duration) -> Self {
        if let Self::Status {
            retry_after: Some(asked),
            hint,
            ..
        } = &mut self
            && *asked >= left
        {
            let asked = crate::text::seconds(asked.as_secs().max(1));
            *hint = format!(
                "it asks to wait {asked}, longer than the call may take: ask again then, or raise api_timeout_ms"
            );
        }
        self
    }

    /// How long the server asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Too busy, in conflict, timed out, or broken on the server's side.
fn is_retriable_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// What a failed call had produced.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Partial {
    /// The text so far.
    pub text: String,
    /// The reasoning so far.
    pub reasoning: String,
    /// The usage, if it had been reported; a call that was cut short has usually been billed without saying so.
    pub usage: Option<Usage>,
    /// What the attempts before the last reported, together.
    pub earlier: Option<Usage>,
}

/// A call that failed, after `attempts` attempts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", after(*.attempts))]
pub struct CallError {
    /// What the last attempt ran into.
    pub kind: Box<ErrorKind>,
    /// How many attempts were made; 0 when it was cancelled before the first.
    pub attempts: u32,
    /// What had arrived.
    pub partial: Box<Partial>,
    /// How long it took.
    pub timings: Timings,
}

impl CallError {
    /// What it is billed for, as far as anybody knows; `None` where no model can have begun to answer. A call that was cut
    /// while it was answered, or stopped while it was waited for, has usually been billed without saying what.
    #[must_use]
    pub fn used(&self) -> Option<Usage> {
        let begun = !self.partial.text.is_empty() || !self.partial.reasoning.is_empty();
        let stopped = self.kind.leaves_a_model_at_work() && self.attempts > 0;
        let last = self.partial.usage.or((begun || stopped).then(Usage::default));
        Usage::both(self.partial.earlier, last)
    }

    /// Whether it failed because someone cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(*self.kind, ErrorKind::Cancelled)
    }
}

fn after(attempts: u32) -> String {
    if attempts > 1 {
        format!(" (after {attempts} attempts)")
    } else {
        String::new()
    }
}

fn said(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}

fn hinted(hint: &str) -> String {
    if hint.is_empty() {
        String::new()
    } else {
        format!(" ({hint})")
    }
}

fn coded(code: &str) -> String {
    if code.is_empty() {
        String::new()
    } else {
        format!(" {code}")
    }
}

/// Where a redirect leads, and what to do.
fn redirected(target: &str, how: Redirect, setting: &str) -> String {
    match how {
        _ if target.is_empty() => format!("and does not say where to: check the address in {setting}"),
        Redirect::Elsewhere => {
            format!("to {target}, which is not followed: set {setting} if that is the right server")
        }
        Redirect::Within => format!("to {target}, which is not followed: check the address in {setting}"),
        Redirect::Endless => format!("again and again, at last to {target}: check the address in {setting}"),
    }
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}
