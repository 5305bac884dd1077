//! Running the program: the terminal, its events, and tasks, around the pure [`State`](super::driver::State).

mod answers;
mod crew;
mod errands;
mod event_loop;
mod feed;
mod inputs;
mod keyboard;
mod pace;
#[cfg(debug_assertions)]
mod provoke;
mod startup;
mod tasks;
mod work;

use self::crew::Crew;
use super::ctx::ViewOptions;
use super::keymap::KeymapError;
use super::live::DriveOptions;
use super::term::{self, Terminal, TerminalError};
use super::theme::ThemeError;
use crate::source::config::{Effective, Node};
use crate::source::{OpenOptions, Opened, advice};
pub use startup::{check_keys, check_theme};
use std::path::PathBuf;
use std::sync::Arc;

/// How the terminal program is started.
#[derive(Clone, Debug, Default)]
pub struct TuiOptions {
    /// How things are shown. Movement and ASCII also depend on the environment.
    pub view: ViewOptions,
    /// The name of a theme, a theme file, or `None` to follow the terminal's ground.
    pub theme: Option<String>,
    /// A preset of keys, a keymap file, or `None` for the user's own file, if there is one.
    pub keymap: Option<String>,
    /// Tables of keys with the files that they stand in, the weakest first.
    pub keys: Vec<(PathBuf, Node)>,
    /// How other sessions are opened.
    pub open: OpenOptions,
    /// What questions are asked with.
    pub drive: Arc<DriveOptions>,
    /// What is told first: of a configuration that could not be used as it is.
    pub note: Option<String>,
}

impl TuiOptions {
    /// With the keymap that a configuration chooses, where nothing chose one yet, and its keys.
    #[must_use]
    pub fn keys_of(mut self, set: &Effective) -> Self {
        self.keymap = self.keymap.or_else(|| set.chosen("keymap").map(str::to_owned));
        let tables = set.tables.iter().filter(|(_, node)| node.name == "keys");
        self.keys.extend(tables.cloned());
        self
    }
}

/// Why the program could not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal cannot be used.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The theme was refused.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// The keys were refused.
    #[error(transparent)]
    Keymap(#[from] KeymapError),
    /// The system refused something that is needed to run.
    #[error("cannot start: {cause}; {}", advice(cause))]
    System {
        /// Why.
        #[from]
        cause: std::io::Error,
    },
}

/// Runs the terminal program on what was opened, until it is quit; returns the exit code.
///
/// # Errors
/// It cannot start: the terminal is untouched then.
pub fn run(opened: Opened, options: &TuiOptions) -> Result<u8, TuiError> {
    term::check()?;
    let world = startup::world(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let modes = term::Modes {
        mouse: options.view.mouse,
    };
    let hook = std::panic::take_hook();
    term::install_panic_hook();
    let result = Terminal::enter(modes).map_err(TuiError::from).and_then(|terminal| {
        let app = event_loop::App::new(world, terminal, Crew::start()?, options);
        Ok(runtime.block_on(app.run(opened))?)
    });
    runtime.shutdown_background();
    std::panic::set_hook(hook);
    result
}
