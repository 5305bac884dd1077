//! The library's door: [`Session`], [`Config`] and [`run`]. It decides where a session lives, what it is run with, and
//! when Python is loaded; running a query is the engine's.

mod builder;
mod clear;
mod config;
mod door;
mod ephemeral;
mod error;
mod forks;
mod grants;
mod observed;
mod options;
mod output;
mod place;
mod python;
mod read_back;
mod session;
mod settings;
mod stream;
mod turn;
mod what_if;

pub use builder::ClientBuilder;
pub use config::Config;
pub use door::Client;
pub use ephemeral::{EphemeralDir, remove_on_signals};
pub use error::{Error, FailedRun};
pub use forks::Fork;
pub use options::{RunOptions, run};
pub use output::Output;
pub(crate) use python::stop_threads;
pub use python::warm_up;
pub use read_back::{PastQuery, Variable};
pub use session::Session;
pub use stream::TurnStream;
pub use what_if::{WhatIf, WhatIfRun, WhatIfSpec};
