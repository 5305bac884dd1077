//! Telling a session: reads bodies one at a time, cleans every text, and hands the parts to a format.

use super::clean::{Cleaner, OUTPUT};
use super::html::Html;
use super::json::Json;
use super::markdown::Markdown;
use super::part::{AgentPart, FinalPart, Layout, MemoryPart, Part, ProblemPart, RunPart, SessionPart, StepPart};
use super::walk::{self, Visit};
use super::{Bodies, ExportError, Format, Masked, OnProgress, Options, Progress, Scope};
use crate::model::{Agent, Final, FinalShape, LogState, Outcome, Query, Session, Step, StepKind};
use crate::source::Body;
use crate::text::date_time;
use std::io::Write;

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Replies of models: what every screen calls steps. A probe is none.
    pub steps: u64,
    /// Steps whose body could not be read; the document says why.
    pub unreadable: u64,
    /// Secrets that were masked, by place and kind.
    pub masked: Vec<Masked>,
}

/// Writes an export of `session` to `out`. Memory does not grow with the session: one step is held at a time.
///
/// # Errors
///
/// When `out` fails, the run does not exist, or `progress` stopped it; what was written by then is incomplete.
pub fn write(
    session: &Session,
    bodies: &mut dyn Bodies,
    options: &Options,
    out: &mut dyn Write,
    progress: OnProgress<'_>,
) -> Result<Report, ExportError> {
    match options.format {
        Format::Markdown => tell(session, bodies, options, out, progress, Markdown::default()),
        Format::Html => tell(session, bodies, options, out, progress, Html::default()),
        Format::Json => tell(session, bodies, options, out, progress, Json::default()),
    }
}

fn tell<L: Layout>(
    session: &Session,
    bodies: &mut dyn Bodies,
    options: &Options,
    out: &mut dyn Write,
    progress: OnProgress<'_>,
    layout: L,
) -> Result<Report, ExportError> {
    let queries = match options.scope {
        Scope::Session => session.queries.as_slice(),
        Scope::Run(index) => session
            .queries
            .get(index..=index)
            .ok_or(ExportError::NoSuchRun(index))?,
    };
    let all = queries.iter().flat_map(|q| &q.run.agents).map(Agent::own_steps);
    let mut teller = Teller {
        session,
        bodies,
        utc: options.utc,
        cleaner: Cleaner::new(options.raw, options.secrets.clone()),
        progress,
        told: Progress {
            done: 0,
            all: all.sum(),
        },
        report: Report::default(),
        layout,
        out,
    };
    teller.head(queries)?;
    for query in queries {
        teller.run(query)?;
    }
    if options.scope == Scope::Session {
        teller.memory()?;
        teller.problems()?;
    }
    teller.end()
}

struct Teller<'a, L> {
    session: &'a Session,
    bodies: &'a mut dyn Bodies,
    utc: bool,
    cleaner: Cleaner,
    progress: OnProgress<'a>,
    told: Progress,
    report: Report,
    layout: L,
    out: &'a mut dyn Write,
}

impl<L: Layout> Teller<'_, L> {
    fn part(&mut self, part: &Part<'_>) -> Result<(), ExportError> {
        Ok(self.layout.part(part, self.out)?)
    }

    fn head(&mut self, queries: &[Query]) -> Result<(), ExportError> {
        self.cleaner.at("session");
        let name = self.cleaner.line(&self.session.facts.name, "name");
        self.part(&Part::Session(SessionPart {
            session: self.session,
            name,
            single: queries.len() != self.session.queries.len(),
        }))
    }

    fn run(&mut self, query: &Query) -> Result<(), ExportError> {
        self.cleaner.at(query.label.to_string());
        let part = RunPart {
            query,
            text: self.cleaner.block(query.text.clone(), "query").to_string(),
            result: self.result(&query.result),
            outcome: self.outcome(&query.outcome),
            log_file: query.log_file.as_ref().map(|path| self.cleaner.line(path, "log path")),
            started: query.started.map(|at| date_time(at, self.utc)),
        };
        self.part(&Part::Run(part))?;
        let visits: Box<dyn Iterator<Item = Visit>> = if L::NESTED {
            Box::new(walk::nested(&query.run))
        } else {
            Box::new(walk::flat(&query.run))
        };
        for visit in visits {
            self.visit(query, visit)?;
        }
        self.part(&Part::RunEnd)
    }

    fn visit(&mut self, query: &Query, visit: Visit) -> Result<(), ExportError> {
        match visit {
            Visit::Leave => self.part(&Part::AgentEnd),
            Visit::Enter(id, depth) => {
                let Some(agent) = query.run.agent(id) else {
                    return Ok(());
                };
                self.cleaner.at(format!("{} agent {}", query.label, id.0 + 1));
                let part = AgentPart {
                    id,
                    agent,
                    depth,
                    run_id: self.cleaner.line(&agent.run_id, "run id"),
                    task: self.cleaner.line(&agent.task, "task"),
                    result: self.result(&agent.result),
                };
                self.part(&Part::Agent(part))
            }
            Visit::Step(id, index) => {
                let step = query.run.agent(id).and_then(|agent| agent.steps.get(index));
                let Some(step) = step else { return Ok(()) };
                let agent = if id.0 == 0 {
                    String::new()
                } else {
                    format!(" agent {}", id.0 + 1)
                };
                self.cleaner.at(format!("{}{agent} {}", query.label, step.label()));
                self.step(step)
            }
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        let (body, unreadable) = match self.body(step) {
            Ok(body) => (body, None),
            Err(why) => (Body::default(), Some(self.cleaner.line(&why, "error"))),
        };
        self.report.unreadable += u64::from(unreadable.is_some());
        let reasoning = body.reasoning.unwrap_or_default();
        let all = body.code.len() + body.output.len() + reasoning.len();
        // One after the other, each instead of what was read: they may be huge.
        let part = StepPart {
            step,
            code: self.cleaner.block_of(body.code, "code", all),
            output: self.cleaner.block_of(body.output, OUTPUT, all),
            reasoning: self.cleaner.block_of(reasoning, "reasoning", all),
            unreadable,
        };
        self.part(&Part::Step(part))?;
        let counted = u64::from(step.kind == StepKind::Reply);
        self.report.steps += counted;
        self.told.done += counted;
        match (self.progress)(self.told) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(()) => Err(ExportError::Cancelled),
        }
    }

    /// The step's body, with what its twin has beyond it.
    fn body(&mut self, step: &Step) -> Result<Body, String> {
        let mut body = match step.body {
            Some(at) => self.bodies.body(at)?,
            None => Body {
                code: step.code.clone().unwrap_or_default(),
                ..Body::default()
            },
        };
        if let Some(twin) = step.twin.and_then(|at| self.bodies.body(at).ok()) {
            for (mine, other) in [(&mut body.code, twin.code), (&mut body.output, twin.output)] {
                if mine.is_empty() {
                    *mine = other;
                }
            }
            body.reasoning = body.reasoning.or(twin.reasoning);
        }
        Ok(body)
    }

    fn result(&mut self, result: &Final) -> FinalPart {
        match result {
            Final::Unset => FinalPart::Unset,
            Final::None => FinalPart::None,
            Final::Null => FinalPart::Null,
            Final::Value { shape, text } => {
                let json = matches!(shape, FinalShape::List | FinalShape::Object);
                let clean = if json {
                    self.cleaner.json(text, "FINAL")
                } else {
                    self.cleaner.block(text.clone(), "FINAL").to_string()
                };
                FinalPart::Value(*shape, clean)
            }
        }
    }

    fn outcome(&mut self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Done => "done".to_owned(),
            Outcome::Running => "running".to_owned(),
            Outcome::Interrupted => "interrupted".to_owned(),
            Outcome::Parked(question) if question.is_empty() => "waits for an answer".to_owned(),
            Outcome::Parked(question) => format!("waits for an answer: {}", self.cleaner.line(question, "question")),
            Outcome::Cancelled => "cancelled".to_owned(),
            Outcome::Lost => "ended without FINAL".to_owned(),
            Outcome::Error(why) => format!("error: {}", self.cleaner.line(why, "error")),
            Outcome::Limit(what) => format!("limit: {}", self.cleaner.line(what, "limit")),
        }
    }

    fn memory(&mut self) -> Result<(), ExportError> {
        for entry in &self.session.memory.entries {
            self.cleaner.at("memory");
            let name = self.cleaner.line(&entry.name, "name");
            self.cleaner.at(format!("memory {name}"));
            let part = MemoryPart {
                entry,
                type_name: self.cleaner.line(&entry.type_name, "type"),
                text: self.cleaner.block(entry.text.clone(), "value").to_string(),
                comment: entry.comment.as_ref().map(|text| self.cleaner.line(text, "comment")),
                note: entry.note.as_ref().map(|text| self.cleaner.line(text, "note")),
                name,
            };
            self.part(&Part::Memory(part))?;
        }
        Ok(())
    }

    fn problems(&mut self) -> Result<(), ExportError> {
        self.cleaner.at("problems");
        for problem in &self.session.problems {
            let log = problem
                .log
                .and_then(|id| self.session.logs.iter().find(|log| log.id == id));
            let path = log
                .filter(|log| !matches!(log.state, LogState::Missing(_)))
                .map(|log| &log.path);
            let part = ProblemPart {
                problem,
                what: self.cleaner.line(&problem.what, "text"),
                path: path.map(|path| self.cleaner.line(path, "path")),
            };
            self.part(&Part::Problem(part))?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<Report, ExportError> {
        self.report.masked = self.cleaner.masked();
        self.layout.part(&Part::End(&self.report), self.out)?;
        self.out.flush()?;
        Ok(self.report)
    }
}
