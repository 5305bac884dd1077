//! The answer key of the recorded sessions.

use fast_rlm::text::{count, money, plural};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The sessions and what is known of them.
pub(crate) struct Sessions {
    root: PathBuf,
    facts: Value,
}

/// One session.
pub(crate) struct Session<'a> {
    pub(crate) name: &'a str,
    pub(crate) path: PathBuf,
    facts: &'a Value,
}

/// A query of the ledger, or a run that no query links.
pub(crate) struct Query<'a> {
    pub(crate) label: String,
    pub(crate) run: Option<&'a Value>,
}

impl Sessions {
    /// `None`, with a line that says so, where they are not installed. A directory that is named must be there.
    pub(crate) fn find() -> Option<Self> {
        let Some(root) = std::env::var_os("FAST_RLM_COMPAT_DIR").map(PathBuf::from) else {
            eprintln!("skipped: FAST_RLM_COMPAT_DIR is not set");
            return None;
        };
        let facts = std::fs::read_to_string(root.join("facts.json")).expect("facts.json beside the sessions");
        Some(Self {
            facts: serde_json::from_str(&facts).expect("facts.json is JSON"),
            root,
        })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Session<'_>> {
        let facts = self.facts.as_object().expect("an object");
        facts.iter().map(|(name, facts)| Session {
            name,
            path: self.root.join(Path::new(name)),
            facts,
        })
    }
}

impl<'a> Session<'a> {
    /// Completed queries with their names.
    pub(crate) fn queries(&self) -> Vec<Query<'a>> {
        let queries = self.facts["queries"].as_array().expect("queries");
        let query = |query: &'a Value| Query {
            label: format!("Q{}", query["n"]),
            run: Some(&query["run"]).filter(|run| run["all_steps"].is_u64()),
        };
        queries.iter().map(query).collect()
    }
}

impl Query<'_> {
    fn number(&self, key: &str) -> u64 {
        self.run.and_then(|run| run[key].as_u64()).unwrap_or(0)
    }

    pub(crate) fn all_steps(&self) -> usize {
        usize::try_from(self.number("all_steps")).expect("a count")
    }

    pub(crate) fn failed_steps(&self) -> usize {
        usize::try_from(self.number("failed_steps")).expect("a count")
    }

    fn cost(&self) -> String {
        let unknown = self.number("steps_without_cost");
        match (self.number("steps_with_cost"), unknown) {
            (0, 1..) => "unknown".into(),
            (_, 0) => money(self.number("cost_nano_usd").into()),
            _ => format!(
                "{} + {} unknown",
                money(self.number("cost_nano_usd").into()),
                count(unknown.into())
            ),
        }
    }

    /// What its card shows in a terminal of this width; the forms of narrow ones depend on what fits.
    pub(crate) fn card_figures(&self, width: u16) -> Vec<String> {
        if self.run.is_none() {
            return vec![self.label.clone()];
        }
        let (root, all, tokens) = (
            self.number("root_steps"),
            self.number("all_steps"),
            self.number("total_tokens"),
        );
        let more = if all > root {
            format!(" +{}", all - root)
        } else {
            String::new()
        };
        let mut figures = vec![self.label.clone(), self.cost()];
        if width >= 80 {
            figures.push(format!("{}{more}", plural(root.into(), "step", "steps")));
            figures.push(plural(tokens.into(), "token", "tokens"));
        }
        figures
    }

    /// What the info part shows while the run's root is selected.
    pub(crate) fn run_figures(&self) -> Vec<String> {
        vec![count(self.number("total_tokens").into()), self.cost()]
    }
}
