//! The stores on SQLite: in files, or the same tables in memory.
//!
//! One connection a store, behind a mutex. Files are in WAL mode; every write is one `BEGIN IMMEDIATE` transaction;
//! `synchronous` is FULL only for those that must survive a power cut.

mod as_text;
mod bindings;
mod database;
mod flow;
mod format;
mod log;
mod open;
mod pieces;
mod registry;
mod rows;
mod values;

pub use as_text::StoreRows;
use database::Failure;
pub use flow::SqliteFlow;
pub use log::SqliteEvents;

/// Name of the event store's file in a storage directory.
pub const EVENTS_FILE: &str = "events.db";

/// Name of the flow store's file in a storage directory.
pub const FLOW_FILE: &str = "flow.db";

/// SQLite's integers are signed; ours never come near the difference.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
