//! A run: the tree of agents that worked on one query.

use super::{AgentEnd, AgentId, BodyRef, Cost, CostSum, Final, LogId, Step, Time, Usage};

/// Sums over steps (never the probe). One step counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Steps: replies of the model.
    pub steps: u64,
    /// Steps whose code raised.
    pub failed: u64,
    /// Tokens.
    pub usage: Usage,
    /// Cost.
    pub cost: CostSum,
    /// Agents.
    pub agents: u64,
    /// Steps that no model was asked for: they used nothing.
    pub given: u64,
    /// Steps known from `code_log` alone, of which no transcript tells anything.
    pub bare: u64,
}

/// How sure it is that a sub-agent belongs to its parent's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// A root: of the run, or an orphan whose parent's lines were lost.
    Root,
    /// The parent step's execution interval holds the child's first event.
    Timed,
    /// The first parent step written after the child.
    Order,
    /// The last known step; shown with `?`.
    Guess,
}

/// One agent: a conversation with a REPL of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// Opaque; not unique across files.
    pub run_id: String,
    /// `None` for roots and orphans.
    pub parent: Option<AgentId>,
    /// Of an orphan the parent's id as recorded; else see [`Run::parent_run_id`].
    pub parent_run_id: Option<String>,
    /// Index into the parent's `steps`.
    pub parent_step: Option<usize>,
    /// How it was placed there.
    pub placement: Placement,
    /// 0 for a root, else one more than its parent's.
    pub depth: u32,
    /// As its lines have it: what is left of an orphan's place. Untrusted: never a number of cells.
    pub recorded_depth: u32,
    /// In order; the probe first where it was recorded.
    pub steps: Vec<Step>,
    /// First sign of it.
    pub started: Option<Time>,
    /// Last sign of it.
    pub ended: Option<Time>,
    /// Its FINAL.
    pub result: Final,
    /// What `agent_end` recorded; `None` when it is missing (common).
    pub end: Option<AgentEnd>,
    /// What it was given to do, one line, cut (from its probe); empty when unknown.
    pub task: String,
    /// The body of its probe, to show what it was given.
    pub probe: Option<BodyRef>,
    /// Its parent's lines are missing, or its ancestry is a cycle.
    pub orphan: bool,
    /// A step of it begins before the one before it, or its FINAL does.
    pub backwards: bool,
    /// Calls that the event log has of it, and no step counts: see [`OpenCall`](super::OpenCall).
    pub open_calls: Vec<(Usage, Cost)>,
    /// The sum over its own steps and those of all its descendants.
    pub subtree: Totals,
}

/// What one query did: agents in the order in which they started, parents before children.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Run {
    /// Its transcript, if one was found.
    pub log: Option<LogId>,
    /// All agents.
    pub agents: Vec<Agent>,
    /// Roots, the query's own first.
    pub roots: Vec<AgentId>,
    /// Transcript lines read so far.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Deepest agent, in the tree or as recorded.
    pub max_depth: u32,
    /// Everything.
    pub totals: Totals,
    /// The transcript was read to its end at least once.
    pub complete: bool,
    /// First and last instant seen.
    pub span: Option<(Time, Time)>,
    /// Milliseconds in which it was worked on: see [`worked`](super::timeline::worked).
    pub worked: u64,
}

impl Agent {
    /// What calls of its own used that no step counts: those that gave no reply, and those whose step is in flight or was
    /// cut.
    pub fn calls_without_step(&self) -> impl Iterator<Item = &(Usage, Cost)> {
        let unanswered = self.end.iter().flat_map(|end| &end.unanswered);
        unanswered.chain(&self.open_calls)
    }
}

impl Run {
    /// An agent by its id.
    pub fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.get(id.0 as usize)
    }

    /// The id of an agent's parent as recorded, also when that agent is missing.
    pub fn parent_run_id<'a>(&'a self, agent: &'a Agent) -> Option<&'a str> {
        let parent = agent.parent.and_then(|id| self.agent(id));
        parent
            .map(|parent| parent.run_id.as_str())
            .or(agent.parent_run_id.as_deref())
    }

    /// The query's own root.
    pub fn root(&self) -> Option<&Agent> {
        self.roots.first().and_then(|id| self.agent(*id))
    }

    /// Whether this is the query's own root.
    pub fn is_root(&self, id: AgentId) -> bool {
        self.roots.first() == Some(&id)
    }
}
