//! A session: its queries with their runs, totals, memory and problems.

use super::memory::MemoryFacts;
use super::put;
use super::run::{FinalFacts, RunFacts, TotalFacts, iso};
use crate::model::{Link, LogFacts, LogState, Outcome, Problem, Query, Session, TargetKind};
use crate::text::shown_json;
use serde::Serialize;
use std::io::{self, Write};

/// Everything but the queries.
#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    target: &'static str,
    name: &'a str,
    directory: &'a str,
    version: Option<u64>,
    newer: bool,
    pending: Option<&'a str>,
    held_by: Option<&'a str>,
    completed: usize,
    without_final: usize,
    totals: Sums,
    memory: MemoryFacts<'a>,
    code_log: usize,
    problems: Vec<ProblemFacts<'a>>,
}

#[derive(Serialize)]
struct Sums {
    completed: TotalFacts,
    without_final: TotalFacts,
}

/// The object is written in two parts: the head, then its queries one by one.
pub(super) fn write(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let mut head = serde_json::to_string(&Head::of(session))?;
    head.pop();
    out.write_all(shown_json(&head).as_bytes())?;
    out.write_all(b",\"queries\":[")?;
    for (i, query) in session.queries.iter().enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        put(out, &QueryFacts::of(query, &session.logs))?;
    }
    out.write_all(b"]}\n")
}

impl<'a> Head<'a> {
    fn of(session: &'a Session) -> Self {
        let facts = &session.facts;
        let completed = session.completed_count();
        Self {
            format: super::FORMAT,
            target: match facts.target {
                TargetKind::Session => "session",
                TargetKind::Transcript => "transcript",
            },
            name: &facts.name,
            directory: &facts.dir,
            version: facts.version,
            newer: facts.newer,
            pending: facts.pending.as_deref(),
            held_by: facts.held_by.as_deref(),
            completed,
            without_final: session.queries.len() - completed,
            totals: Sums {
                completed: TotalFacts::of(&session.completed),
                without_final: TotalFacts::of(&session.lost),
            },
            memory: MemoryFacts::of(&session.memory),
            code_log: session.queries.iter().map(|query| query.code.len()).sum(),
            problems: session
                .problems
                .iter()
                .map(|problem| ProblemFacts::of(problem, &session.logs))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct QueryFacts<'a> {
    name: String,
    query: &'a str,
    query_cut: bool,
    outcome: &'static str,
    reason: Option<&'a str>,
    #[serde(flatten)]
    result: FinalFacts,
    started: Option<String>,
    log: LogFactsOut<'a>,
    run_id: Option<&'a str>,
    code_log: usize,
    run: RunFacts<'a>,
}

impl<'a> QueryFacts<'a> {
    fn of(query: &'a Query, logs: &'a [LogFacts]) -> Self {
        let (outcome, reason) = outcome(&query.outcome);
        Self {
            name: query.label.to_string(),
            query: &query.text,
            query_cut: query.text_cut,
            outcome,
            reason,
            result: FinalFacts::of(&query.result),
            started: query.started.map(iso),
            log: LogFactsOut::of(query, logs),
            run_id: query.run_id.as_deref(),
            code_log: query.code.len(),
            run: RunFacts::of(&query.run),
        }
    }
}

/// Its word, and why.
fn outcome(outcome: &Outcome) -> (&'static str, Option<&str>) {
    let why = match outcome {
        Outcome::Parked(question) => Some(question.as_str()).filter(|question| !question.is_empty()),
        Outcome::Error(reason) | Outcome::Limit(reason) => Some(reason.as_str()),
        Outcome::Done | Outcome::Running | Outcome::Interrupted | Outcome::Cancelled | Outcome::Lost => None,
    };
    (outcome.word(), why)
}

/// Where a run's transcript is, or what was tried to find it.
#[derive(Serialize)]
struct LogFactsOut<'a> {
    state: &'static str,
    path: Option<&'a str>,
    recorded: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tried: &'a [String],
}

impl<'a> LogFactsOut<'a> {
    fn of(query: &'a Query, logs: &'a [LogFacts]) -> Self {
        let log = query.link.log().and_then(|id| logs.iter().find(|log| log.id == id));
        let (state, tried): (_, &[String]) = match &query.link {
            // Whose it is, is a problem's to say: the link is what state.json has.
            Link::Linked(_) | Link::Taken(..) => ("linked", &[]),
            Link::Moved(_) => ("moved", &[]),
            Link::Attached(_) => ("attached", &[]),
            Link::Missing(tried) => ("missing", tried),
            // Whoever asks for facts waits until it is found.
            Link::Unlinked | Link::Unknown => ("unlinked", &[]),
        };
        Self {
            state,
            path: log
                .filter(|log| !matches!(log.state, LogState::Missing(_)))
                .map(|log| log.path.as_str()),
            recorded: query.log_file.as_deref(),
            tried,
        }
    }
}

#[derive(Serialize)]
struct ProblemFacts<'a> {
    kind: String,
    file: Option<&'a str>,
    line: Option<u64>,
    byte: Option<u64>,
    what: &'a str,
}

impl<'a> ProblemFacts<'a> {
    fn of(problem: &'a Problem, logs: &'a [LogFacts]) -> Self {
        let log = problem.log.and_then(|id| logs.iter().find(|log| log.id == id));
        Self {
            kind: snake(&format!("{:?}", problem.kind)),
            file: log.map(|log| log.path.as_str()),
            line: problem.line,
            byte: problem.byte,
            what: &problem.what,
        }
    }
}

/// `MovedLog` → `moved_log`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
