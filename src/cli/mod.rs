//! Arguments, text statistics and wiring of the two binaries.
