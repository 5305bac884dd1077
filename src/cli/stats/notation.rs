//! How facts are put into words.

use std::collections::BTreeMap;

use crate::model::{Final, FinalShape, Label, Link, Outcome, Problem, ProblemKind, Query, Run, Session, Totals};
use crate::text::{SafeText, count, middle_cut, plural};

/// Cells of a path, with what came of it. Longer ones are whole in `--json`.
const PLACE: usize = 240;

/// `8 steps (+16 in 8 sub-agents, +2 in 1 other root), 1 failed`; `unknown` where nothing of it was read.
pub(super) fn steps(run: &Run) -> String {
    if run.lines == 0 && run.agents.is_empty() {
        return "unknown".into();
    }
    let totals = &run.totals;
    let own = run.root_steps();
    let (others, beside) = run.other_roots();
    let subagents = totals.agents.saturating_sub(run.roots.len() as u64);
    let below = totals.steps.saturating_sub(own).saturating_sub(beside);
    let more = [
        (below, subagents, "sub-agent", "sub-agents"),
        (beside, others, "other root", "other roots"),
    ];
    let more: Vec<String> = more
        .into_iter()
        .filter(|(_, agents, ..)| *agents > 0)
        .map(|(steps, agents, one, many)| format!("+{} in {}", count(steps.into()), plural(agents.into(), one, many)))
        .collect();
    let mut text = plural(own.into(), "step", "steps");
    if !more.is_empty() {
        text += &format!(" ({})", more.join(", "));
    }
    if totals.failed > 0 {
        text += &format!(", {} failed", count(totals.failed.into()));
    }
    text
}

/// `166,708: 164,000 prompt (90,112 cached), 2,708 completion (900 thinking)`; `unknown` where none were reported.
pub(super) fn tokens(totals: &Totals) -> String {
    if !totals.tokens_known() {
        return "unknown".into();
    }
    let usage = &totals.usage;
    let mut text = count(usage.total.into());
    if usage.prompt > 0 || usage.completion > 0 {
        text += &format!(": {} prompt", count(usage.prompt.into()));
        text += &aside(usage.cached, "cached");
        text += &format!(", {} completion", count(usage.completion.into()));
        text += &aside(usage.reasoning, "thinking");
    }
    text
}

fn aside(tokens: u64, what: &str) -> String {
    if tokens > 0 {
        format!(" ({} {what})", count(tokens.into()))
    } else {
        String::new()
    }
}

/// `245,622 tokens, $0.07 + 6 unknown`.
pub(super) fn totals(totals: &Totals) -> String {
    format!("{}, {}", totals.tokens(), totals.cost.named())
}

/// The FINAL of a query, raw; or what stands for it.
pub(super) fn result(query: &Query) -> String {
    match &query.result {
        Final::Unset => format!("none: {}", outcome(&query.outcome)),
        Final::None => "None".into(),
        Final::Null => "null (None, or a value that its writer lost)".into(),
        Final::Value {
            shape: FinalShape::Text,
            text,
        } if text.trim().is_empty() => format!("{text:?}"),
        Final::Value { text, .. } => text.clone(),
    }
}

/// How it ended, in words. Raw: may quote data.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".into(),
        Outcome::Running => "it is running".into(),
        Outcome::Interrupted => "interrupted".into(),
        Outcome::Parked(question) if question.is_empty() => "it waits for an answer".into(),
        Outcome::Parked(question) => format!("it waits for an answer: {question}"),
        Outcome::Error(what) if what.is_empty() => "ended in an error".into(),
        Outcome::Error(what) => format!("ended in an error: {what}"),
        Outcome::Limit(what) if what.is_empty() => "stopped by a limit".into(),
        Outcome::Limit(what) => format!("stopped by a limit: {what}"),
        Outcome::Cancelled => "cancelled".into(),
        Outcome::Lost => "how it ended was not recorded".into(),
    }
}

/// Where its transcript is, or what was tried; a path as long as no real one is shortened in its middle.
pub(super) fn log(query: &Query, session: &Session) -> String {
    let place = |path: &str| middle_cut(SafeText::line(path).as_str(), PLACE);
    let path = |log: crate::model::LogId| session.logs.get(log.0 as usize).map_or("", |facts| &facts.path);
    match &query.link {
        Link::Linked(log) => place(path(*log)),
        Link::Moved(log) => format!("{} (moved)", place(path(*log))),
        // Nothing links a query before it has ended.
        Link::Attached(log) if query.label == Label::Pending => place(path(*log)),
        Link::Attached(log) => format!("{} (no query links it)", place(path(*log))),
        Link::Taken(log, owner) => format!("{} (that of {owner})", place(path(*log))),
        Link::Missing(tried) if tried.is_empty() => "missing".into(),
        Link::Missing(tried) => {
            let tried: Vec<String> = tried.iter().map(|tried| place(tried)).collect();
            format!("missing; tried {}", tried.join(", "))
        }
        Link::Unknown => "looked for".into(),
        Link::Unlinked if query.code.is_empty() => "none recorded".into(),
        Link::Unlinked => "none recorded; steps are known from code_log".into(),
    }
}

/// Why nothing is known of a run's tokens.
pub(super) fn unmeasured(query: &Query, session: &Session) -> String {
    if let Link::Taken(_, owner) = query.link {
        return format!("unknown: its log is that of {owner}");
    }
    let Some(log) = query.link.log() else {
        return "unknown: there is no transcript".into();
    };
    let of_whole = |problem: &&Problem| {
        problem.log == Some(log) && problem.kind == ProblemKind::Unreadable && problem.line.is_none_or(|line| line == 1)
    };
    let why = session.problems.iter().find(of_whole);
    let why = why.map(|problem| format!(": {}", middle_cut(SafeText::line(&problem.what).as_str(), PLACE)));
    format!("unknown: no line of the transcript was read{}", why.unwrap_or_default())
}

/// `3 unreadable lines, 2 moved logs`; `None` when all is well.
pub(super) fn problems(session: &Session) -> Option<String> {
    let unreadable: u64 = session.queries.iter().map(|query| query.run.unreadable).sum();
    let mut counts: BTreeMap<ProblemKind, u64> = BTreeMap::new();
    for Problem { kind, .. } in &session.problems {
        *counts.entry(*kind).or_default() += 1;
    }
    if let Some(listed) = counts.get_mut(&ProblemKind::Unreadable) {
        // Of very many, not all are listed.
        *listed = unreadable.max(*listed);
    }
    let words = counts.into_iter().map(|(kind, number)| {
        let (one, many) = kind_words(kind);
        plural(number.into(), one, many)
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn kind_words(kind: ProblemKind) -> (&'static str, &'static str) {
    match kind {
        ProblemKind::Unreadable => ("unreadable line", "unreadable lines"),
        ProblemKind::Incomplete => ("incomplete line", "incomplete lines"),
        ProblemKind::Repaired => ("repair", "repairs"),
        ProblemKind::Number => ("odd number", "odd numbers"),
        ProblemKind::MovedLog => ("moved log", "moved logs"),
        ProblemKind::MissingLog => ("missing log", "missing logs"),
        ProblemKind::UnknownEvent => ("unknown event", "unknown events"),
        ProblemKind::Clock => ("clock oddity", "clock oddities"),
        ProblemKind::Structure => ("oddity in the structure", "oddities in the structure"),
        ProblemKind::State => ("problem of state.json", "problems of state.json"),
        ProblemKind::Notice => ("notice", "notices"),
    }
}
