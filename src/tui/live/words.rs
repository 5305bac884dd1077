//! What goes into the machine, what comes out of it, and the states between.

use super::order::{Found, Order, Told};
use crate::model::LiveEvent;
use crate::tui::effect::Token;
use crate::tui::notice::Notice;
use crate::tui::widgets::prompt::{Question, Request, Settings};

/// How things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing runs.
    #[default]
    Idle,
    /// A query was sent; nothing came back yet.
    Submitting,
    /// The root's model writes.
    Streaming,
    /// The root's code runs.
    Running,
    /// The root's code waits for sub-agents.
    Helped,
    /// The run waits for a person.
    Asking,
    /// A person stopped it, and it winds up.
    Cancelling,
    /// The last run ended without FINAL, for this reason.
    Failed(String),
    /// The last run was answered.
    Done,
}

/// What goes in.
#[derive(Clone, Debug)]
pub enum In {
    /// A person asks.
    Send(Request, Settings),
    /// A person answers a question.
    Answer {
        /// The question's.
        id: u64,
        /// The answer.
        text: String,
        /// What a parked run goes on with.
        settings: Settings,
    },
    /// A person lets the query go on that a crash cut.
    Resume(Settings),
    /// A person stops the run.
    Cancel,
    /// A person lets the run spend more, or asks again with more where a limit stopped it.
    Raise(Settings),
    /// The engine tells something.
    Told(Token, Told),
    /// The session was opened and looked at.
    Found(Found),
    /// A second has passed.
    Tick,
}

/// What comes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Run this.
    Start(Order),
    /// Stop the run.
    Cancel(Token),
    /// Give an answer to the run.
    Answer {
        /// The run's.
        token: Token,
        /// The question's.
        id: u64,
        /// The answer.
        text: String,
    },
    /// Let the run spend so many nano-dollars in all.
    Allow(Token, i64),
    /// Tell the model.
    Live(LiveEvent),
    /// Something new is on disk: read it.
    Nudge,
    /// Look what the session waits with.
    Look,
    /// Say something.
    Say(Notice),
    /// The box becomes the answer field of this question.
    Ask(Question),
    /// The box is an input box again.
    Withdraw,
    /// The same, where the question went without a person's doing here, and why.
    Overtake(&'static str),
    /// The query did not begin: its text goes back into the box.
    Refuse(String),
    /// From the next query on, this may be spent.
    Limit(i64),
    /// A run ended; `long` calls back who looks elsewhere, with these words.
    Ended {
        /// It was long.
        long: bool,
        /// How it ended.
        words: String,
    },
}
