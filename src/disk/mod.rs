//! Session directories: state.json, transcripts, finding logs, atomic writes, the lock. Knows nothing of engine or screens.

pub mod atomic;
pub mod fault;
pub mod lock;
pub mod state_doc;
pub mod transcript_writer;
