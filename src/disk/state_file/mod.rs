//! state.json as a reader needs it: streamed past the pickles, in bounded memory whatever its size.
//!
//! Everything is optional and nothing is trusted: what has the wrong shape is read as far as it goes and told as a
//! problem. Writers hold the file differently (`state_doc`).

mod budget;
mod error;
mod head;
mod memory;
mod tables;

use std::fs::{File, Metadata};
use std::path::Path;

use crate::model::{CodeEntry, InterruptedEntry, LedgerEntry, MemoryRecord, Problem, ProblemKind};

use super::files::{open_regular, read_at};
use super::json::{Fault, FileInput, Input, Scanner};
use super::lenient;
use budget::Budget;
use memory::Memory;

pub use error::StateError;
pub use head::{StateHead, read_head};

/// Name of the file in a session directory.
pub const STATE_FILE: &str = "state.json";
/// The newest version that is understood.
const VERSION: u64 = 2;
/// Bytes of a query's text, a FINAL, a function's source that are kept.
const TEXT_CAP: usize = 16 << 20;
/// Bytes of what should be short.
const SHORT_CAP: usize = 64 << 10;

/// What state.json says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateFile {
    /// `version`.
    pub version: Option<u64>,
    /// Newer than what is understood.
    pub newer: bool,
    /// `queries`.
    pub ledger: Vec<LedgerEntry>,
    /// `pending_query`.
    pub pending: Option<String>,
    /// `query_file` (ours): where the whole text of the pending query is, relative to the session.
    pub query_file: Option<String>,
    /// `code_log`.
    pub code: Vec<CodeEntry>,
    /// `variables`, `functions`, `dropped`, in file order.
    pub memory: Vec<MemoryRecord>,
    /// `interrupted` (ours).
    pub interrupted: Vec<InterruptedEntry>,
    /// What was odd, repaired or left out.
    pub problems: Vec<Problem>,
}

/// Reads state.json.
///
/// # Errors
/// When it cannot be read, or its first value is no whole JSON object.
pub fn read_state(path: &Path) -> Result<StateFile, StateError> {
    let (file, metadata) = open_regular(path).map_err(|source| StateError::of_open(path, source))?;
    let start = text_start(path, &file, &metadata)?;
    let mut reader = Reader::new(FileInput::new(&file, start.offset, metadata.len()));
    if start.offset > 0 {
        reader.tell(Some(0), "a byte order mark; skipped");
    }
    reader
        .read()
        .map_err(|fault| StateError::of_fault(path, fault, start.first))?;
    reader.leftovers();
    Ok(reader.finish())
}

/// Where the text starts, and its first byte.
struct Start {
    offset: u64,
    first: Option<u8>,
}

/// Looks for a byte order mark.
fn text_start(path: &Path, file: &File, metadata: &Metadata) -> Result<Start, StateError> {
    let mut head = [0; 4];
    let read = read_at(file, &mut head, 0).map_err(|source| StateError::of_open(path, source))?;
    let head = head.get(..read).unwrap_or_default();
    if metadata.len() == 0 || head.is_empty() {
        return Err(StateError::Empty { path: path.to_owned() });
    }
    if super::is_utf16(head) {
        return Err(StateError::Utf16 { path: path.to_owned() });
    }
    let offset = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    Ok(Start {
        offset,
        first: head.get(usize::try_from(offset).unwrap_or_default()).copied(),
    })
}

struct Reader<I> {
    scanner: Scanner<I>,
    state: StateFile,
    memory: Memory,
    budget: Budget,
}

impl<I: Input> Reader<I> {
    fn new(input: I) -> Self {
        Self {
            scanner: Scanner::new(input),
            state: StateFile::default(),
            memory: Memory::default(),
            budget: Budget::default(),
        }
    }

    fn read(&mut self) -> Result<(), Fault> {
        let Self {
            scanner,
            state,
            memory,
            budget,
        } = self;
        scanner.object(|scanner, key| {
            let byte = scanner.position();
            match key {
                "version" => {
                    let version = lenient::count(scanner.value(SHORT_CAP)?);
                    state.version = version.value;
                    state.note(byte, key, version.odd);
                }
                "queries" => tables::queries(scanner, state, budget)?,
                "pending_query" => state.pending = tables::text(scanner, state, budget, key)?,
                "query_file" => state.query_file = tables::text(scanner, state, budget, key)?,
                "code_log" => tables::code_log(scanner, state, budget)?,
                "variables" => memory.variables(scanner, state, budget)?,
                "functions" => memory.functions(scanner, state, budget)?,
                "dropped" => memory.dropped(scanner, state, budget)?,
                "interrupted" => tables::interrupted(scanner, state, budget)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }

    /// What follows the first complete value: a longer old version was overwritten, or the file was padded.
    fn leftovers(&mut self) {
        let byte = self.scanner.position();
        match self.scanner.peek() {
            Ok(None) | Err(_) => {}
            Ok(Some(0)) => self.tell(Some(byte), "NUL bytes after the end; skipped"),
            Ok(Some(_)) => self.tell(
                Some(byte),
                "leftovers after the first complete value; skipped, not repaired",
            ),
        }
    }

    fn tell(&mut self, byte: Option<u64>, what: &str) {
        self.state.tell(byte, what.to_owned());
    }

    fn finish(mut self) -> StateFile {
        if !self.scanner.repairs.is_empty() {
            let what = format!("{}; shown as \u{FFFD} or as it is", self.scanner.repairs.describe());
            self.state.tell_kind(ProblemKind::Repaired, None, what);
        }
        if let Some(what) = self.budget.describe() {
            self.tell(None, &what);
        }
        self.state.newer = self.state.version.is_some_and(|version| version > VERSION);
        if self.state.newer {
            let version = self.state.version.unwrap_or_default();
            self.tell(
                None,
                &format!("version {version} is newer than {VERSION}: what is understood is shown, read-only"),
            );
        }
        self.state.memory = self.memory.into_records();
        self.state
    }
}

impl StateFile {
    fn tell(&mut self, byte: Option<u64>, what: String) {
        self.tell_kind(ProblemKind::State, byte, what);
    }

    fn tell_kind(&mut self, kind: ProblemKind, byte: Option<u64>, what: String) {
        const MOST: usize = 500;
        if self.problems.len() < MOST {
            let what = format!("{STATE_FILE}: {what}");
            self.problems.push(Problem {
                kind,
                log: None,
                line: None,
                byte,
                what,
            });
        }
    }

    fn note(&mut self, byte: u64, key: &str, odd: Option<&'static str>) {
        if let Some(odd) = odd {
            self.tell(Some(byte), format!("{key} is {odd}"));
        }
    }
}

#[cfg(test)]
mod tests;
