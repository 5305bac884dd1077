//! A session's memory while a query runs: what sweeps of the root's REPL leave in state.json, and when it is written.

mod absorb;
mod hashing;
mod inventory;
mod past;

use self::hashing::Hashing;
use super::clock;
use super::event::redacted_value;
use super::truncate::head;
use crate::disk::advice::advice;
use crate::disk::atomic::{self, WriteError};
use crate::disk::state_doc::{CodeRow, QueryRow, StateDoc, StateDocError, VariableRow};
use crate::disk::whole::{LARGEST_STATE, read_bytes};
use crate::repl::Sweep;
use crate::store::Digest;
use crate::store::payload::TurnStarted;
use crate::text::secret::Secrets;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Characters of a query that the ledger keeps, as existing programs do.
const QUERY_LEN: usize = 4_000;
/// Marks a query that was cut; existing programs write it so.
const QUERY_CUT: &str = "...[truncated]";
/// A state.json up to this size is rewritten at every step.
const SMALL: usize = 2_000_000;
/// A larger one at least this often.
const LARGE_EVERY: Duration = Duration::from_secs(2);

/// Why a session's memory cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// state.json could not be read.
    #[error("cannot read {}: {cause}; {}", path.display(), advice(cause))]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It was read, but cannot be taken for writing.
    #[error("{}: {cause}", path.display())]
    Refused {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: StateDocError,
    },
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A value could not be written as JSON.
    #[error("cannot write a value as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The run that a memory is being written for.
#[derive(Clone, Debug, Default)]
pub(super) struct RunRef {
    pub(super) run_id: String,
    /// As the ledger links it: relative to the session directory, or absolute where that was asked for.
    pub(super) log_file: String,
    /// The query as given.
    pub(super) query: String,
}

/// A run without FINAL, as `interrupted` lists it.
#[derive(Serialize)]
struct Interrupted<'a> {
    query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    outcome: &'a str,
}

/// The memory of one session, held by its one writer.
#[derive(Debug)]
pub struct SessionMemory {
    dir: PathBuf,
    doc: StateDoc,
    run: RunRef,
    /// Entries that did not come back: kept as they were saved until their name is bound again.
    held: Held,
    /// Digests of the pickles as the store keeps them, of variables that a sweep has seen.
    digests: HashMap<String, Digest>,
    /// Takes those of a session that was just restored.
    hashing: Option<Hashing>,
    secrets: Secrets,
    written: Written,
}

#[derive(Debug, Default)]
struct Held {
    variables: IndexMap<String, VariableRow>,
    functions: IndexMap<String, String>,
    imports: Vec<String>,
    /// What an earlier REPL could not save: later queries are told of it, too.
    dropped: IndexMap<String, String>,
}

/// When and how large state.json was written last.
#[derive(Debug, Default)]
struct Written {
    at: Option<Instant>,
    bytes: usize,
}

impl SessionMemory {
    /// Reads the memory of the session in `dir`; a missing state.json is an empty memory.
    ///
    /// # Errors
    /// [`MemoryError`] when the file cannot be read, is damaged or comes from a newer build: nothing is touched then.
    pub fn open(dir: &Path, secrets: Secrets) -> Result<Self, MemoryError> {
        let path = dir.join("state.json");
        let doc = match read_bytes(&path, LARGEST_STATE) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => StateDoc::default(),
            Err(cause) => return Err(MemoryError::Read { path, cause }),
            Ok(text) => StateDoc::parse(&text).map_err(|cause| MemoryError::Refused { path, cause })?,
        };
        Ok(Self::of_found(dir, doc, secrets))
    }

    /// The memory of the session in `dir`, whose state.json was read already where there is a `doc`.
    pub(super) fn of_read(dir: &Path, doc: Option<StateDoc>, secrets: Secrets) -> Result<Self, MemoryError> {
        match doc {
            Some(doc) => Ok(Self::of_found(dir, doc, secrets)),
            None => Self::open(dir, secrets),
        }
    }

    fn of_found(dir: &Path, doc: StateDoc, secrets: Secrets) -> Self {
        Self {
            dir: dir.to_owned(),
            secrets,
            ..Self::of_doc(doc)
        }
    }

    /// The memory that `doc` is, of no directory.
    pub(super) fn of_doc(doc: StateDoc) -> Self {
        Self {
            dir: PathBuf::new(),
            doc,
            run: RunRef::default(),
            held: Held::default(),
            digests: HashMap::new(),
            hashing: None,
            secrets: Secrets::default(),
            written: Written::default(),
        }
    }

    /// The document as it stands.
    pub fn doc(&self) -> &StateDoc {
        &self.doc
    }

    /// The digest of a variable's pickle, as the store keeps it; `None` for names that no sweep has saved.
    pub(super) fn digest(&self, name: &str) -> Option<Digest> {
        self.digests.get(name).copied()
    }

    /// Opens a query: what was pending becomes an interrupted run, that of `cut` where the log knows of it, and the new
    /// query is pending from here on.
    pub(super) fn begin(&mut self, run: RunRef, cut: Option<&TurnStarted>) -> Result<(), MemoryError> {
        self.close_interrupted(cut)?;
        let query = self.secrets.redact(&run.query).into_owned();
        self.doc.pending_query = Some(ledger_text(&query));
        self.doc.query_file = None;
        if head(&query, QUERY_LEN).1 {
            let file = format!("{}.query", run.log_file.trim_end_matches(".jsonl"));
            atomic::write(&self.dir.join(&file), query.as_bytes())?;
            self.doc.query_file = Some(file);
        }
        self.run = run;
        Ok(())
    }

    /// Goes on with a query that is pending, or that was closed as interrupted.
    pub(super) fn go_on(&mut self, run: RunRef) {
        #[derive(serde::Deserialize)]
        struct Row {
            run_id: Option<String>,
        }
        let is_it = |row: &RawValue| {
            serde_json::from_str::<Row>(row.get()).is_ok_and(|row| row.run_id.as_ref() == Some(&run.run_id))
        };
        self.doc.interrupted.retain(|row| !is_it(row));
        let query = self.secrets.redact(&run.query);
        self.doc.pending_query.get_or_insert_with(|| ledger_text(&query));
        self.run = run;
    }

    /// A run that a crash cut has no outcome of its own: it is inferred when the next query begins.
    fn close_interrupted(&mut self, cut: Option<&TurnStarted>) -> Result<(), MemoryError> {
        let of_steps = self.pending_run();
        let Some(query) = self.doc.pending_query.take() else {
            return Ok(());
        };
        let log_file = self.doc.query_file.take().map(|file| file.replace(".query", ".jsonl"));
        let row = Interrupted {
            query: &query,
            log_file: cut.and_then(|cut| cut.log_file.as_deref()).or(log_file.as_deref()),
            run_id: cut.map(|cut| cut.run_id.as_str()).or(of_steps.as_deref()),
            outcome: "interrupted",
        };
        self.doc.interrupted.push(to_raw_value(&row)?);
        Ok(())
    }

    /// Adds a step that ran, with what the sweep after it found; `None` when the REPL was lost in it.
    pub(super) fn step(&mut self, number: u64, ok: bool, code: &str, sweep: Option<&Sweep>) -> Result<(), MemoryError> {
        let q = self.doc.queries.len() as u64;
        let code = self.secrets.redact(code).into_owned();
        self.doc
            .code_log
            .push(CodeRow::new(q, number, ok, &code, &self.run.run_id)?);
        sweep.map_or(Ok(()), |sweep| self.absorb(sweep))
    }

    /// Closes the query with its FINAL.
    pub(super) fn finish(&mut self, result: &Value) -> Result<(), MemoryError> {
        let query = self.doc.pending_query.take().unwrap_or_default();
        let result = to_raw_value(&redacted_value(result.clone(), &self.secrets))?;
        self.doc.queries.push(QueryRow::new(
            &query,
            &result,
            Some(&self.run.log_file),
            &self.run.run_id,
        )?);
        self.doc.query_file = None;
        Ok(())
    }

    /// Closes the query without FINAL.
    pub(super) fn fail(&mut self, outcome: &str) -> Result<(), MemoryError> {
        let Some(query) = self.doc.pending_query.take() else {
            return Ok(());
        };
        let (log_file, run_id) = (Some(self.run.log_file.as_str()), Some(self.run.run_id.as_str()));
        self.doc.interrupted.push(to_raw_value(&Interrupted {
            query: &query,
            log_file,
            run_id,
            outcome,
        })?);
        self.doc.query_file = None;
        Ok(())
    }

    /// The text of state.json as it is to be written next: a small one always, a large one when it is due or `now` is
    /// set; `None` puts it off.
    pub(super) fn text(&self, now: bool) -> Result<Option<Vec<u8>>, MemoryError> {
        let due = self.written.at.is_none_or(|at| at.elapsed() >= LARGE_EVERY);
        if !now && !due && self.written.bytes > SMALL {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(self.written.bytes + 4_096);
        self.doc.write(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes state.json, atomically and durably.
    pub(super) fn put(&mut self, text: &[u8]) -> Result<(), MemoryError> {
        atomic::write(&self.dir.join("state.json"), text)?;
        self.written = Written {
            at: Some(Instant::now()),
            bytes: text.len(),
        };
        Ok(())
    }
}

/// A query as the ledger keeps it.
pub(super) fn ledger_text(query: &str) -> String {
    match head(query, QUERY_LEN) {
        (start, true) => format!("{start}{QUERY_CUT}"),
        (all, false) => all.to_owned(),
    }
}

/// A fresh run's names: its id, and its transcript in `logs/`, which no other run has.
pub(super) fn new_run(prefix: &str, taken: impl Fn(&str) -> bool) -> (String, String) {
    let now = clock::now();
    let name = clock::transcript_name(prefix, now);
    let free = if taken(&name) {
        clock::transcript_name(&format!("{prefix}_{}", clock::random_name(4)), now)
    } else {
        name
    };
    (clock::new_run_id(now), free)
}

#[cfg(test)]
mod tests;
