//! The agent loop: prompts, probe, steps, sub-agents, budgets, session memory, parking.

mod agent;
mod blocks;
mod budget;
mod clock;
mod error;
mod event;
mod input;
mod journal;
mod keeper;
mod limits;
mod memory;
mod nesting;
mod open;
mod person;
mod preamble;
mod prompts;
mod resume;
mod run;
mod schema;
mod seats;
mod session;
mod settings;
mod truncate;

pub use budget::{Allowance, Budget, Spent};
pub use error::RunError;
pub use event::{AgentId, RunEvent, Unwatched, Watch, What};
pub use input::{Input, InputError};
pub use journal::{ProjectError, RecoverError};
pub use limits::{Exceeded, Limits};
pub use memory::{MemoryError, SessionMemory};
pub use person::{Person, Question};
pub use schema::{BadSchema, OutputSchema};
pub use session::{Answer, BeginError, Home, Query, Waiting, answer, drop_question, last_models, run_query, waiting};
pub use settings::{Guard, Model, Settings};
