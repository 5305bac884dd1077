//! What can be done now: it depends on the build, on what was opened, and on the place it was opened from.

use super::Action;

/// What works now. Grows with what is built in; a screen never looks at features or files itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Questions can be asked.
    pub ask: bool,
    /// Runs can be forked.
    pub lab: bool,
    /// Interrupted runs can be resumed.
    pub resume: bool,
    /// The run that was interrupted is another program's: there is no record to resume it from.
    pub foreign: bool,
    /// A session is open (not just the list of sessions).
    pub session: bool,
    /// There is a list of sessions to go back to or to look for.
    pub sessions: bool,
    /// A shell with job control waits behind this program.
    pub suspend: bool,
}

impl Abilities {
    /// Why `action` cannot be done; `None` when it can.
    pub(super) fn lacks(&self, action: Action) -> Option<&'static str> {
        use Action as A;
        let (works, why) = match action {
            A::Ask | A::Send => (self.ask, "open a session first: questions are asked in one"),
            A::Fork if !self.session => (false, "open a session first"),
            A::Fork => (
                self.lab,
                "this build only reads: install fast-rlm with its feature `engine` to fork",
            ),
            A::Resume if !self.session => (false, "open a session first"),
            A::Resume if self.foreign => (
                false,
                "no record to resume from: another program asked this; ask it again",
            ),
            A::Resume => (
                self.resume,
                "this build only reads: install fast-rlm with its feature `engine` to resume a run",
            ),
            A::Budget => (self.ask, "open a session first"),
            A::NewLine | A::Undo | A::Redo | A::HistorySearch | A::Editor | A::Complete | A::Settings | A::LeaveBox => {
                (self.ask, "there is no box to type in")
            }
            A::Memory | A::Diff | A::Replay | A::Timeline | A::Problems | A::SearchSession | A::Export => {
                (self.session, "open a session first")
            }
            A::NewSession | A::Rename => (
                self.session || self.sessions,
                "open a session or a directory of some first",
            ),
            A::Sessions => (
                self.sessions,
                "one session was opened: fast-rlm-log on its directory lists those beside it",
            ),
            A::Suspend => (
                self.suspend,
                "no shell with job control is waiting: suspending would freeze this terminal",
            ),
            _ => (true, ""),
        };
        (!works).then_some(why)
    }
}
