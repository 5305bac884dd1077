//! What an export tells, part by part: every text in here is clean already, so that formats only lay it out.

use super::Report;
use crate::model::{Agent, AgentId, FinalShape, MemoryEntry, MemoryKind, Problem, Query, Session, Step};
use crate::text::Shared;
use std::io::{Result, Write};

/// One part of the document, in the order of telling.
pub(super) enum Part<'a> {
    /// The head of the whole document.
    Session(SessionPart<'a>),
    /// A run begins.
    Run(RunPart<'a>),
    /// An agent begins.
    Agent(AgentPart<'a>),
    /// A step of the agent named last.
    Step(StepPart<'a>),
    /// The agent is told.
    AgentEnd,
    /// The run is told.
    RunEnd,
    /// One remembered name.
    Memory(MemoryPart<'a>),
    /// One problem.
    Problem(ProblemPart<'a>),
    /// The document ends.
    End(&'a Report),
}

/// A format.
pub(super) trait Layout {
    /// Sub-agents are told within the step that started them, rather than after their parents.
    const NESTED: bool;

    /// Writes one part.
    fn part(&mut self, part: &Part<'_>, out: &mut dyn Write) -> Result<()>;
}

/// The whole session.
pub(super) struct SessionPart<'a> {
    pub(super) session: &'a Session,
    pub(super) name: String,
    /// One run alone is told.
    pub(super) single: bool,
}

/// One run.
pub(super) struct RunPart<'a> {
    pub(super) query: &'a Query,
    pub(super) text: String,
    pub(super) result: FinalPart,
    /// How it ended, in words: `done`, `limit: max_depth 3 reached`.
    pub(super) outcome: String,
    pub(super) log_file: Option<String>,
    /// When it started, in words.
    pub(super) started: Option<String>,
}

/// One agent.
pub(super) struct AgentPart<'a> {
    pub(super) id: AgentId,
    pub(super) agent: &'a Agent,
    /// Steps between it and its root.
    pub(super) depth: usize,
    pub(super) run_id: String,
    pub(super) task: String,
    pub(super) result: FinalPart,
}

/// One step.
pub(super) struct StepPart<'a> {
    pub(super) step: &'a Step,
    pub(super) code: Shared,
    pub(super) output: Shared,
    pub(super) reasoning: Shared,
    /// Why the rest is empty, where it could not be read.
    pub(super) unreadable: Option<String>,
}

/// One remembered name.
pub(super) struct MemoryPart<'a> {
    pub(super) entry: &'a MemoryEntry,
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) text: String,
    pub(super) comment: Option<String>,
    pub(super) note: Option<String>,
}

impl MemoryPart<'_> {
    /// What it is: a variable's type, or what else stands under a name.
    pub(super) fn what(&self) -> &str {
        match self.entry.kind {
            MemoryKind::Function => "function",
            MemoryKind::Dropped => "dropped",
            MemoryKind::Variable if self.type_name.is_empty() => "type unknown",
            MemoryKind::Variable => &self.type_name,
        }
    }
}

/// One problem.
pub(super) struct ProblemPart<'a> {
    pub(super) problem: &'a Problem,
    pub(super) what: String,
    pub(super) path: Option<String>,
}

/// A FINAL value.
pub(super) enum FinalPart {
    /// There was none.
    Unset,
    /// `FINAL(None)`.
    None,
    /// JSON null in the file.
    Null,
    /// A value: its shape, and its text (of strings) or JSON.
    Value(FinalShape, String),
}

impl FinalPart {
    /// What stands for it where there is no text.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Unset => "no FINAL",
            Self::None => "None",
            Self::Null => "null (None, or a value that its writer lost)",
            Self::Value(_, text) => text,
        }
    }

    /// The language of its text, for fences.
    pub(super) fn language(&self) -> &'static str {
        match self {
            Self::Value(FinalShape::List | FinalShape::Object, _) => "json",
            _ => "text",
        }
    }
}
