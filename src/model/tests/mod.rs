//! Tests of what events add up to, and the small builders they share.

mod endings;
mod layout;
mod order;
mod scale;
mod steps;
mod tree;

use super::*;

/// Builds one transcript's lines.
pub(super) struct Log {
    pub(super) id: LogId,
    pub(super) lines: Vec<Line>,
}

impl Log {
    pub(super) fn new(id: u32) -> Self {
        Self {
            id: LogId(id),
            lines: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, run: &str, parent: Option<&str>, time: Option<Time>, kind: LineKind) -> &mut Self {
        let line = self.lines.len() as u64;
        self.lines.push(Line {
            at: BodyRef {
                log: self.id,
                line: line + 1,
                offset: line * 100,
                len: 99,
            },
            run_id: run.into(),
            parent: parent.map(Into::into),
            depth: 0,
            time,
            kind,
        });
        self
    }

    pub(super) fn start(&mut self, run: &str, parent: Option<&str>, time: Time) -> &mut Self {
        self.line(run, parent, Some(time), LineKind::Start)
    }

    pub(super) fn step(&mut self, run: &str, line: StepLine, time: Time) -> &mut Self {
        self.line(run, None, Some(time), LineKind::Step(line))
    }

    pub(super) fn answer(&mut self, run: &str, time: Time) -> &mut Self {
        self.line(run, None, Some(time), LineKind::Final(text("done")))
    }

    pub(super) fn end(&mut self, run: &str, outcome: Option<&str>, time: Time) -> &mut Self {
        let end = AgentEnd {
            outcome: outcome.map(Into::into),
            ..AgentEnd::default()
        };
        self.line(run, None, Some(time), LineKind::End(end))
    }

    /// The events that announce it: a query's transcript, or a stray.
    pub(super) fn events(&self, queries: &[usize]) -> Vec<Event> {
        let state = if queries.is_empty() {
            LogState::Stray
        } else {
            LogState::Found
        };
        vec![
            Event::Log(LogFacts {
                id: self.id,
                path: format!("logs/run_{}.jsonl", self.id.0),
                state,
                queries: queries.into(),
            }),
            Event::Lines(self.lines.clone()),
            Event::LogRead {
                log: self.id,
                unreadable: 0,
            },
        ]
    }

    /// Its run, derived alone.
    pub(super) fn session(&self) -> Session {
        settled(self.events(&[]))
    }
}

pub(super) fn settled(events: impl IntoIterator<Item = Event>) -> Session {
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    session
}

pub(super) fn text(text: &str) -> Final {
    Final::Value {
        shape: FinalShape::Text,
        text: text.into(),
    }
}

/// An executed step with tokens and a cost of 1 nano-dollar each.
pub(super) fn executed(number: u64, code: &str) -> StepLine {
    StepLine {
        number: Some(number),
        executed: true,
        failed: false,
        usage: Some(Usage {
            prompt: 1,
            total: 1,
            ..Usage::default()
        }),
        cost: Cost::Known(1),
        timings: Timings::default(),
        code_digest: code_digest(code),
        no_code: code.is_empty(),
        task: None,
    }
}

pub(super) fn during(number: u64, code: &str, from: Time, to: Time) -> StepLine {
    let timings = Timings {
        exec_start: Some(from),
        exec_end: Some(to),
        ..Timings::default()
    };
    StepLine {
        timings,
        ..executed(number, code)
    }
}

pub(super) fn probe(task: &str) -> StepLine {
    let usage = Some(Usage::default());
    StepLine {
        usage,
        cost: Cost::Unknown,
        task: Some(task.into()),
        ..executed(0, "probe")
    }
}

pub(super) fn code(q: u64, step: u64, code: &str) -> CodeEntry {
    CodeEntry {
        q,
        step,
        ok: true,
        code: code.into(),
        run_id: None,
    }
}

pub(super) fn query(name: &str, run_id: Option<&str>) -> LedgerEntry {
    LedgerEntry {
        query: name.into(),
        result: text("answer"),
        log_file: run_id.map(|run_id| format!("logs/{run_id}.jsonl")),
        run_id: run_id.map(Into::into),
    }
}

pub(super) fn state(ledger: Vec<LedgerEntry>, code: Vec<CodeEntry>) -> Event {
    Event::State {
        ledger,
        code,
        memory: Vec::new(),
        interrupted: Vec::new(),
    }
}

pub(super) fn pending(text: &str) -> Event {
    Event::Session(SessionFacts {
        pending: Some(text.into()),
        ..SessionFacts::default()
    })
}

/// Names and outcomes of all runs.
pub(super) fn names(session: &Session) -> String {
    let name = |query: &Query| format!("{}:{}", query.label, query.text);
    session.queries.iter().map(name).collect::<Vec<_>>().join(" ")
}

pub(super) fn structure_problems(session: &Session) -> usize {
    session
        .problems
        .iter()
        .filter(|problem| problem.kind == ProblemKind::Structure)
        .count()
}
