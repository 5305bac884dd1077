//! What a screen wants done: screens themselves do no input or output.

use super::body::Text;
use super::export::Job;
use super::input::Input;
use super::live::{Errand, ForkRequest};
use super::notice::Notice;
use super::pattern::Pattern;
use super::screens::{Route, Sides, Sort, TextPart};
use crate::model::{BodyRef, LogId};
use crate::text::{SafeText, Shared};
use std::any::Any;
use std::path::PathBuf;
use std::time::Duration;

pub use crate::source::Stop;

/// Pairs an effect with its answer, within one layer. A layer counts them itself; answers for layers that are gone
/// are dropped before they arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

impl Token {
    /// The next one: what was asked before is late from now on.
    #[allow(clippy::should_implement_trait)] // It never ends, and is no iterator.
    pub fn next(&mut self) -> Token {
        self.0 += 1;
        *self
    }
}

/// The languages that are highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// JSON.
    Json,
}

/// Something to be done outside of the screen.
#[derive(Debug)]
pub enum Effect {
    /// Read a step's body; `twin` adds what the first line lacks. Answered with [`Reply::Body`](super::input::Reply).
    LoadBody {
        /// For the answer.
        token: Token,
        /// Where it lies.
        at: BodyRef,
        /// The step's second line, if it has one.
        twin: Option<BodyRef>,
    },
    /// Read the whole text of a transcript's query, where the session's state has only its beginning. Answered with
    /// [`Reply::Query`](super::input::Reply).
    LoadQuery {
        /// For the answer.
        token: Token,
        /// The transcript.
        log: LogId,
    },
    /// Colour source code, within a budget of time and length.
    Highlight {
        /// For the answer.
        token: Token,
        /// What it is.
        language: Language,
        /// The text as the pane shows it.
        text: SafeText,
    },
    /// Search the whole session for a pattern, in batches of [`Reply::Hits`](super::input::Reply).
    Search {
        /// For the answers.
        token: Token,
        /// What was typed.
        pattern: String,
    },
    /// Export a run or the session, in the working directory; answered with
    /// [`Reply::Export`](super::input::Reply): progress now and then, and the end.
    Export {
        /// For the answers.
        token: Token,
        /// What, and how.
        job: Job,
    },
    /// Read two runs, or two sessions, and compare them; answered with
    /// [`Reply::Compared`](super::input::Reply).
    Compare {
        /// For the answer.
        token: Token,
        /// What is compared.
        sides: Sides,
    },
    /// Read the names of a run's REPL after each of its steps; answered with [`Reply::Names`](super::input::Reply).
    LoadNames {
        /// For the answer.
        token: Token,
        /// Its root's id.
        run_id: String,
    },
    /// Run a run again from its record, without a model; answered with [`Reply::Replay`](super::input::Reply), step by
    /// step.
    Replay {
        /// For the answers.
        token: Token,
        /// Its root's id.
        run_id: String,
    },
    /// Read what a fork before a step begins with; answered with [`Reply::ForkPoint`](super::input::Reply).
    LoadForkPoint {
        /// For the answer.
        token: Token,
        /// The root of its run.
        run_id: String,
        /// The step, as screens number it.
        step: u64,
    },
    /// Say whether this is Python; answered with [`Reply::Checked`](super::input::Reply), or with what is wrong.
    CheckCode {
        /// For the answer.
        token: Token,
        /// The code.
        code: String,
    },
    /// Let a person write a text in an editor of their own; answered with [`Reply::Edited`](super::input::Reply).
    Edit {
        /// For the answer.
        token: Token,
        /// What stands there at first.
        text: String,
        /// File name extension: `py`, `md`.
        extension: &'static str,
    },
    /// Something about a fork.
    Fork(ForkAct),
    /// Stop what runs for a token; its answers no longer come.
    Cancel(Token),
    /// Anything else that takes long: run off the screen's thread.
    Work {
        /// For the answer.
        token: Token,
        /// What to do.
        work: Work,
    },
    /// Copy a text, raw.
    Copy(Shared),
    /// Open a text in $EDITOR or $PAGER.
    OpenExternally(Focused),
    /// Call for the frame of a moment: [`Input::Frame`] comes then.
    FrameAt(Duration),
    /// Put a layer on top.
    Push(Route),
    /// Put a layer in the place of this one.
    Replace(Route),
    /// Take this layer away; the last one stays.
    Pop,
    /// Open another session.
    OpenTarget(PathBuf),
    /// Say something in the footer.
    Notice(Notice),
    /// Do an action, as if its key had been pressed after this layer went away: what the palette returns.
    Act(super::action::Action),
    /// The list of sessions is sorted by this from now on.
    SortedBy(Sort),
    /// Search on the layer on top for what was found elsewhere, in the text it was found in.
    SearchOn(Pattern, Option<TextPart>),
    /// Something for a session that is driven.
    Errand(Errand),
    /// Back to the shell, until `fg`.
    Suspend,
    /// Leave the program.
    Quit,
}

/// What a screen wants of forks, of which there is one at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkAct {
    /// Fork the session that is shown.
    Begin(ForkRequest),
    /// Stop the fork that goes on.
    Cancel,
    /// A person has seen how it ended.
    Seen,
}

/// A computation that looks at [`Stop`] now and then; its result is known to the one who asked.
pub type Task = Box<dyn FnOnce(&Stop) -> Box<dyn Any + Send> + Send>;

/// A piece of work with a name for logs and tests.
pub struct Work {
    /// What it is.
    pub name: &'static str,
    /// Does it; checks [`Stop`] now and then.
    pub run: Task,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Work({})", self.name)
    }
}

/// The text of the focused pane, for copying and for an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focused {
    /// What it shows, below one another. They are put together when they are wanted as one.
    pub texts: Vec<Text>,
    /// Its raw form is on screen (`v`): only then does an editor get it.
    pub raw_shown: bool,
    /// What it is, for notices: `code of step 3`.
    pub title: SafeText,
    /// File name extension for an editor: `py`, `json`, `md`, `txt`.
    pub extension: &'static str,
}

impl Focused {
    /// There is no text in it.
    pub fn is_empty(&self) -> bool {
        self.texts.iter().all(Text::is_empty)
    }

    /// As recorded.
    pub fn raw(&self) -> Shared {
        self.joined(|text| &text.raw)
    }

    /// Sanitised.
    pub fn shown(&self) -> Shared {
        self.joined(|text| text.safe.shared())
    }

    fn joined(&self, form: impl Fn(&Text) -> &Shared) -> Shared {
        match self.texts.as_slice() {
            [text] => form(text).clone(),
            texts => texts
                .iter()
                .map(|text| form(text).as_str())
                .collect::<Vec<_>>()
                .join("\n")
                .into(),
        }
    }
}

/// What came of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The layer took it: layers below do not get it.
    pub consumed: bool,
    /// What it wants done.
    pub effects: Vec<Effect>,
}

impl Outcome {
    /// It means nothing here.
    pub fn ignored() -> Self {
        Self::default()
    }

    /// It was taken.
    pub fn consumed() -> Self {
        Self {
            consumed: true,
            effects: Vec::new(),
        }
    }

    /// It was taken, and something is to be done.
    pub fn with(effect: Effect) -> Self {
        Self::consumed().and(effect)
    }

    /// Taken if `taken`.
    pub fn taken(taken: bool) -> Self {
        Self {
            consumed: taken,
            effects: Vec::new(),
        }
    }

    /// Adds an effect.
    #[must_use]
    pub fn and(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

impl Input<'_> {
    /// The action, if it is one.
    pub fn action(&self) -> Option<super::action::Action> {
        match self {
            Input::Action(action) => Some(*action),
            _ => None,
        }
    }
}
