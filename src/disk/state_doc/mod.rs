//! state.json as a writer holds it: everything in it, known or not, so that what is written back loses nothing.
//!
//! Rows that were there stay as their exact JSON text and are read on demand; only new and changed ones are made anew.
//! The viewer does not use this: it streams past the pickles instead.

mod rows;

pub use rows::{CodeRow, QueryRow, VariableRow};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::Write;

/// The version this program writes.
pub const VERSION: u64 = 2;

/// A JSON object with its values as exact text, in order; of duplicate keys the last one counts.
pub type Object = IndexMap<String, Box<RawValue>>;

/// An [`Object`] that lies in the text that it was read from: pickles may be most of that, and are copied once.
type Borrowed<'t> = IndexMap<String, &'t RawValue>;

/// state.json, whole.
#[derive(Clone, Debug, Default)]
pub struct StateDoc {
    /// Completed queries, in order.
    pub queries: Vec<QueryRow>,
    /// The text of a query that has started and has no FINAL yet.
    pub pending_query: Option<String>,
    /// Whole text of the pending query, in a file relative to the session directory (ours).
    pub query_file: Option<String>,
    /// Every root step ever run.
    pub code_log: Vec<CodeRow>,
    /// Saved variables.
    pub variables: IndexMap<String, VariableRow>,
    /// Source of functions and classes.
    pub functions: IndexMap<String, String>,
    /// Names that could not be saved, with the reason.
    pub dropped: IndexMap<String, String>,
    /// Runs without FINAL (ours).
    pub interrupted: Vec<Box<RawValue>>,
    /// Import statements of successful steps (ours); `None` in files of other programs.
    pub imports: Option<Vec<String>>,
    /// Keys that this build does not know.
    pub unknown: Object,
}

/// Why a state.json cannot be taken for writing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StateDocError {
    /// It comes from a newer build.
    #[error(
        "version {found} is newer than {VERSION}, the newest this build writes: left untouched; use a newer fast-rlm, or another session id"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// It is no JSON object of the known shape.
    #[error("{what} (line {line}, column {column}): left untouched; restore a backup, or use another session id")]
    Damaged {
        /// What is wrong.
        what: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
}

impl StateDoc {
    /// Reads the text of a state.json. Missing keys, nulls and unknown keys are normal; anything after the first
    /// complete value is leftover of an older, longer file and is ignored.
    ///
    /// # Errors
    /// [`StateDocError`] when it is from a newer build or no JSON object.
    pub fn parse(text: &[u8]) -> Result<Self, StateDocError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut reader = serde_json::Deserializer::from_slice(text);
        let mut fields = Borrowed::deserialize(&mut reader).map_err(|error| damaged(&error))?;
        check_version(&mut fields)?;
        Ok(Self {
            queries: rows::list(&mut fields, "queries", QueryRow::from_raw),
            pending_query: rows::text(fields.shift_remove("pending_query")),
            query_file: rows::text(fields.shift_remove("query_file")),
            code_log: rows::list(&mut fields, "code_log", CodeRow::from_raw),
            variables: rows::table(&mut fields, "variables", VariableRow::from_raw),
            functions: rows::text_table(&mut fields, "functions"),
            dropped: rows::text_table(&mut fields, "dropped"),
            interrupted: rows::list(&mut fields, "interrupted", RawValue::to_owned),
            imports: rows::text_list(&mut fields, "imports"),
            unknown: fields.into_iter().map(|(key, raw)| (key, raw.to_owned())).collect(),
        })
    }

    /// Writes it as one line of compact JSON, version 2.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: impl Write) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, &Written::of(self))
    }
}

fn damaged(error: &serde_json::Error) -> StateDocError {
    let what = error.to_string();
    StateDocError::Damaged {
        // The place is told beside it.
        what: what
            .split_once(" at line ")
            .map_or(what.as_str(), |(what, _)| what)
            .to_owned(),
        line: error.line(),
        column: error.column(),
    }
}

/// A version that is no number is taken for ours: it cannot be newer in a way that we would understand.
fn check_version(fields: &mut Borrowed<'_>) -> Result<(), StateDocError> {
    let version = fields
        .shift_remove("version")
        .and_then(|raw| serde_json::from_str::<u64>(raw.get()).ok());
    match version {
        Some(found) if found > VERSION => Err(StateDocError::Newer { found }),
        _ => Ok(()),
    }
}

/// The order of keys in the file; ours come after those that existing programs know.
#[derive(Serialize)]
struct Written<'a> {
    version: u64,
    queries: Vec<&'a RawValue>,
    pending_query: Option<&'a str>,
    code_log: Vec<&'a RawValue>,
    variables: IndexMap<&'a str, &'a Object>,
    functions: &'a IndexMap<String, String>,
    dropped: &'a IndexMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_file: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    interrupted: &'a [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    imports: Option<&'a [String]>,
    #[serde(flatten)]
    unknown: IndexMap<&'a str, &'a RawValue>,
}

impl<'a> Written<'a> {
    fn of(doc: &'a StateDoc) -> Self {
        Self {
            version: VERSION,
            queries: doc.queries.iter().map(QueryRow::raw).collect(),
            pending_query: doc.pending_query.as_deref(),
            code_log: doc.code_log.iter().map(CodeRow::raw).collect(),
            variables: doc
                .variables
                .iter()
                .map(|(name, row)| (name.as_str(), row.fields()))
                .collect(),
            functions: &doc.functions,
            dropped: &doc.dropped,
            query_file: doc.query_file.as_deref(),
            interrupted: &doc.interrupted,
            imports: doc.imports.as_deref(),
            unknown: doc
                .unknown
                .iter()
                .map(|(key, value)| (key.as_str(), &**value))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
