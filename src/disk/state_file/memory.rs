//! What a session remembers: variables without their pickles, functions, and what was dropped.

use std::collections::HashMap;

use crate::disk::json::{Fault, Input, Scanner, Value};
use crate::disk::lenient;
use crate::model::{MemoryKind, MemoryRecord};

use super::budget::Budget;
use super::tables::text;
use super::{SHORT_CAP, StateFile};

/// `variables`, `functions` and `dropped`; of a name that stands twice in one of them the last entry counts.
#[derive(Default)]
pub(super) struct Memory {
    records: [Vec<MemoryRecord>; 3],
    places: HashMap<(MemoryKind, String), usize>,
}

impl Memory {
    pub(super) fn variables<I: Input>(
        &mut self,
        scanner: &mut Scanner<I>,
        state: &mut StateFile,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        self.table(
            scanner,
            state,
            budget,
            MemoryKind::Variable,
            |scanner, state, budget, record| {
                if scanner.peek()? != Some(b'{') {
                    state.tell(
                        Some(scanner.position()),
                        "a variable is no object; shown as it is".into(),
                    );
                    record.text = text(scanner, state, budget, "variable")?.unwrap_or_default();
                    return Ok(());
                }
                scanner.object(|scanner, key| variable_field(scanner, state, budget, record, key))
            },
        )
    }

    pub(super) fn functions<I: Input>(
        &mut self,
        scanner: &mut Scanner<I>,
        state: &mut StateFile,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        self.table(
            scanner,
            state,
            budget,
            MemoryKind::Function,
            |scanner, state, budget, record| {
                record.text = text(scanner, state, budget, "a function")?.unwrap_or_default();
                Ok(())
            },
        )
    }

    pub(super) fn dropped<I: Input>(
        &mut self,
        scanner: &mut Scanner<I>,
        state: &mut StateFile,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        self.table(
            scanner,
            state,
            budget,
            MemoryKind::Dropped,
            |scanner, state, budget, record| {
                record.text = text(scanner, state, budget, "a reason")?.unwrap_or_default();
                Ok(())
            },
        )
    }

    fn table<I: Input>(
        &mut self,
        scanner: &mut Scanner<I>,
        state: &mut StateFile,
        budget: &mut Budget,
        kind: MemoryKind,
        mut read: impl FnMut(&mut Scanner<I>, &mut StateFile, &mut Budget, &mut MemoryRecord) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if scanner.peek()? != Some(b'{') {
            let byte = scanner.position();
            if scanner.value(SHORT_CAP)? != Value::Null {
                state.tell(Some(byte), "a table of names is no object; taken as empty".into());
            }
            return Ok(());
        }
        scanner.object(|scanner, name| {
            let mut record = blank(name, kind);
            read(scanner, state, budget, &mut record)?;
            budget.spend(name, usize::MAX);
            if budget.entry() {
                self.put(record);
            }
            Ok(())
        })
    }

    fn put(&mut self, record: MemoryRecord) {
        let Some(records) = self.records.get_mut(record.kind as usize) else {
            return;
        };
        let place = *self
            .places
            .entry((record.kind, record.name.clone()))
            .or_insert(records.len());
        match records.get_mut(place) {
            Some(earlier) => *earlier = record,
            None => records.push(record),
        }
    }

    pub(super) fn into_records(self) -> Vec<MemoryRecord> {
        self.records.into_iter().flatten().collect()
    }
}

fn variable_field<I: Input>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
    record: &mut MemoryRecord,
    key: &str,
) -> Result<(), Fault> {
    let byte = scanner.position();
    match key {
        "pickle_b64" if scanner.peek()? == Some(b'"') => record.pickle_bytes = scanner.skip_string()?,
        "type" => record.type_name = text(scanner, state, budget, key)?.unwrap_or_default(),
        "preview" => record.text = text(scanner, state, budget, key)?.unwrap_or_default(),
        "comment" => record.comment = text(scanner, state, budget, key)?,
        "note" => record.note = text(scanner, state, budget, key)?,
        "committed" => {
            let committed = lenient::flag(scanner.value(SHORT_CAP)?);
            state.note(byte, key, committed.odd);
            record.committed = committed.value;
        }
        _ => scanner.skip()?,
    }
    Ok(())
}

fn blank(name: &str, kind: MemoryKind) -> MemoryRecord {
    MemoryRecord {
        name: name.to_owned(),
        kind,
        type_name: String::new(),
        text: String::new(),
        comment: None,
        note: None,
        committed: false,
        pickle_bytes: 0,
    }
}
