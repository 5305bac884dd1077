//! A run: its agents with their steps, and what they come to.

use crate::model::{Agent, Cost, CostSum, Final, FinalShape, Placement, Run, Step, StepKind, Totals, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

/// A run's figures and agents.
#[derive(Serialize)]
pub(super) struct RunFacts<'a> {
    /// Lines of its transcript that were read.
    events: u64,
    unreadable_lines: u64,
    agents: usize,
    roots: usize,
    max_depth: u32,
    root_steps: u64,
    root_run_id: Option<&'a str>,
    #[serde(flatten)]
    totals: TotalFacts,
    tree: Vec<AgentFacts<'a>>,
}

impl<'a> RunFacts<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        let root = run.root();
        Self {
            events: run.lines,
            unreadable_lines: run.unreadable,
            agents: run.agents.len(),
            roots: run.roots.len(),
            max_depth: run.max_depth,
            root_steps: run.root_steps(),
            root_run_id: root.map(|root| root.run_id.as_str()),
            totals: TotalFacts::of(&run.totals),
            tree: run.agents.iter().map(|agent| AgentFacts::of(run, agent)).collect(),
        }
    }
}

/// Sums; a cost is exact nano-dollars, with the steps that reported none beside it.
#[derive(Serialize)]
pub(super) struct TotalFacts {
    steps: u64,
    failed_steps: u64,
    /// Nothing where there were calls, and no transcript says of any how many.
    tokens: Option<TokenFacts>,
    cost_nano_usd: i128,
    steps_with_cost: u64,
    /// Steps whose transcript says nothing of a cost.
    steps_without_cost: u64,
    /// Steps known from `code_log` alone: nothing is known of their tokens and cost.
    steps_without_transcript: u64,
}

impl TotalFacts {
    pub(super) fn of(totals: &Totals) -> Self {
        let CostSum { nano, known, unknown } = totals.cost;
        Self {
            steps: totals.steps,
            failed_steps: totals.failed,
            tokens: totals.tokens_known().then(|| TokenFacts::of(&totals.usage)),
            cost_nano_usd: nano,
            steps_with_cost: known,
            steps_without_cost: unknown.saturating_sub(totals.bare),
            steps_without_transcript: totals.bare,
        }
    }
}

#[derive(Serialize)]
struct TokenFacts {
    total: u64,
    prompt: u64,
    completion: u64,
    cached: u64,
    reasoning: u64,
}

impl TokenFacts {
    fn of(usage: &Usage) -> Self {
        Self {
            total: usage.total,
            prompt: usage.prompt,
            completion: usage.completion,
            cached: usage.cached,
            reasoning: usage.reasoning,
        }
    }
}

#[derive(Serialize)]
struct AgentFacts<'a> {
    run_id: &'a str,
    /// Its parent's place in `tree`.
    parent: Option<u32>,
    parent_run_id: Option<&'a str>,
    /// The step of its parent that spawned it.
    parent_step: Option<usize>,
    placed_by: &'static str,
    orphan: bool,
    depth: u32,
    task: &'a str,
    #[serde(flatten)]
    result: FinalFacts,
    started: Option<String>,
    ended: Option<String>,
    steps: Vec<StepFacts>,
}

impl<'a> AgentFacts<'a> {
    fn of(run: &'a Run, agent: &'a Agent) -> Self {
        Self {
            run_id: &agent.run_id,
            parent: agent.parent.map(|parent| parent.0),
            parent_run_id: run.parent_run_id(agent),
            parent_step: agent.parent_step,
            placed_by: placed_by(agent.placement),
            orphan: agent.orphan,
            depth: agent.depth,
            task: &agent.task,
            result: FinalFacts::of(&agent.result),
            started: agent.started.map(iso),
            ended: agent.ended.map(iso),
            steps: agent.steps.iter().map(StepFacts::of).collect(),
        }
    }
}

fn placed_by(placement: Placement) -> &'static str {
    match placement {
        Placement::Root => "root",
        Placement::Timed => "time",
        Placement::Order => "order",
        Placement::Guess => "guess",
    }
}

#[derive(Serialize)]
struct StepFacts {
    step: u64,
    kind: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    again: u32,
    failed: bool,
    output_recorded: bool,
    tokens: Option<TokenFacts>,
    cost_nano_usd: Option<i64>,
    /// Of a cost that is not known as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_at_least_nano_usd: Option<i64>,
    time: Option<String>,
}

fn is_zero(again: &u32) -> bool {
    *again == 0
}

impl StepFacts {
    fn of(step: &Step) -> Self {
        let (kind, counted) = match step.kind {
            StepKind::Probe => ("probe", false),
            StepKind::Reply | StepKind::InFlight => ("reply", true),
        };
        let cost = if counted { step.cost } else { Cost::Unknown };
        Self {
            step: step.number,
            kind,
            again: step.again,
            failed: step.failed,
            output_recorded: step.executed,
            tokens: (counted && step.usage_known).then(|| TokenFacts::of(&step.usage)),
            cost_nano_usd: cost.whole(),
            cost_at_least_nano_usd: cost.part(),
            time: step.time.map(iso),
        }
    }
}

/// FINAL: `final` is absent unless there is a value or a recorded null; `final_state` tells these apart.
#[derive(Serialize)]
pub(super) struct FinalFacts {
    final_state: &'static str,
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
}

impl FinalFacts {
    pub(super) fn of(result: &Final) -> Self {
        let (final_state, value) = match result {
            Final::Unset => ("unset", None),
            Final::None => ("none", None),
            Final::Null => ("null", Some("null".to_owned())),
            Final::Value { shape, text } => match shape {
                FinalShape::Text => ("value", serde_json::to_string(text).ok()),
                // Too deep or damaged to be a value here: its text, as a string.
                FinalShape::Raw => ("raw", serde_json::to_string(text).ok()),
                _ => ("value", Some(text.clone())),
            },
        };
        Self {
            final_state,
            value: value.and_then(|json| RawValue::from_string(json).ok()),
        }
    }
}

/// An instant in UTC.
pub(super) fn iso(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|at| format!("{at:.3}"))
        .unwrap_or_default()
}
