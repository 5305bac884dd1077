//! What the machine orders from the engine, and what the engine tells it. Plain data, in builds without an engine, too.

use super::fork::ForkOrder;
use crate::model::LiveEvent;
use crate::text::secret::Secrets;
use crate::tui::effect::Token;
use crate::tui::widgets::prompt::{Question, Request, Settings};
use std::path::PathBuf;

/// A query to be run, or the answer to the question that a session waits with.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Of this run: what is told with another one is late.
    pub token: Token,
    /// The query, or the answer.
    pub request: Request,
    /// Model and limits.
    pub settings: Settings,
    /// All other limits are multiplied by this: a person let the run go on beyond them.
    pub stretch: u32,
    /// It goes on with the query that a crash cut; the request is none then.
    pub resume: bool,
    /// The question that the request answers; the request is a query where there is none.
    pub answers: Option<String>,
}

impl Order {
    /// A query with the limits as they are set; its token comes from who orders it.
    pub fn new(request: Request, settings: Settings) -> Self {
        Self {
            token: Token::default(),
            request,
            settings,
            stretch: 1,
            resume: false,
            answers: None,
        }
    }

    /// Its request is the query itself: no answer within one, and no going on with one.
    pub fn is_query(&self) -> bool {
        self.answers.is_none() && !self.resume
    }
}

/// News of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Python is made ready; a line about how far it is.
    Preparing(String),
    /// What happened, in order.
    Live(Vec<LiveEvent>),
    /// The run asks.
    Asked(Question),
    /// Something to tell a person once.
    Notice(String),
    /// It ended: everything is on disk.
    Ended(Ending),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With FINAL.
    Answered,
    /// It waits for an answer; the question is on disk.
    Parked(Question),
    /// A person stopped it.
    Cancelled,
    /// A limit stopped it.
    Limit {
        /// Its name: `max_money_spent`.
        name: String,
        /// In words.
        error: String,
    },
    /// An error stopped it.
    Failed(String),
    /// It did not begin: nothing was changed.
    Refused(String),
}

/// What was found in a session when it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// It waits with this question.
    pub parked: Option<Question>,
    /// Its last query is another program's: it has no FINAL, and no record to go on from.
    pub foreign: bool,
    /// The models that its last query was run with: the root's, the sub-agents'.
    pub models: Option<(String, Option<String>)>,
}

/// Where questions about the session that is shown go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desk {
    /// The session's directory, by the one path that names it.
    pub dir: PathBuf,
    /// The same as it was opened: as lists of sessions have it.
    pub opened: PathBuf,
    /// Nothing can be asked here: why.
    pub closed: Option<String>,
}

/// What queries are asked with, as far as the command line, the environment and the configuration say.
#[derive(Clone, Debug, Default)]
pub struct DriveOptions {
    /// Model and limits. The model is that of the flag, the environment or the configuration.
    pub settings: Settings,
    /// The model was named by a flag: it counts before the session's last one.
    pub model_is_flag: bool,
    /// The file that settings are saved to; `None` for the usual one.
    pub config_file: Option<PathBuf>,
    /// The configuration cannot be used: why. Browsing works.
    pub trouble: Option<String>,
    /// Questions that can be answered offline, in the demo.
    pub suggestions: Vec<String>,
    /// What is shown nowhere, in whatever is typed into the box.
    pub secrets: Secrets,
    /// Everything else of the configuration.
    #[cfg(feature = "engine")]
    pub config: crate::client::Config,
}

/// Something to be done outside, for a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// Run a query, or answer the question that the session waits with.
    Start {
        /// The session's directory.
        dir: PathBuf,
        /// What.
        order: Order,
    },
    /// Stop the run.
    Cancel {
        /// The session's directory.
        dir: PathBuf,
        /// The run's.
        token: Token,
    },
    /// Give the run an answer.
    Answer {
        /// The session's directory.
        dir: PathBuf,
        /// The run's.
        token: Token,
        /// The question's.
        id: u64,
        /// The answer.
        text: String,
    },
    /// Let the run spend so many nano-dollars in all.
    Allow {
        /// The session's directory.
        dir: PathBuf,
        /// The run's.
        token: Token,
        /// In all.
        nano: i64,
    },
    /// Make a session, and show it.
    Create {
        /// The directory that it lies in.
        dir: PathBuf,
        /// Its name.
        name: String,
    },
    /// Ask for another name of a session, if it can have one.
    AskName {
        /// The session's directory.
        dir: PathBuf,
    },
    /// Give a session another name.
    Rename {
        /// The session's directory.
        dir: PathBuf,
        /// Its name from now on.
        name: String,
    },
    /// Fork a run of the session.
    Fork {
        /// The session's directory.
        dir: PathBuf,
        /// Where, and how it goes on.
        order: ForkOrder,
    },
    /// Stop the fork of this token.
    CancelFork(Token),
    /// Look what the session waits with, and what it was last run with.
    Look {
        /// The session's directory.
        dir: PathBuf,
    },
    /// Read what is new on disk of the session that is shown.
    Nudge,
    /// Look up again what branched off the session that is shown.
    Family,
    /// Call back a person who looks elsewhere.
    Alert(String),
    /// Let a person write this text in an editor of their own.
    Edit(String),
}
