//! How an agent, and with it a query, can end without FINAL.

use super::limits::Exceeded;
use super::memory::MemoryError;
use super::person::Question;
use super::schema::BadSchema;
use crate::disk::transcript_writer::TranscriptError;
use crate::provider::CallError;
use crate::repl::ReplError;
use crate::store::StoreError;

/// Why there is no FINAL.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A limit stopped it.
    #[error("stopped by {0}; every completed step is kept: ask again with more, as {how}", how = .0.doubled())]
    Limit(#[from] Exceeded),
    /// A model call failed for good.
    #[error(transparent)]
    Call(Box<CallError>),
    /// Python could not be started, or did not come back.
    #[error(transparent)]
    Repl(#[from] ReplError),
    /// A transcript could not be written.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The session's state could not be written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The session's log could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Tools that it was given could not be loaded: it would go on without what it was meant to use.
    #[error("the tools in {file} could not be loaded: {reason}")]
    Tools {
        /// The file.
        file: String,
        /// What Python said.
        reason: String,
    },
    /// An output schema is none.
    #[error(transparent)]
    Schema(#[from] BadSchema),
    /// A sub-agent's part could not be kept, which ended the query.
    #[error("{0}")]
    Unkept(String),
    /// It asked, and nobody was there: it waits for the answer.
    #[error("waits for an answer: {0}")]
    Parked(Question),
    /// What it was to do again could not go on.
    #[error("halted: {0}")]
    Halted(String),
    /// A person stopped it.
    #[error("cancelled; every completed step is kept")]
    Cancelled,
    /// A sub-agent that nobody waits for any more.
    #[error("given up: the code that started it waits for it no longer")]
    GivenUp,
}

impl From<CallError> for RunError {
    fn from(error: CallError) -> Self {
        if error.is_cancelled() {
            Self::Cancelled
        } else {
            Self::Call(Box::new(error))
        }
    }
}

impl RunError {
    /// The word for records: `limit`, `cancelled`, `parked`, else `error`.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Limit(_) => "limit",
            Self::Cancelled | Self::GivenUp => "cancelled",
            Self::Parked(_) => "parked",
            _ => "error",
        }
    }

    /// Whether something could not be written. Nothing more is then: the session is left as a crash leaves it, and the
    /// next opening brings its files in step.
    pub(super) fn is_unkept(&self) -> bool {
        matches!(
            self,
            Self::Transcript(_) | Self::Memory(_) | Self::Store(_) | Self::Unkept(_)
        )
    }

    /// Whether it ends the whole query, also when a sub-agent met it: limits of the query, a cancel, and what makes
    /// keeping a record impossible.
    pub(super) fn ends_query(&self) -> bool {
        match self {
            Self::Limit(exceeded) => exceeded.ends_query(),
            Self::Cancelled | Self::Halted(_) | Self::Parked(_) => true,
            Self::Transcript(_) | Self::Memory(_) | Self::Store(_) | Self::Unkept(_) => true,
            Self::Call(_) | Self::Repl(_) | Self::Schema(_) | Self::Tools { .. } | Self::GivenUp => false,
        }
    }
}
