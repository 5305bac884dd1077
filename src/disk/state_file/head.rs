//! The head of a state.json, for lists of sessions: how many queries, which last, whether one is pending.

use std::fs::File;
use std::path::Path;

use crate::disk::files::{open_regular, read_at};
use crate::disk::json::{Fault, FileInput, Scanner, Value};
use crate::disk::lenient;

use super::{SHORT_CAP, StateError, text_start};

/// Bytes of a query's text that a list shows.
const QUERY_CAP: usize = 1024;
/// Bytes of the end in which it shows whether a file is whole.
const ENOUGH: usize = 64;

/// What a list shows of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateHead {
    /// `version`.
    pub version: Option<u64>,
    /// Completed queries.
    pub queries: u64,
    /// Text of the last one, cut.
    pub last_query: Option<String>,
    /// `pending_query`, cut.
    pub pending: Option<String>,
}

/// Reads what lists show; stops as soon as it has it.
///
/// # Errors
/// As [`read_state`](super::read_state), for the part that was read.
pub fn read_head(path: &Path) -> Result<StateHead, StateError> {
    let (file, metadata) = open_regular(path).map_err(|source| StateError::of_open(path, source))?;
    let start = text_start(path, &file, &metadata)?;
    let mut scanner = Scanner::new(FileInput::new(&file, start.offset, metadata.len()));
    let (mut head, mut seen) = (StateHead::default(), 0);
    let done = scanner.object(|scanner, key| {
        match key {
            "version" => head.version = lenient::count(scanner.value(SHORT_CAP)?).value,
            "pending_query" => head.pending = lenient::text(scanner.value(QUERY_CAP)?).value,
            "queries" if scanner.peek()? == Some(b'[') => read_queries(scanner, &mut head)?,
            _ => {
                scanner.skip()?;
                return Ok(());
            }
        }
        seen += 1;
        if seen == 3 { Err(Fault::Enough) } else { Ok(()) }
    });
    match done {
        Err(Fault::Enough) if !ends_whole(&file, metadata.len()) => {
            let cut = Fault::End { byte: metadata.len() };
            Err(StateError::of_fault(path, cut, start.first))
        }
        Ok(()) | Err(Fault::Enough) => Ok(head),
        Err(fault) => Err(StateError::of_fault(path, fault, start.first)),
    }
}

/// Whether the file ends as an object does: what was not read of it may be cut off.
fn ends_whole(file: &File, size: u64) -> bool {
    let mut end = [0; ENOUGH];
    let read = read_at(file, &mut end, size.saturating_sub(ENOUGH as u64)).unwrap_or_default();
    let end = end.get(..read).unwrap_or_default();
    let last = end.iter().rev().find(|byte| !byte.is_ascii_whitespace());
    // With nothing but blanks there, nobody can tell without reading on.
    last.is_none_or(|byte| *byte == b'}')
}

fn read_queries(scanner: &mut Scanner<FileInput<'_>>, head: &mut StateHead) -> Result<(), Fault> {
    (head.queries, head.last_query) = (0, None);
    scanner.array(|scanner| {
        head.queries += 1;
        if scanner.peek()? != Some(b'{') {
            return scanner.skip();
        }
        scanner.object(|scanner, key| {
            if key != "query" {
                return scanner.skip();
            }
            if let Value::Text(text) = scanner.value(QUERY_CAP)? {
                head.last_query.get_or_insert_default().clear();
                head.last_query.get_or_insert_default().push_str(text);
            }
            Ok(())
        })
    })
}
