//! With `--json`, a run that failed and is kept is told on stdout, too: its session, and why there is no answer.

use super::print_json;
use crate::cli::query::usage;
use crate::client::{self, FailedRun};
use crate::lab::LabError;
use serde_json::{Value, json};

/// Prints it, where the run is kept; the error itself is told on stderr all the same.
pub(super) fn tell(session: &str, error: &client::Error) {
    if let Some(record) = record(session, error) {
        // Who reads no more is told on stderr.
        let _ = print_json(&record);
    }
}

/// As a query's own object, with the session that keeps it. What a halted tail used is in its session.
fn record(session: &str, error: &client::Error) -> Option<Value> {
    let ran = match error {
        client::Error::Run(failed) => Some(&**failed),
        client::Error::Lab(LabError::TailHalted { .. }) | client::Error::Panicked => None,
        _ => return None,
    };
    let told = ran.map_or_else(|| error.to_string(), |failed| failed.error.to_string());
    Some(json!({
        "session": session,
        "outcome": ran.map_or("error", |failed| failed.error.outcome()),
        "final": null,
        "error": told,
        "run_id": ran.map(|failed| &failed.run_id),
        "log_file": ran.map(|failed| failed.transcript.to_string_lossy()),
        "usage": ran.map(|failed: &FailedRun| usage(&failed.usage)),
    }))
}
