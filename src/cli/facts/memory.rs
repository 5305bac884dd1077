//! What the session remembers.

use crate::model::{Memory, MemoryEntry, MemoryKind};
use serde::Serialize;

/// Counts, and every name in the order of the memory screen.
#[derive(Serialize)]
pub(super) struct MemoryFacts<'a> {
    variables: usize,
    committed: usize,
    functions: usize,
    dropped: usize,
    entries: Vec<EntryFacts<'a>>,
}

impl<'a> MemoryFacts<'a> {
    pub(super) fn of(memory: &'a Memory) -> Self {
        let count = |kind| memory.entries.iter().filter(|entry| entry.kind == kind).count();
        Self {
            variables: count(MemoryKind::Variable),
            committed: memory.entries.iter().filter(|entry| entry.committed).count(),
            functions: count(MemoryKind::Function),
            dropped: count(MemoryKind::Dropped),
            entries: memory.entries.iter().map(EntryFacts::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct EntryFacts<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(rename = "type")]
    type_name: &'a str,
    committed: bool,
    comment: Option<&'a str>,
    note: Option<&'a str>,
    /// A variable's preview, a function's source, or why it was dropped.
    text: &'a str,
    pickle_base64_bytes: u64,
    bound_by: Option<BoundBy>,
}

#[derive(Serialize)]
struct BoundBy {
    run: String,
    step: u64,
}

impl<'a> EntryFacts<'a> {
    fn of(entry: &'a MemoryEntry) -> Self {
        Self {
            name: &entry.name,
            kind: match entry.kind {
                MemoryKind::Variable => "variable",
                MemoryKind::Function => "function",
                MemoryKind::Dropped => "dropped",
            },
            type_name: &entry.type_name,
            committed: entry.committed,
            comment: entry.comment.as_deref(),
            note: entry.note.as_deref(),
            text: &entry.text,
            pickle_base64_bytes: entry.pickle_bytes,
            bound_by: entry.bound.map(|bound| BoundBy {
                run: bound.label.to_string(),
                step: bound.step,
            }),
        }
    }
}
