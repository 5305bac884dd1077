//! The lines of one transcript as they arrived: each once, in file order, with the agents' ids interned.

use std::collections::HashMap;
use std::sync::Arc;

use super::{AgentEnd, BodyRef, Final, Line, LineKind, LogId, StepLine, Time};

/// A line whose agent and parent are numbers of [`LogLines::name`].
#[derive(Clone, Debug)]
pub(super) struct StoredLine {
    pub(super) at: BodyRef,
    pub(super) agent: u32,
    pub(super) parent: Option<u32>,
    pub(super) depth: u32,
    pub(super) time: Option<Time>,
    pub(super) kind: StoredKind,
}

/// As [`LineKind`]. There may be millions of lines, most of which say little: what is large lies elsewhere.
#[derive(Clone, Debug)]
pub(super) enum StoredKind {
    Start,
    /// `None`: it says nothing more, as most do.
    End(Option<Box<AgentEnd>>),
    Step(Box<StepLine>),
    Final(Box<Final>),
    Unknown(Box<str>),
}

impl From<LineKind> for StoredKind {
    fn from(kind: LineKind) -> Self {
        match kind {
            LineKind::Start => Self::Start,
            LineKind::End(end) => Self::End((end != AgentEnd::default()).then(|| Box::new(end))),
            LineKind::Step(step) => Self::Step(Box::new(step)),
            LineKind::Final(value) => Self::Final(Box::new(value)),
            LineKind::Unknown(event) => Self::Unknown(event.into()),
        }
    }
}

/// All known lines of one transcript.
#[derive(Clone, Debug, Default)]
pub(super) struct LogLines {
    lines: Vec<StoredLine>,
    unsorted: bool,
    names: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
    /// Lines that could not be read, once it was read to its end.
    pub(super) read: Option<u64>,
    /// Something changed since its run was derived.
    pub(super) dirty: bool,
}

impl LogLines {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.lines.reserve(more);
    }

    pub(super) fn push(&mut self, line: Line) {
        let last = self.lines.last().map(|last| last.at.offset);
        self.unsorted |= last.is_some_and(|last| last >= line.at.offset);
        let agent = self.intern(line.run_id);
        let parent = line.parent.map(|parent| self.intern(parent));
        self.lines.push(StoredLine {
            at: line.at,
            agent,
            parent,
            depth: line.depth,
            time: line.time,
            kind: line.kind.into(),
        });
        self.dirty = true;
    }

    /// Restores file order and drops lines that arrived twice.
    pub(super) fn tidy(&mut self) {
        if std::mem::take(&mut self.unsorted) {
            self.lines
                .sort_by_key(|line| (line.at.offset, line.at.line, line.at.len));
            self.lines.dedup_by_key(|line| line.at.offset);
        }
    }

    pub(super) fn lines(&self) -> &[StoredLine] {
        &self.lines
    }

    pub(super) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    pub(super) fn names(&self) -> usize {
        self.names.len()
    }

    /// Digest of the code on the line at `at`.
    pub(super) fn code_digest(&self, at: BodyRef) -> Option<u64> {
        let index = self
            .lines
            .binary_search_by_key(&at.offset, |line| line.at.offset)
            .ok()?;
        match &self.lines.get(index)?.kind {
            StoredKind::Step(step) => Some(step.code_digest),
            _ => None,
        }
    }

    fn intern(&mut self, name: Arc<str>) -> u32 {
        // Mostly it is whom the line before speaks of.
        let before = self.lines.last().map(|last| (last.agent, last.parent));
        let (agent, parent) = before.unzip();
        let mut known = [agent, parent.flatten()].into_iter().flatten();
        if let Some(id) = known.find(|id| self.name(*id) == &*name) {
            return id;
        }
        if let Some(id) = self.index.get(&name) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.index.insert(name, id);
        id
    }
}

/// Lines by transcript.
#[derive(Clone, Debug, Default)]
pub(super) struct AllLines(HashMap<LogId, LogLines>);

impl AllLines {
    pub(super) fn of(&self, log: LogId) -> Option<&LogLines> {
        self.0.get(&log)
    }

    pub(super) fn of_mut(&mut self, log: LogId) -> &mut LogLines {
        self.0.entry(log).or_default()
    }

    /// Forgets a transcript's lines; what was derived from them is stale.
    pub(super) fn reset(&mut self, log: LogId) {
        self.0.insert(
            log,
            LogLines {
                dirty: true,
                ..LogLines::default()
            },
        );
    }
}
