//! One query of a session, answered or not.

use std::fmt;

use super::{CodeEntry, LogId, Run, Time};

/// The name of a run on every screen: Q for completed queries, X for runs without FINAL, P for the last one that is
/// running or was interrupted. Numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// The n-th query of the ledger.
    Completed(u32),
    /// The n-th run without FINAL, in time order.
    Lost(u32),
    /// The running or interrupted last one.
    Pending,
}

/// How a query ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With FINAL.
    Done,
    /// A run is alive and writes to it.
    Running,
    /// No FINAL and no sign of life: killed, or its machine was.
    Interrupted,
    /// It waits for a human's answer to this; empty where the question is not known here.
    Parked(String),
    /// It ended in an error, as recorded.
    Error(String),
    /// A limit stopped it, as recorded.
    Limit(String),
    /// A person stopped it.
    Cancelled,
    /// A run without FINAL whose end was not recorded.
    Lost,
}

impl Outcome {
    /// Its word in JSON, of every program.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Parked(_) => "parked",
            Self::Error(_) => "error",
            Self::Limit(_) => "limit",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

/// Whether the query's transcript was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// Where `log_file` says.
    Linked(LogId),
    /// Elsewhere: the ladder found it.
    Moved(LogId),
    /// No query links it: found in `logs/` and attached by time and content.
    Attached(LogId),
    /// Where `log_file` says; another query links it, too, and everything in it is that one's.
    Taken(LogId, Label),
    /// `log_file` names nothing that may be read; what was tried, in order.
    Missing(Vec<String>),
    /// The query names no transcript (older sessions).
    Unlinked,
    /// It is still looked for.
    Unknown,
}

/// The shape of a FINAL value, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinalShape {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// An array.
    List,
    /// An object.
    Object,
    /// JSON that nests too deep or is damaged: shown as it is.
    Raw,
}

/// The value of FINAL.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Final {
    /// There was no FINAL.
    #[default]
    Unset,
    /// `FINAL(None)`: the ledger's key is absent.
    None,
    /// JSON null: an existing writer lost the value here (NaN, inf); a native session means None.
    Null,
    /// Any other value; `text` is the decoded string for [`FinalShape::Text`], else compact JSON.
    Value {
        /// Its shape.
        shape: FinalShape,
        /// The decoded string, or compact JSON.
        text: String,
    },
}

/// One query with its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its name on screens.
    pub label: Label,
    /// The query's text: as the ledger has it (an existing writer cuts at 4,000 characters), or the pending text;
    /// for a run no query links, what is known of it (from its probe). Raw.
    pub text: String,
    /// The text was cut by its writer.
    pub text_cut: bool,
    /// Its FINAL.
    pub result: Final,
    /// How it ended.
    pub outcome: Outcome,
    /// Its transcript.
    pub link: Link,
    /// `log_file` as recorded.
    pub log_file: Option<String>,
    /// `run_id` as recorded in the ledger; for a run no query links, its root's id.
    pub run_id: Option<String>,
    /// Its agents and steps; from `code_log` alone when the transcript is missing.
    pub run: Run,
    /// Its part of `code_log`.
    pub code: Vec<CodeEntry>,
    /// First sign of it.
    pub started: Option<Time>,
}

impl Link {
    /// The transcript, where there is one.
    pub fn log(&self) -> Option<LogId> {
        match self {
            Self::Linked(log) | Self::Moved(log) | Self::Attached(log) | Self::Taken(log, _) => Some(*log),
            Self::Missing(_) | Self::Unlinked | Self::Unknown => None,
        }
    }
}

impl Label {
    /// It names a completed query.
    pub fn is_completed(self) -> bool {
        matches!(self, Self::Completed(_))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed(n) => write!(f, "Q{n}"),
            Self::Lost(n) => write!(f, "X{n}"),
            Self::Pending => f.write_str("P"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_names_on_screens() {
        let names = [Label::Completed(3), Label::Lost(1), Label::Pending].map(|label| label.to_string());
        assert_eq!(names, ["Q3", "X1", "P"]);
    }
}
