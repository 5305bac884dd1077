//! A session built from events, with its transcript's bodies in memory.

use super::super::{Bodies, Format, Report, write};
use super::options;
use crate::model::{
    AgentEnd, BodyRef, CodeEntry, Cost, Event, Final, FinalShape, LedgerEntry, Line, LineKind, LogFacts, LogId,
    LogState, MemoryKind, MemoryRecord, Session, SessionFacts, StepLine, Timings, Usage, code_digest,
};
use crate::source::Body;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A session of one query, and its transcript's bodies.
pub(super) struct Recorded {
    pub(super) session: Session,
    pub(super) bodies: HashMap<u64, Body>,
    pub(super) lines: u64,
}

impl Bodies for Recorded {
    fn body(&mut self, at: BodyRef) -> Result<Body, String> {
        let body = self.bodies.get(&at.line).cloned();
        body.ok_or_else(|| format!("line {} is gone\u{1b}[0m", at.line))
    }
}

impl Recorded {
    pub(super) fn new(text: &str) -> Self {
        let mut session = Session::default();
        session.apply(Event::Session(SessionFacts {
            name: format!("demo {text}"),
            version: Some(2),
            ..SessionFacts::default()
        }));
        session.apply(Event::State {
            ledger: vec![LedgerEntry {
                query: text.to_owned(),
                result: Final::Value {
                    shape: FinalShape::Object,
                    text: serde_json::json!({"answer": text}).to_string(),
                },
                log_file: Some(format!("logs/{text}.jsonl")),
                run_id: Some("root".into()),
            }],
            code: Vec::<CodeEntry>::new(),
            memory: vec![MemoryRecord {
                name: text.to_owned(),
                kind: MemoryKind::Variable,
                type_name: text.to_owned(),
                text: text.to_owned(),
                comment: Some(text.to_owned()),
                note: Some(text.to_owned()),
                committed: true,
                pickle_bytes: 9,
            }],
            interrupted: Vec::new(),
        });
        session.apply(Event::Log(LogFacts {
            id: LogId(0),
            path: text.to_owned(),
            state: LogState::Found,
            queries: vec![0],
        }));
        Self {
            session,
            bodies: HashMap::new(),
            lines: 0,
        }
    }

    pub(super) fn line(&mut self, run_id: &str, parent: Option<&str>, depth: u32, kind: LineKind) {
        self.lines += 1;
        let at = BodyRef {
            log: LogId(0),
            line: self.lines,
            offset: self.lines * 100,
            len: 90,
        };
        self.session.apply(Event::Lines(vec![Line {
            at,
            run_id: run_id.into(),
            parent: parent.map(Into::into),
            depth,
            time: Some(1_000 * self.lines as i64),
            kind,
        }]));
    }

    pub(super) fn step(&mut self, run_id: &str, parent: Option<&str>, depth: u32, number: u64, text: &str) {
        let step = StepLine {
            number: Some(number),
            executed: true,
            failed: number == 2,
            usage: Some(Usage {
                total: 10,
                ..Usage::default()
            }),
            cost: Cost::Known(1_000_000),
            timings: Timings::default(),
            code_digest: code_digest(text),
            no_code: false,
            task: None,
        };
        self.line(run_id, parent, depth, LineKind::Step(step));
        let body = Body {
            code: format!("code {text}"),
            output: format!("output {text}"),
            reasoning: Some(format!("reasoning {text}")),
            ..Body::default()
        };
        self.bodies.insert(self.lines, body);
    }

    /// A root with a sub-agent between its two steps, everything in it `text`.
    pub(super) fn everywhere(text: &str) -> Self {
        let mut recorded = Self::new(text);
        recorded.step("root", None, 0, 1, text);
        recorded.step("child", Some("root"), 1, 1, text);
        recorded.step("root", None, 0, 2, text);
        let result = Final::Value {
            shape: FinalShape::Text,
            text: text.to_owned(),
        };
        recorded.line("root", None, 0, LineKind::Final(result));
        let end = AgentEnd {
            outcome: Some("ok".into()),
            ..AgentEnd::default()
        };
        recorded.line("root", None, 0, LineKind::End(end));
        recorded.session.apply(Event::LogRead {
            log: LogId(0),
            unreadable: 0,
        });
        recorded.session.settle();
        recorded
    }

    pub(super) fn export(mut self, format: Format, raw: bool) -> (String, Report) {
        let options = options(format, raw);
        let session = std::mem::take(&mut self.session);
        let mut out = Vec::new();
        let report = write(&session, &mut self, &options, &mut out, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        (String::from_utf8(out).unwrap(), report)
    }
}
