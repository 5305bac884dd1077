//! What every implementation of the two store traits must do, as cases that run on an empty store. For tests: ours run
//! them on SQLite in files and in memory, and the author of another store runs them on that.

mod events;
mod flow;
mod lineage;
mod sample;

use super::{EventStore, FlowStore, StoreError};

/// One promise of a store.
pub struct Case<S: ?Sized> {
    /// The promise, in words.
    pub name: &'static str,
    /// Tries it on an empty store.
    pub run: fn(&S) -> Result<(), Broken>,
}

/// A promise that was not kept.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self(format!("unexpected error: {error}"))
    }
}

/// Promises of an [`EventStore`].
pub fn event_cases() -> Vec<Case<dyn EventStore>> {
    [events::CASES, lineage::CASES]
        .concat()
        .into_iter()
        .map(|(name, run)| Case { name, run })
        .collect()
}

/// Promises of a [`FlowStore`].
pub fn flow_cases() -> Vec<Case<dyn FlowStore>> {
    flow::CASES.iter().map(|(name, run)| Case { name, run: *run }).collect()
}

type Check<S> = (&'static str, fn(&S) -> Result<(), Broken>);

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Result<(), Broken> {
    if got == expected {
        return Ok(());
    }
    Err(Broken(format!("{what}: expected {expected:?}, got {got:?}")))
}

fn holds(what: &str, condition: bool) -> Result<(), Broken> {
    if condition {
        Ok(())
    } else {
        Err(Broken(what.to_owned()))
    }
}

fn fails<T>(what: &str, result: Result<T, StoreError>, expected: fn(&StoreError) -> bool) -> Result<(), Broken> {
    match result {
        Ok(_) => Err(Broken(format!("{what}: succeeded"))),
        Err(error) if expected(&error) => Ok(()),
        Err(error) => Err(Broken(format!("{what}: failed with {error:?}"))),
    }
}

fn fenced(error: &StoreError) -> bool {
    matches!(error, StoreError::Fenced { .. })
}
