//! A fork as it is ordered from a screen, and what is told of it. Plain data, in builds without an engine, too.

use super::order::Told;
use crate::model::CostSum;
use crate::tui::effect::Token;
use crate::tui::widgets::prompt::Settings;
use serde_json::Value;
use std::path::PathBuf;

/// What is done otherwise from a step on.
#[derive(Clone, Debug, PartialEq)]
pub enum Divergence {
    /// These values are bound in place of the step.
    Inject(Vec<(String, Value)>),
    /// The step's code is this instead.
    Edit(String),
    /// The model goes on, told this besides.
    Replan(String),
}

/// Where a fork branches off, and how it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkRequest {
    /// The root of the run.
    pub run_id: String,
    /// The run's name on screens: `Q2`.
    pub label: String,
    /// Before this step, as screens number it.
    pub step: u64,
    /// How it goes on.
    pub divergence: Divergence,
}

/// A request with everything that it is done with.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkOrder {
    /// Of this fork: what is told with another one is late.
    pub token: Token,
    /// What.
    pub request: ForkRequest,
    /// Model and limits.
    pub settings: Settings,
}

/// News of a fork.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkTold {
    /// Its session is there.
    Made {
        /// Its name.
        id: String,
        /// Its directory.
        dir: PathBuf,
    },
    /// What a run tells.
    Run(Told),
    /// It ended: everything is on disk.
    Ended(ForkEnding),
}

/// How a fork ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkEnding {
    /// With this FINAL.
    Answered {
        /// As text. Raw.
        text: String,
        /// What it cost.
        cost: CostSum,
    },
    /// It waits for the answer to this question.
    Parked(String),
    /// A person stopped it.
    Cancelled,
    /// Its tail could not go on, or a limit stopped it; it is kept.
    Halted(String),
    /// It was not made: nothing was changed.
    Refused(String),
}
