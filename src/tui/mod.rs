//! The terminal program: screens are pure functions of the model and a small view state.
pub mod svg;
