//! The order in which remembered names are shown.

use std::collections::HashMap;

use super::{Binding, Memory, MemoryEntry, MemoryKind, MemoryRecord};

/// Orders names: committed variables, commented ones, the rest, each by code point; then functions, then dropped
/// names, in file order.
pub(super) fn arrange(records: &[MemoryRecord], bindings: &HashMap<String, Binding>) -> Memory {
    let mut sorted: Vec<&MemoryRecord> = records.iter().collect();
    sorted.sort_by(|a, b| {
        group(a).cmp(&group(b)).then_with(|| match a.kind {
            MemoryKind::Variable => a.name.cmp(&b.name),
            MemoryKind::Function | MemoryKind::Dropped => std::cmp::Ordering::Equal,
        })
    });
    Memory {
        entries: sorted.into_iter().map(|record| entry(record, bindings)).collect(),
    }
}

fn group(record: &MemoryRecord) -> u8 {
    match record.kind {
        MemoryKind::Variable if record.committed => 0,
        MemoryKind::Variable if record.comment.as_ref().is_some_and(|comment| !comment.is_empty()) => 1,
        MemoryKind::Variable => 2,
        MemoryKind::Function => 3,
        MemoryKind::Dropped => 4,
    }
}

fn entry(record: &MemoryRecord, bindings: &HashMap<String, Binding>) -> MemoryEntry {
    MemoryEntry {
        name: record.name.clone(),
        kind: record.kind,
        type_name: record.type_name.clone(),
        text: record.text.clone(),
        comment: record.comment.clone(),
        note: record.note.clone(),
        committed: record.committed,
        bound: bindings.get(&record.name).copied(),
        pickle_bytes: record.pickle_bytes,
    }
}
