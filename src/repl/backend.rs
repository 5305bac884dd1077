//! Which Python runs the code of a query. It is chosen, never found out: what isolates a model's code is a person's
//! decision.

use super::api::ReplFactory;
use super::error::PrepareError;
use super::factory::PythonFactory;
use super::prepare::Progress;
use super::scarce::need_room_to_start;
use super::worker::WorkerFactory;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A way to run Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// CPython in a sandbox in this process: [`PythonFactory`].
    #[default]
    Sandbox,
    /// The system's `python3` in a process of its own: [`WorkerFactory`].
    Python3,
}

impl Backend {
    /// Its name in options and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Python3 => "python3",
        }
    }

    /// Asks whether the limits of this process leave room for one Python: with much less, anything may end the process,
    /// so it is asked before there are threads.
    ///
    /// # Errors
    /// They do not.
    pub fn need_room(self) -> Result<(), PrepareError> {
        match self {
            Self::Sandbox => need_room_to_start(),
            Self::Python3 => Ok(()),
        }
    }

    /// Makes it ready. Blocks: see [`PythonFactory::load`] and [`WorkerFactory::load`].
    ///
    /// # Errors
    /// It cannot be prepared, or is not there.
    pub fn load(self, progress: Progress<'_>) -> Result<Arc<dyn ReplFactory>, PrepareError> {
        self.need_room()?;
        Ok(match self {
            Self::Sandbox => Arc::new(PythonFactory::load(progress)?),
            Self::Python3 => Arc::new(WorkerFactory::load()?),
        })
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Sandbox, Self::Python3];
        let named = known.into_iter().find(|backend| backend.name() == text);
        named.ok_or_else(|| format!("{text:?} is neither sandbox nor python3"))
    }
}
