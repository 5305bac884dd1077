//! Content of a pane: what a value, a FINAL, an output or a piece of code looks like.
//!
//! Everything here is a pure function from untrusted text to [`Styled`] text: safe text with a [`Class`] for each
//! stretch of it. Colours are the theme's business, wrapping and scrolling the text pane's. All of it is iterative
//! and bounded, whatever the text nests or repeats; when a form does not fit, the text is shown as it is.

pub mod detect;
pub mod highlight;
pub mod json_tree;
pub mod markdown;
pub mod python_literal;

mod json_scan;
mod literal_grammar;
mod literal_layout;
mod literal_token;
mod markdown_block;
mod markdown_table;
mod python_strings;
mod scope_class;
mod squeeze;
mod styled;

pub use styled::{Class, Span, Styled, StyledBuilder};
