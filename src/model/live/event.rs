//! What a live run tells the model.

use super::LiveRun;
use crate::model::{Cost, Time, Usage};

/// Something that happened in a live run of this session.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEvent {
    /// A query was sent, or the answer to its question; nothing else is known yet.
    Began {
        /// Its text, raw.
        query: String,
        /// When.
        time: Time,
        /// It goes on with the pending run instead of beginning another one.
        resumes: bool,
    },
    /// News of one of its agents.
    Agent {
        /// Its id in transcripts.
        run_id: String,
        /// Its parent's; `None` for the root.
        parent: Option<String>,
        /// When.
        time: Time,
        /// What.
        news: LiveNews,
    },
    /// Time has passed.
    Now(Time),
    /// A session that was left while its run went on is shown again.
    Back(Box<LiveRun>),
    /// The run ended: the files have everything.
    Over,
}

/// What happened to an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveNews {
    /// It started, with this to do (one line, cut).
    Started(String),
    /// The model call for the step of this number began.
    Calling(u64),
    /// Text of the reply, as it streams.
    Text(String),
    /// Reasoning, as it streams.
    Reasoning(String),
    /// The call ended.
    Replied {
        /// The code it asked for, if any; it runs now.
        code: Option<String>,
        /// What the call used; `None` when that was not reported.
        usage: Option<Usage>,
        /// What the call cost.
        cost: Cost,
    },
    /// REPL output, as it is printed.
    Output(String),
    /// It waits for a person, or not any more.
    Asks(bool),
    /// The step of this number is on disk.
    Kept(u64),
    /// It ended; everything of it is on disk.
    Ended,
}

impl LiveNews {
    /// It came with something new on disk: the files are worth a look.
    pub fn is_durable(&self) -> bool {
        matches!(self, Self::Started(_) | Self::Kept(_) | Self::Ended)
    }

    /// It only makes a text longer.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Reasoning(_) | Self::Output(_))
    }
}
