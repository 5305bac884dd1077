//! The agent loop: prompts, probe, steps, sub-agents, budgets, session memory, parking.

mod agent;
mod begin_error;
mod blocks;
mod budget;
mod clock;
mod deltas;
mod error;
mod event;
mod gate;
mod groups;
mod home;
mod input;
mod journal;
mod keeper;
mod leaving;
mod limits;
mod memory;
mod nesting;
mod onward;
mod open;
mod past;
mod person;
mod preamble;
mod prompts;
mod recorded_input;
mod reopen;
mod resume;
mod run;
mod schema;
mod script;
mod seats;
mod session;
mod settings;
mod tape;
mod truncate;

pub(crate) use agent::context;
pub use begin_error::BeginError;
pub use budget::{Allowance, Budget, Spent};
pub(crate) use clock::now;
pub use error::RunError;
pub(crate) use event::redacted_value;
pub use event::{AgentId, RunEvent, Unwatched, Watch, What};
pub use gate::{AllowAll, Approver, AskPerson, Decision, DenyAll, GateCall, Tool};
pub use groups::{KIND_SIGNAL, Observation, SignalMatch, ToolGroup};
pub use home::{Home, SessionLog};
pub use input::{Input, InputError};
pub(crate) use journal::{CLOCK, CONVERSATION, Pending, TOOLS, custom_event};
pub use journal::{ProjectError, RecoverError};
pub use leaving::Leaving;
pub use limits::{Exceeded, Limits};
pub use memory::{MemoryError, SessionMemory};
pub use onward::{GoOn, Interruption, Rerun, RerunStep, go_on, interruption};
pub use past::{memory_before, restore_set};
pub use person::{Person, Question};
pub use recorded_input::{mark_imported, recorded_context};
pub use schema::{BadSchema, OutputSchema};
pub use script::ScriptedReply;
pub use session::{
    Answer, Query, Waiting, answer, drop_question, last_models, recorded_mcp, recorded_repl, run_query, waiting,
    waiting_in,
};
pub use settings::{Guard, Model, Settings};
pub use tape::{Call, Recorded, Served, Tape, tool_input};
