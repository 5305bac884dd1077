//! The terminal program: screens over the model, driven by one pure update function.
//!
//! `term/` owns the terminal, `action/` and `keymap/` say what a key means, `screens/` hold what is shown, `widgets/`
//! what they are made of, `theme/` how it looks. Data comes from [`source`](crate::source) only.

pub mod action;
mod app;
pub mod body;
pub mod compositor;
pub mod content;
pub mod copy;
pub mod ctx;
pub mod driver;
pub mod effect;
pub mod export;
pub mod frames;
pub mod input;
pub mod keymap;
pub mod live;
pub mod motion;
pub mod notice;
pub mod open;
pub mod pattern;
pub mod screens;
pub mod svg;
pub mod term;
#[cfg(test)]
pub(crate) mod testing;
pub mod theme;
pub mod widgets;

pub use app::{TuiError, TuiOptions, check_keys, check_theme, run};
