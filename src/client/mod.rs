//! The library's door: [`Session`], [`Config`] and [`run`]. It decides where a session lives, what it is run with, and
//! when Python is loaded; running a query is the engine's.

mod clear;
mod config;
mod ephemeral;
mod error;
mod options;
mod output;
mod place;
mod python;
mod read_back;
mod session;
mod settings;
mod turn;

pub use config::Config;
pub use ephemeral::{EphemeralDir, remove_on_signals};
pub use error::{Error, FailedRun};
pub use options::{RunOptions, run};
pub use output::Output;
pub use python::warm_up;
pub use read_back::{PastQuery, Variable};
pub use session::Session;
