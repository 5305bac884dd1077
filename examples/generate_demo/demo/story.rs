//! The story as it was written: one TOML file a run, read into plain structures.

use super::Error;
use serde::Deserialize;
use serde_json::Value;

const LOGBOOK: &str = include_str!("../story/logbook.txt");

const RUNS: [&str; 8] = [
    include_str!("../story/01_winter.toml"),
    include_str!("../story/02_dark.toml"),
    include_str!("../story/03_life.toml"),
    include_str!("../story/04_glass.toml"),
    include_str!("../story/05_letter.toml"),
    include_str!("../story/06_ships.toml"),
    include_str!("../story/07_knocking.toml"),
    include_str!("../story/08_board.toml"),
];

/// What is known of a call's cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pricing {
    /// By the price table of `usage.rs`.
    #[default]
    Priced,
    /// A model that costs nothing.
    Zero,
    /// The provider reported none.
    Unknown,
}

/// How an agent ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    /// With FINAL.
    #[default]
    Final,
    /// A limit stopped it.
    Limit,
    /// Its process was killed.
    Interrupted,
}

/// One query and its run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The query's text.
    pub(crate) query: String,
    /// When it started, RFC 3339.
    start: String,
    /// Cost of its calls, unless an agent or step says otherwise.
    #[serde(default)]
    pub(crate) cost: Pricing,
    /// How it ended.
    #[serde(default)]
    pub(crate) outcome: Ending,
    /// The limit that stopped it.
    pub(crate) limit: Option<String>,
    /// The error it ended with.
    pub(crate) error: Option<String>,
    /// FINAL, as JSON.
    #[serde(rename = "final")]
    result: Option<String>,
    /// The root's steps.
    pub(crate) step: Vec<Step>,
}

/// One step: a reply of the model, and what came of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The model's reasoning.
    pub(crate) reasoning: Option<String>,
    /// The code; empty where the model wrote none.
    pub(crate) code: String,
    /// What it printed; absent for a step that called FINAL.
    pub(crate) output: Option<String>,
    /// It raised.
    #[serde(default)]
    pub(crate) failed: bool,
    /// The process was killed inside it: its line was never written.
    #[serde(default)]
    pub(crate) lost: bool,
    /// Overrides the agent's.
    pub(crate) cost: Option<Pricing>,
    /// Milliseconds the model took.
    pub(crate) call_ms: i64,
    /// Milliseconds its code took, without waiting for sub-agents.
    #[serde(default)]
    pub(crate) exec_ms: i64,
    /// The sub-agents it started.
    #[serde(default)]
    pub(crate) agent: Vec<SubAgent>,
}

/// A sub-agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubAgent {
    /// What it was given, as JSON.
    context: String,
    /// The schema its FINAL must meet, as JSON.
    pub(crate) schema: Option<String>,
    /// FINAL, as JSON.
    #[serde(rename = "final")]
    result: Option<String>,
    /// Milliseconds after its step began to execute.
    pub(crate) start_ms: i64,
    /// Overrides the parent's.
    pub(crate) cost: Option<Pricing>,
    /// How it ended.
    #[serde(default)]
    pub(crate) outcome: Ending,
    /// Its steps.
    pub(crate) step: Vec<Step>,
}

impl Run {
    /// When it started, in unix milliseconds.
    pub(crate) fn started(&self) -> Result<i64, Error> {
        Ok(self.start.parse::<jiff::Timestamp>()?.as_millisecond())
    }

    /// Its FINAL.
    pub(crate) fn result(&self) -> Result<Option<Value>, Error> {
        parse(self.result.as_deref())
    }

    /// Its transcript, relative to the session.
    pub(crate) fn log_file(&self) -> Result<String, Error> {
        Ok(format!(
            "logs/run_{}.jsonl",
            instant(self.started()?)?.replace([':', '.'], "-")
        ))
    }
}

impl SubAgent {
    /// What it was given.
    pub(crate) fn context(&self) -> Result<Value, Error> {
        Ok(serde_json::from_str(&self.context)?)
    }

    /// Its FINAL.
    pub(crate) fn result(&self) -> Result<Option<Value>, Error> {
        parse(self.result.as_deref())
    }
}

fn parse(json: Option<&str>) -> Result<Option<Value>, Error> {
    Ok(json.map(serde_json::from_str).transpose()?)
}

/// Every run of the story, in time order.
pub(crate) fn runs() -> Result<Vec<Run>, Error> {
    RUNS.iter()
        .map(|text| {
            let mut run: Run = toml::from_str(text)?;
            run.query = run.query.replace("{logbook}", LOGBOOK);
            Ok(run)
        })
        .collect()
}

/// An instant as transcripts write it: `2026-03-14T18:41:07.312Z`.
pub(crate) fn instant(unix_ms: i64) -> Result<String, Error> {
    Ok(format!("{:.3}", jiff::Timestamp::from_millisecond(unix_ms)?))
}
