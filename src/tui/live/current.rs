//! What the machine knows of the run that goes on.

use super::money::Spent;
use super::order::Order;
use super::words::Out;
use crate::model::{CallState, LiveEvent, LiveNews, Time};
use crate::tui::widgets::prompt::Question;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// What is known of the run that goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Current {
    pub(super) order: Option<Order>,
    pub(super) since: Duration,
    /// It goes on with the question that the session waited with.
    pub(super) resumes: bool,
    pub(super) preparing: Option<String>,
    pub(super) root: Option<String>,
    pub(super) step: u64,
    /// How far the root's reply is.
    pub(super) call: CallState,
    pub(super) helpers: HashSet<String>,
    /// The root's code runs.
    pub(super) running: bool,
    pub(super) questions: VecDeque<Question>,
    pub(super) spent: Spent,
    /// Nano-dollars that it may spend.
    pub(super) limit: i64,
    pub(super) warned: bool,
}

impl Current {
    /// Takes note of news of one of its agents.
    pub(super) fn note(&mut self, run_id: &str, is_root: bool, news: &LiveNews) {
        match news {
            LiveNews::Started(_) if is_root => self.root = Some(run_id.to_owned()),
            LiveNews::Started(_) => drop(self.helpers.insert(run_id.to_owned())),
            LiveNews::Ended if !is_root => drop(self.helpers.remove(run_id)),
            LiveNews::Calling(step) if is_root => {
                (self.step, self.running, self.call) = (*step, false, CallState::Waits);
            }
            LiveNews::Reasoning(text) if is_root && !text.is_empty() => self.call = self.call.max(CallState::Thinks),
            LiveNews::Text(text) if is_root && !text.is_empty() => self.call = CallState::Writes,
            LiveNews::Replied { usage, cost, .. } => {
                self.running |= is_root;
                self.spent.add(usage.map_or(0, |usage| usage.total), *cost);
            }
            _ => {}
        }
    }

    /// The root waits for a person, or not any more.
    pub(super) fn asks(&self, asks: bool, time: Time) -> Option<Out> {
        let event = LiveEvent::Agent {
            run_id: self.root.clone()?,
            parent: None,
            time,
            news: LiveNews::Asks(asks),
        };
        Some(Out::Live(event))
    }
}
