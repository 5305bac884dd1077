//! How runs without an entry in the ledger ended, and what of their query's text is known.

use super::{Agent, Final, InterruptedEntry, Outcome};

/// Characters at which readers cut the task of a probe.
pub(super) const TASK_CUT: usize = 200;

/// Characters at which writers cut a query in state.json.
const QUERY_CUT: usize = 4_000;

/// The mark an existing writer leaves where it cut.
const CUT_MARK: &str = "...[truncated]";

/// The text was cut by the writer of state.json.
pub(super) fn is_cut(text: &str) -> bool {
    (text.ends_with(CUT_MARK) || text.ends_with('…')) && text.chars().count() >= QUERY_CUT
}

/// How a run without entry in the ledger ended: as its root or the session's writer recorded it, else by inference. What
/// the event log says of an open question comes first: nothing else speaks of a run that rests.
pub(super) fn lost_outcome(
    root: Option<&Agent>,
    recorded: Option<&InterruptedEntry>,
    pending: bool,
    writer: bool,
    waits: Option<&str>,
) -> Outcome {
    let end = root.and_then(|root| root.end.as_ref());
    if pending && writer && end.is_none() {
        return Outcome::Running;
    }
    if let (true, Some(question)) = (pending, waits) {
        return Outcome::Parked(question.to_owned());
    }
    let answered = root.is_some_and(|root| root.result != Final::Unset);
    let (error, limit) = (
        end.and_then(|end| end.error.clone()),
        end.and_then(|end| end.limit.clone()),
    );
    let outcome = end
        .and_then(|end| end.outcome.as_deref())
        .or_else(|| recorded?.outcome.as_deref());
    match outcome.unwrap_or_default() {
        "error" => Outcome::Error(error.unwrap_or_default()),
        "limit" => Outcome::Limit(limit.or(error).unwrap_or_default()),
        "cancelled" | "canceled" => Outcome::Cancelled,
        "interrupted" | "killed" => Outcome::Interrupted,
        "parked" | "waiting" => Outcome::Parked(String::new()),
        _ if answered => Outcome::Done,
        _ if limit.is_some() => Outcome::Limit(limit.unwrap_or_default()),
        _ if error.is_some() => Outcome::Error(error.unwrap_or_default()),
        _ if pending => Outcome::Interrupted,
        _ => Outcome::Lost,
    }
}
