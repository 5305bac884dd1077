//! The terminal program: screens are pure functions of the model and a small view state.
pub mod copy;
pub mod export;
pub mod open;
pub mod svg;
