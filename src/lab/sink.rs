//! Telling a caller what happens while a recorded run is run again.

use super::replay::Mismatch;
use crate::engine::RunEvent;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum LabEvent {
    /// A recorded step is about to be run again.
    StepReplaying {
        /// Its turn, 0-based.
        turn: u32,
        /// Its number in it, 0-based.
        step: u32,
    },
    /// It was run again.
    StepReplayed {
        /// Its turn, 0-based.
        turn: u32,
        /// Its number in it, 0-based.
        step: u32,
        /// What came out differently; `None` when it did as recorded.
        mismatch: Option<Mismatch>,
    },
    /// A tail that runs live.
    Live(RunEvent),
}

/// Takes what happens, as it happens. Every `FnMut(LabEvent) + Send` is one; [`NoSink`] takes nothing.
pub trait AgentSink: Send {
    /// Takes one event. Must not block.
    fn event(&mut self, event: LabEvent);
}

impl<F: FnMut(LabEvent) + Send> AgentSink for F {
    fn event(&mut self, event: LabEvent) {
        self(event);
    }
}

/// Nobody is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl AgentSink for NoSink {
    fn event(&mut self, _event: LabEvent) {}
}
