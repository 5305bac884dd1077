//! Run.
