//! Content of a pane: what a value, a FINAL, an output or a piece of code looks like.
//!
//! Everything here is a pure function from untrusted text to [`Rendered`] text: safe text, and what its parts mean.
//! Colours are the theme's business, wrapping and scrolling the text pane's. All of it is iterative and bounded,
//! whatever the text nests or repeats; what does not fit its form is shown as it is.

pub mod detect;
pub mod highlight;
pub mod json_tree;
pub mod markdown;
pub mod python_literal;

mod document;
mod json_scan;
mod json_tokens;
mod literal_grammar;
mod literal_layout;
mod literal_token;
mod markdown_block;
mod markdown_table;
mod python_strings;
mod rendered;
mod scope_role;
mod squeeze;

pub use document::Document;
pub use rendered::Rendered;
