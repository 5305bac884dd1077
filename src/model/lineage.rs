//! Where a session comes from, what was branched off it, and what a branch before one of its steps would begin with. Read
//! from the event log; a session without one has none of it.

use std::path::PathBuf;

/// How a branch came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// It goes its own way from a step.
    Fork,
    /// It is a recorded run with one thing changed.
    WhatIf,
}

/// A place where one session branched off another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    /// The other session's name: the parent's, or the branch's. Raw.
    pub session: String,
    /// The other session's directory.
    pub dir: PathBuf,
    /// Fork or what-if.
    pub kind: BranchKind,
    /// The root of the run that it branched in, which both sessions have.
    pub run_id: Option<String>,
    /// What a parent calls that run, where it is one of its completed queries: `Q2`.
    pub label: Option<String>,
    /// Before this step, as screens number it.
    pub step: u64,
}

/// A session's family: the one it branched off, and those that branched off it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// What it branched off.
    pub parent: Option<BranchPoint>,
    /// What branched off it, in the order of their making.
    pub branches: Vec<BranchPoint>,
    /// The storage directory that has them all.
    pub root: PathBuf,
}

impl Lineage {
    /// It stands alone.
    pub fn is_empty(&self) -> bool {
        self.parent.is_none() && self.branches.is_empty()
    }
}

/// What a branch before a step begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkPoint {
    /// The step's code as it ran; empty for a reply without code. Raw.
    pub code: String,
    /// The names that the step bound, each with its value then, as far as that is kept. Raw.
    pub bound: Vec<(String, String)>,
    /// Recorded steps after it.
    pub following: u64,
}
