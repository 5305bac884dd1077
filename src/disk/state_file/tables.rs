//! The tables of state.json.

use std::collections::HashMap;

use crate::disk::final_value::read_final;
use crate::disk::json::{Fault, Input, Scanner, Value};
use crate::disk::lenient::{self, Taken};
use crate::model::{CodeEntry, Final, InterruptedEntry, LedgerEntry, MemoryKind, MemoryRecord};

use super::budget::Budget;
use super::{SHORT_CAP, StateFile, TEXT_CAP};

/// A text of any length; what is none is taken as it is written, and told.
pub(super) fn text<I: Input>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
    key: &str,
) -> Result<Option<String>, Fault> {
    let byte = scanner.position();
    let cap = budget.cap(TEXT_CAP);
    let taken = match scanner.peek()? {
        Some(b'"') => Taken {
            value: Some(scanner.text(cap)?),
            odd: None,
        },
        Some(b'{' | b'[') => {
            let text = scanner.capture(cap)?.text;
            Taken {
                value: Some(text),
                odd: Some("an array or object where text belongs; shown as JSON"),
            }
        }
        _ => lenient::text(scanner.value(SHORT_CAP)?),
    };
    state.note(byte, key, taken.odd);
    if let Some(text) = &taken.value {
        budget.spend(text, cap);
    }
    Ok(taken.value)
}

/// Goes through an array of objects; `each` gets every key of every one. What is no object yields an empty entry.
fn rows<I: Input, T: Default>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
    name: &str,
    mut field: impl FnMut(&mut Scanner<I>, &mut StateFile, &mut Budget, &mut T, &str) -> Result<(), Fault>,
) -> Result<Vec<T>, Fault> {
    let mut all = Vec::new();
    if scanner.peek()? != Some(b'[') {
        let byte = scanner.position();
        if scanner.value(SHORT_CAP)? != Value::Null {
            state.tell(Some(byte), format!("{name} is no array; taken as empty"));
        }
        return Ok(all);
    }
    scanner.array(|scanner| {
        let mut row = T::default();
        if scanner.peek()? == Some(b'{') {
            scanner.object(|scanner, key| field(scanner, state, budget, &mut row, key))?;
        } else {
            state.tell(
                Some(scanner.position()),
                format!("an entry of {name} is no object; shown as empty"),
            );
            scanner.skip()?;
        }
        if budget.entry() {
            all.push(row);
        }
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn queries<I: Input>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
) -> Result<(), Fault> {
    /// An absent `final` is None.
    struct Row(LedgerEntry);
    impl Default for Row {
        fn default() -> Self {
            Self(LedgerEntry {
                result: Final::None,
                ..LedgerEntry::default()
            })
        }
    }
    let rows = rows(
        scanner,
        state,
        budget,
        "queries",
        |scanner, state, budget, row: &mut Row, key| {
            match key {
                "query" => row.0.query = text(scanner, state, budget, key)?.unwrap_or_default(),
                "final" => {
                    let cap = budget.cap(TEXT_CAP);
                    row.0.result = read_final(scanner, cap)?;
                    if let Final::Value { text, .. } = &row.0.result {
                        budget.spend(text, cap);
                    }
                }
                "log_file" => row.0.log_file = text(scanner, state, budget, key)?,
                "run_id" => row.0.run_id = text(scanner, state, budget, key)?,
                _ => scanner.skip()?,
            }
            Ok(())
        },
    )?;
    state.ledger = rows.into_iter().map(|row| row.0).collect();
    Ok(())
}

pub(super) fn code_log<I: Input>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
) -> Result<(), Fault> {
    /// An absent `ok` is true.
    struct Row(CodeEntry);
    impl Default for Row {
        fn default() -> Self {
            Self(CodeEntry {
                q: 0,
                step: 0,
                ok: true,
                code: String::new(),
                run_id: None,
            })
        }
    }
    let rows = rows(
        scanner,
        state,
        budget,
        "code_log",
        |scanner, state, budget, row: &mut Row, key| {
            let byte = scanner.position();
            match key {
                "q" | "step" => {
                    let number = lenient::count(scanner.value(SHORT_CAP)?);
                    state.note(byte, key, number.odd);
                    let place = if key == "q" { &mut row.0.q } else { &mut row.0.step };
                    *place = number.value.unwrap_or_default();
                }
                "ok" => {
                    let ok = lenient::flag(scanner.value(SHORT_CAP)?);
                    state.note(byte, key, ok.odd);
                    row.0.ok = ok.value;
                }
                "code" => row.0.code = text(scanner, state, budget, key)?.unwrap_or_default(),
                "run_id" => row.0.run_id = text(scanner, state, budget, key)?,
                _ => scanner.skip()?,
            }
            Ok(())
        },
    )?;
    state.code = rows.into_iter().map(|row| row.0).collect();
    Ok(())
}

pub(super) fn interrupted<I: Input>(
    scanner: &mut Scanner<I>,
    state: &mut StateFile,
    budget: &mut Budget,
) -> Result<(), Fault> {
    state.interrupted = rows(
        scanner,
        state,
        budget,
        "interrupted",
        |scanner, state, budget, row, key| {
            let row: &mut InterruptedEntry = row;
            match key {
                "query" => row.query = text(scanner, state, budget, key)?.unwrap_or_default(),
                "log_file" => row.log_file = text(scanner, state, budget, key)?,
                "run_id" => row.run_id = text(scanner, state, budget, key)?,
                "outcome" => row.outcome = text(scanner, state, budget, key)?,
                _ => scanner.skip()?,
            }
            Ok(())
        },
    )?;
    Ok(())
}

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
