//! The lists of state.json: queries, code_log, interrupted runs.

use crate::disk::final_value::read_final;
use crate::disk::json::{Fault, Input, Scanner, Value};
use crate::disk::lenient::{self, Taken};
use crate::model::{CodeEntry, Final, InterruptedEntry, LedgerEntry};

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
