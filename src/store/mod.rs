//! The event store and the flow store: an append-only log of everything that happened in sessions, and what is not a
//! log (values, namespaces, parked questions).
//!
//! [`Storage`] says where; [`Storage::open`] gives the two stores behind their traits, [`EventStore`] and
//! [`FlowStore`], SQLite files or the same tables in memory. [`SessionWriter`] is how a turn is recorded: it redacts,
//! caps and fences. [`Cassette`] serves recorded leaf calls again, and [`reconcile`] decides what a state.json that
//! another program may have written means. Everything here blocks: asynchronous callers use a thread.
//!
//! The tables are documented in `docs/store.md`. This room knows nothing of running an agent.

mod asks;
mod cassette;
#[doc(hidden)]
pub mod conformance;
mod digest;
mod error;
mod event;
mod events;
mod fact;
mod flow;
mod location;
pub mod payload;
mod reconcile;
mod redact;
mod registry;
mod session_id;
mod sqlite;
mod storage;
mod transfer;
mod writer;

pub(crate) use asks::Asks;
pub use cassette::{Cassette, Served};
pub use digest::Digest;
pub use error::StoreError;
pub use event::{EventRow, NewEvent, Page, Select, Skipped, StoredEvent, Token};
pub use events::EventStore;
pub use fact::{Fact, Kind, MAX_NESTING};
pub use flow::{At, Binding, BindingKind, Described, FULL_TURNS, FlowStore, Freed, Namespace, Parked};
pub use location::{Location, locate};
pub use reconcile::{Action, FileState, Recorded, reconcile, recorded};
pub use redact::Redact;
pub use registry::{NewSession, Origin, SessionRow};
pub use session_id::{IMPORTING, check as check_session_id};
pub use sqlite::{EVENTS_FILE, FLOW_FILE, SqliteEvents, SqliteFlow, StoreRows};
pub use storage::{Storage, Store};
#[cfg(feature = "engine")]
pub(crate) use transfer::remove_session;
pub use transfer::{Copying, copy_session};
pub use writer::{DEFAULT_CELL_CAP, SessionWriter};
