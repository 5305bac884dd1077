//! Runs of sessions: orders go to the engine, its news come back as messages. Without an engine there are none.

use super::crew::Crew;
use super::inputs::{Incoming, Sender};
use crate::source::Stop;
use crate::tui::driver::Msg;
use crate::tui::live::{DriveOptions, Errand, ReplayNews};
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "engine")]
use {crate::tui::live::engine, std::time::Duration};

/// A person who leaves waits so long at most until runs have noted that they were stopped.
#[cfg(feature = "engine")]
const PATIENCE: Duration = Duration::from_secs(2);

/// The engine behind the screens.
pub(super) struct Work {
    #[cfg(feature = "engine")]
    engine: engine::Engine,
    #[cfg(feature = "engine")]
    crew: Crew,
    sender: Sender,
}

impl Work {
    #[cfg(feature = "engine")]
    pub(super) fn new(options: Arc<DriveOptions>, crew: Crew, sender: Sender) -> Self {
        let told = sender.clone();
        let tell: engine::Tell = Arc::new(move |dir, token, news| {
            let dir = dir.to_owned();
            // Nobody listens any more when the program ends.
            let _ = told.send(Incoming::Msg(Msg::Told { dir, token, told: news }));
        });
        let forked = sender.clone();
        let tell_fork: engine::TellFork = Arc::new(move |token, told| {
            let _ = forked.send(Incoming::Msg(Msg::Forked { token, told }));
        });
        Self {
            engine: engine::Engine::new(options, tell, tell_fork),
            crew,
            sender,
        }
    }

    #[cfg(not(feature = "engine"))]
    pub(super) fn new(_options: Arc<DriveOptions>, _crew: Crew, sender: Sender) -> Self {
        Self { sender }
    }

    /// Does an errand for a session.
    #[cfg(feature = "engine")]
    pub(super) fn run(&mut self, errand: Errand) {
        if let Some(Errand::Look { dir }) = self.engine.run(errand) {
            let sender = self.sender.clone();
            self.crew.take(move || {
                let found = engine::look(&dir);
                let _ = sender.send(Incoming::Msg(Msg::Found { dir, found }));
            });
        }
    }

    /// Without an engine a session is only shown: nothing is ordered, and nothing found.
    #[cfg(not(feature = "engine"))]
    pub(super) fn run(&mut self, errand: Errand) {
        if let Errand::Look { dir } = errand {
            let found = crate::tui::live::Found::default();
            let _ = self.sender.send(Incoming::Msg(Msg::Found { dir, found }));
        }
    }

    /// Stops all runs, and waits a little until they have noted so; questions stay open.
    pub(super) fn wind_up(&self) {
        #[cfg(feature = "engine")]
        self.engine.leave_all(PATIENCE);
    }
}

/// Runs a run of the session in `dir` again from its record.
///
/// # Errors
/// Why it cannot be done, for people.
#[cfg(feature = "engine")]
pub(super) fn replay(
    dir: &Path,
    run_id: &str,
    options: &DriveOptions,
    stop: &Stop,
    emit: &mut (dyn FnMut(ReplayNews) + Send),
) -> Result<(), String> {
    engine::replay(dir, run_id, &options.config, stop, emit)
}

/// Says whether this is Python.
///
/// # Errors
/// What is wrong with it, for people.
#[cfg(feature = "engine")]
pub(super) fn check(code: &str, options: &DriveOptions) -> Result<(), String> {
    engine::check(code, &options.config)
}

/// Why nothing is run in this build.
#[cfg(not(feature = "engine"))]
const NO_ENGINE: &str = "this build only reads: install fast-rlm with its feature `engine` to run anything again";

/// Without an engine nothing is run.
#[cfg(not(feature = "engine"))]
pub(super) fn replay(
    _dir: &Path,
    _run_id: &str,
    _options: &DriveOptions,
    _stop: &Stop,
    _emit: &mut (dyn FnMut(ReplayNews) + Send),
) -> Result<(), String> {
    Err(NO_ENGINE.into())
}

/// Without an engine nothing is checked.
#[cfg(not(feature = "engine"))]
pub(super) fn check(_code: &str, _options: &DriveOptions) -> Result<(), String> {
    Err(NO_ENGINE.into())
}
