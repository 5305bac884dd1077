//! Groups of tools that stay hidden until something was observed, and are shown from then on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The kind of observations that show groups.
pub const KIND_SIGNAL: &str = "signal";

/// Something that was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Its kind: [`KIND_SIGNAL`] for what shows groups.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// What else is to be said of it.
    #[serde(default)]
    pub data: Value,
}

impl Observation {
    /// A signal.
    pub fn signal(name: impl Into<String>) -> Self {
        Self {
            kind: KIND_SIGNAL.into(),
            name: name.into(),
            data: Value::Null,
        }
    }
}

/// Which observations show a group: signals of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalMatch {
    /// The signal's name.
    pub name: String,
}

impl SignalMatch {
    /// Signals of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }

    /// Whether this is one.
    pub fn matches(&self, observation: &Observation) -> bool {
        observation.kind == KIND_SIGNAL && observation.name == self.name
    }
}

/// Tools that are hidden until a signal is observed. Once shown in a session, they stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGroup {
    /// The group's name.
    pub name: String,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// What shows it.
    pub signal: SignalMatch,
}

impl ToolGroup {
    /// A group of tools.
    pub fn new(name: impl Into<String>, tools: &[&str], signal: SignalMatch) -> Self {
        Self {
            name: name.into(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            signal,
        }
    }
}

/// The groups of a query, and which of them are shown.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<ToolGroup>,
    shown: Mutex<BTreeSet<String>>,
}

impl Groups {
    /// Shown are those that `observed` shows.
    pub(super) fn new(groups: &[ToolGroup], observed: &[Observation]) -> Self {
        let new = Self {
            groups: groups.to_vec(),
            shown: Mutex::default(),
        };
        observed.iter().for_each(|observation| drop(new.observe(observation)));
        new
    }

    /// Takes an observation; the tools that it shows.
    pub(super) fn observe(&self, observation: &Observation) -> Vec<String> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = self.groups.iter().filter(|group| group.signal.matches(observation));
        let new = ours.filter(|group| shown.insert(group.name.clone()));
        new.flat_map(|group| group.tools.iter().cloned()).collect()
    }

    /// Whether a tool is hidden: it is in a group, and none of its groups is shown.
    pub(super) fn hides(&self, tool: &str) -> bool {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = self
            .groups
            .iter()
            .filter(|group| group.tools.iter().any(|name| name == tool))
            .peekable();
        own.peek().is_some() && own.all(|group| !shown.contains(&group.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_shown_by_their_signal_and_stay() {
        let group = ToolGroup::new("sea", &["chart", "log"], SignalMatch::named("afloat"));
        let groups = Groups::new(&[group], &[Observation::signal("ashore")]);
        assert!(groups.hides("chart") && !groups.hides("lamp"));
        let other = Observation {
            kind: "note".into(),
            ..Observation::signal("afloat")
        };
        assert!(groups.observe(&other).is_empty());
        assert_eq!(groups.observe(&Observation::signal("afloat")), ["chart", "log"]);
        assert!(groups.observe(&Observation::signal("afloat")).is_empty());
        assert!(!groups.hides("log"));
    }
}
