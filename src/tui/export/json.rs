//! JSON, as `docs/export-json.md` describes it. Agents of a run stand in one flat list, linked by number.

use super::Report;
use super::part::{AgentPart, FinalPart, Layout, MemoryPart, Part, ProblemPart, RunPart, SessionPart, StepPart};
use crate::model::{CostSum, FinalShape, Placement, ProblemKind, StepKind, Time, Totals, Usage};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{Result, Write};

/// Version of the schema.
const VERSION: u32 = 1;

/// The format; remembers which lists are open and which have items.
#[derive(Default)]
pub(super) struct Json {
    section: &'static str,
    /// Items in the open list, by level: sections, agents, steps.
    items: [bool; 3],
}

impl Layout for Json {
    const NESTED: bool = false;

    fn part(&mut self, part: &Part<'_>, out: &mut dyn Write) -> Result<()> {
        match part {
            Part::Session(part) => session(part, out),
            Part::Run(part) => {
                self.item("runs", out)?;
                open(out, &run(part), "agents")?;
                self.items = [true, false, false];
                Ok(())
            }
            Part::Agent(part) => {
                self.comma(1, out)?;
                open(out, &agent(part), "steps")?;
                self.items = [true, true, false];
                Ok(())
            }
            Part::Step(part) => {
                self.comma(2, out)?;
                put(out, &step(part))
            }
            Part::AgentEnd | Part::RunEnd => out.write_all(b"]}"),
            Part::Memory(part) => {
                self.item("memory", out)?;
                put(out, &memory(part))
            }
            Part::Problem(part) => {
                self.item("problems", out)?;
                put(out, &problem(part))
            }
            Part::End(report) => self.end(report, out),
        }
    }
}

impl Json {
    /// Begins an item of a top-level list, which is opened if need be.
    fn item(&mut self, section: &'static str, out: &mut dyn Write) -> Result<()> {
        if self.section == section {
            return self.comma(0, out);
        }
        let close = if self.section.is_empty() { "" } else { "]" };
        self.section = section;
        self.items = [true, false, false];
        write!(out, "{close},\n\"{section}\":[\n")
    }

    fn comma(&mut self, level: usize, out: &mut dyn Write) -> Result<()> {
        match self.items.get_mut(level).map(|filled| std::mem::replace(filled, true)) {
            Some(true) => out.write_all(b",\n"),
            _ => Ok(()),
        }
    }

    fn end(&mut self, report: &Report, out: &mut dyn Write) -> Result<()> {
        let close = if self.section.is_empty() { "" } else { "]" };
        let masked: Vec<_> = report
            .masked
            .iter()
            .map(|m| json!({"kind": m.kind.name(), "place": m.place, "count": m.count}))
            .collect();
        write!(out, "{close},\n\"masked\":{}}}\n", Value::from(masked))
    }
}

fn put(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

/// Writes an object without its closing brace, and opens one more list in it.
fn open(out: &mut dyn Write, value: &impl Serialize, list: &str) -> Result<()> {
    let text = serde_json::to_string(value)?;
    write!(out, "{},\"{list}\":[", text.strip_suffix('}').unwrap_or(&text))
}

fn session(part: &SessionPart<'_>, out: &mut dyn Write) -> Result<()> {
    let session = part.session;
    let head = json!({
        "name": part.name,
        "state_version": session.facts.version,
        "scope": if part.single { "run" } else { "session" },
        "completed": session.completed_count(),
        "without_final": session.queries.len() - session.completed_count(),
        "completed_totals": totals(&session.completed),
        "without_final_totals": totals(&session.lost),
    });
    write!(
        out,
        "{{\"format\":\"fast-rlm-export\",\"version\":{VERSION},\n\"session\":{head}"
    )
}

/// A run's own fields.
#[derive(Serialize)]
struct Run<'a> {
    label: String,
    query: &'a str,
    query_cut: bool,
    outcome: &'static str,
    outcome_text: &'a str,
    r#final: Answer<'a>,
    log_file: Option<&'a str>,
    started: Option<String>,
    totals: Value,
}

fn run<'a>(part: &'a RunPart<'_>) -> Run<'a> {
    Run {
        label: part.query.label.to_string(),
        query: &part.text,
        query_cut: part.query.text_cut,
        outcome: part.query.outcome.word(),
        outcome_text: &part.outcome,
        r#final: answer(&part.result),
        log_file: part.log_file.as_deref(),
        started: instant(part.query.started),
        totals: totals(&part.query.run.totals),
    }
}

/// An agent's own fields.
#[derive(Serialize)]
struct Agent<'a> {
    id: u32,
    run_id: &'a str,
    parent: Option<u32>,
    parent_step: Option<u64>,
    placement: &'static str,
    depth: u32,
    orphan: bool,
    task: &'a str,
    started: Option<String>,
    ended: Option<String>,
    r#final: Answer<'a>,
    own: Value,
    subtree: Value,
}

fn agent<'a>(part: &'a AgentPart<'_>) -> Agent<'a> {
    let agent = part.agent;
    Agent {
        id: part.id.0,
        run_id: &part.run_id,
        parent: agent.parent.map(|id| id.0),
        parent_step: agent.parent_step.map(|step| step as u64),
        placement: match agent.placement {
            Placement::Root => "root",
            Placement::Timed => "timed",
            Placement::Order => "order",
            Placement::Guess => "guess",
        },
        depth: agent.depth,
        orphan: agent.orphan,
        task: &part.task,
        started: instant(agent.started),
        ended: instant(agent.ended),
        r#final: answer(&part.result),
        own: totals(&agent.own()),
        subtree: totals(&agent.subtree),
    }
}

/// Its texts are not copied: they may be huge.
#[derive(Serialize)]
struct Step<'a> {
    number: u64,
    again: u32,
    probe: bool,
    failed: bool,
    code: &'a str,
    output: Option<&'a str>,
    reasoning: &'a str,
    unreadable: Option<&'a str>,
    usage: Option<Value>,
    cost_nano_usd: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_at_least_nano_usd: Option<i64>,
    call_start: Option<String>,
    call_end: Option<String>,
    execution_start: Option<String>,
    execution_end: Option<String>,
}

fn step<'a>(part: &'a StepPart<'_>) -> Step<'a> {
    let step = part.step;
    Step {
        number: step.number,
        again: step.again,
        probe: step.kind == StepKind::Probe,
        failed: step.failed,
        code: &part.code,
        output: step.executed.then_some(&part.output),
        reasoning: &part.reasoning,
        unreadable: part.unreadable.as_deref(),
        usage: step.usage_known.then(|| usage(&step.usage)),
        cost_nano_usd: step.cost.whole(),
        cost_at_least_nano_usd: step.cost.part(),
        call_start: instant(step.timings.call_start),
        call_end: instant(step.timings.call_end),
        execution_start: instant(step.timings.exec_start),
        execution_end: instant(step.timings.exec_end),
    }
}

fn memory(part: &MemoryPart<'_>) -> Value {
    let entry = part.entry;
    json!({
        "name": part.name,
        "kind": match entry.kind {
            crate::model::MemoryKind::Variable => "variable",
            crate::model::MemoryKind::Function => "function",
            crate::model::MemoryKind::Dropped => "dropped",
        },
        "type": part.type_name,
        "text": part.text,
        "comment": part.comment,
        "note": part.note,
        "committed": entry.committed,
        "bound": entry.bound.map(|bound| json!({"run": bound.label.to_string(), "step": bound.step})),
    })
}

fn problem(part: &ProblemPart<'_>) -> Value {
    json!({
        "kind": match part.problem.kind {
            ProblemKind::Unreadable => "unreadable",
            ProblemKind::Incomplete => "incomplete",
            ProblemKind::Repaired => "repaired",
            ProblemKind::Number => "number",
            ProblemKind::MovedLog => "moved_log",
            ProblemKind::MissingLog => "missing_log",
            ProblemKind::UnknownEvent => "unknown_event",
            ProblemKind::Clock => "clock",
            ProblemKind::Structure => "structure",
            ProblemKind::State => "state",
            ProblemKind::Notice => "notice",
        },
        "path": part.path,
        "line": part.problem.line,
        "byte": part.problem.byte,
        "what": part.what,
    })
}

/// A FINAL: what it is, and its value where it has one.
#[derive(Serialize)]
struct Answer<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<AnswerValue<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnswerValue<'a> {
    Text(&'a str),
    Json(&'a RawValue),
}

/// Values other than strings are embedded as the JSON they are, unless masking or damage left none.
fn answer(result: &FinalPart) -> Answer<'_> {
    let (kind, text) = match result {
        FinalPart::Unset => ("unset", None),
        FinalPart::None => ("none", None),
        FinalPart::Null => ("null", None),
        FinalPart::Value(shape, text) => (shape_name(*shape), Some(text.as_str())),
    };
    let embedded = |text| {
        // What is nested too deeply to be read is text for those who read this, too.
        match kind {
            "text" | "raw" => None,
            _ => serde_json::from_str::<&RawValue>(text).ok(),
        }
    };
    let value = text.map(|text| embedded(text).map_or(AnswerValue::Text(text), AnswerValue::Json));
    Answer { kind, value }
}

fn shape_name(shape: FinalShape) -> &'static str {
    match shape {
        FinalShape::Text => "text",
        FinalShape::Number => "number",
        FinalShape::Bool => "bool",
        FinalShape::List => "list",
        FinalShape::Object => "object",
        FinalShape::Raw => "raw",
    }
}

fn totals(totals: &Totals) -> Value {
    json!({
        "steps": totals.steps,
        "failed": totals.failed,
        "agents": totals.agents,
        "usage": totals.tokens_known().then(|| usage(&totals.usage)),
        "cost": cost_sum(&totals.cost),
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
        "cached_tokens": usage.cached,
        "reasoning_tokens": usage.reasoning,
    })
}

fn cost_sum(sum: &CostSum) -> Value {
    let nano = i64::try_from(sum.nano).unwrap_or(if sum.nano < 0 { i64::MIN } else { i64::MAX });
    json!({"nano_usd": nano, "steps_with_cost": sum.known, "steps_without_cost": sum.unknown})
}

/// An instant as RFC 3339, UTC.
fn instant(at: Option<Time>) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(at?).ok()?;
    Some(format!("{at:.3}"))
}
