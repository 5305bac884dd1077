//! What a session remembers, read from its state.json: no Python, no model and no lock is needed, and no byte changes.
//!
//! Values stay pickled: what their pickles hold only Python may know.

use super::error::Error;
use super::session::Session;
use crate::disk::state_doc::{QueryRow, VariableRow};
use crate::engine::SessionMemory;
use crate::text::secret::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A query that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct PastQuery {
    /// Its text, cut at 4,000 characters where it was longer.
    pub query: String,
    /// FINAL's value as JSON; null for Python's `None`.
    pub value: Value,
    /// Its transcript, usually relative to the session's directory; `None` in sessions of old programs.
    pub log_file: Option<String>,
    /// Its root run; `None` in sessions of old programs.
    pub run_id: Option<String>,
}

/// A remembered variable, described. Its value comes back in the REPL of the next query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Python's name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its `repr`, cut at 2,000 characters.
    pub preview: String,
    /// The comment beside or above its assignment.
    pub comment: Option<String>,
    /// The note given to `commit`.
    pub note: Option<String>,
    /// `commit` was called on it.
    pub committed: bool,
}

/// What the session remembers. A session that does not exist yet remembers nothing.
///
/// All of these read the file anew each time, and fail with [`Error::Memory`] when it cannot be read, is damaged or
/// comes from a newer build, and with [`Error::Closed`].
impl Session {
    /// The queries that were answered, in order.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn queries(&self) -> Result<Vec<PastQuery>, Error> {
        Ok(self.memory()?.doc().queries.iter().map(past_query).collect())
    }

    /// The variables by name.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn variables(&self) -> Result<BTreeMap<String, Variable>, Error> {
        let memory = self.memory()?;
        let rows = memory.doc().variables.iter();
        Ok(rows.map(|(name, row)| (name.clone(), variable(row))).collect())
    }

    /// Source of the functions and classes by name.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn functions(&self) -> Result<BTreeMap<String, String>, Error> {
        let memory = self.memory()?;
        Ok(memory.doc().functions.clone().into_iter().collect())
    }

    /// Why a variable could not be saved, by name.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn dropped(&self) -> Result<BTreeMap<String, String>, Error> {
        let memory = self.memory()?;
        Ok(memory.doc().dropped.clone().into_iter().collect())
    }

    fn memory(&self) -> Result<SessionMemory, Error> {
        // Nothing is written from it, so there is nothing to keep out of it.
        Ok(SessionMemory::open(self.open_dir()?, Secrets::default())?)
    }
}

fn past_query(row: &QueryRow) -> PastQuery {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Links {
        log_file: Option<String>,
        run_id: Option<String>,
    }
    let Links { log_file, run_id } = serde_json::from_str(row.raw().get()).unwrap_or_default();
    PastQuery {
        query: row.query(),
        value: row.result().map(|raw| value(raw.get())).unwrap_or_default(),
        log_file,
        run_id,
    }
}

/// Other programs may have written what nests deeper than is read here: then its text stands for it.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn variable(row: &VariableRow) -> Variable {
    Variable {
        type_name: row.text("type").unwrap_or_default(),
        preview: row.text("preview").unwrap_or_default(),
        comment: row.text("comment"),
        note: row.text("note"),
        committed: row.committed(),
    }
}
