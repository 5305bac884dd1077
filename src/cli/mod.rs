//! Arguments, text statistics and wiring of the two binaries.

#[cfg(feature = "engine")]
pub mod query;
