//! What can be wrong with a configuration: what, where, and what to do.

use super::document::Form;
use crate::disk::advice::on_named;
use std::io;
use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file could not be read.
    #[error("cannot read the configuration {}: {cause}; {}", path.display(), on_named(cause))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is not written in its language.
    #[error("the configuration {}:{line} is not valid {form}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it should be.
        form: Form,
        /// What is wrong.
        what: String,
    },
    /// An option in it has a value that it cannot have.
    #[error("the configuration {}:{line}: {option}: {what}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The option.
        option: String,
        /// What is wrong, and what is wanted.
        what: String,
    },
    /// A variable is set to what is no text.
    #[error("{variable} is set to bytes that are not UTF-8: set it again, or unset it")]
    NotText {
        /// The variable.
        variable: String,
    },
    /// A variable has a value that its option cannot have.
    #[error("{variable}: {found:?} is not {wanted}")]
    Variable {
        /// The variable.
        variable: String,
        /// Its value.
        found: String,
        /// What is wanted.
        wanted: String,
    },
}
