//! A run's transcript: its agents laid out on the clock, and the lines they would have written.

use super::story::{Ending, Pricing, Run, Step, SubAgent, instant};
use super::usage::Conversation;
use super::{Error, probe, state};
use serde_json::{Map, Value, json};

/// Milliseconds between an agent's start and its probe, and from a step's end to its line.
const START_UP: i64 = 13;
const WRITE: i64 = 2;

/// The transcript of `run`, one JSON object a line, in the order of writing.
pub(crate) fn write(run: &Run) -> Result<String, Error> {
    let mut lines = Vec::new();
    let root = Agent {
        id: run_id(run.started()?, 0),
        parent: None,
        depth: 0,
        pricing: run.cost,
        probe: probe::root(&run.query, &state::restored_before(run)?),
        steps: &run.step,
        result: run.result()?,
        end: end(run.outcome, run.limit.as_deref(), run.error.as_deref()),
    };
    root.lay_out(run.started()?, &mut lines)?;
    lines.sort_by_key(|(at, _)| *at);
    let mut text = String::new();
    for (_, line) in lines {
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
    }
    Ok(text)
}

/// The root's run id, as the ledger has it.
pub(crate) fn root_id(run: &Run) -> Result<String, Error> {
    Ok(run_id(run.started()?, 0))
}

/// Opaque, and the same every time: the instant, and nine characters from a hash of it.
fn run_id(started: i64, salt: usize) -> String {
    let mut hash = (started as u64 ^ (salt as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut tail = String::new();
    for _ in 0..9 {
        hash = (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        tail.extend(char::from_digit((hash >> 40) as u32 % 36, 36));
    }
    format!("{started}-{tail}")
}

fn end(outcome: Ending, limit: Option<&str>, error: Option<&str>) -> Option<Value> {
    match outcome {
        Ending::Final => Some(json!({"outcome": "ok"})),
        Ending::Limit => Some(json!({"outcome": "limit", "limit": limit, "error": error})),
        Ending::Interrupted => None,
    }
}

/// The fields of an object.
fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Lines with the instant of their writing.
type Lines = Vec<(i64, Value)>;

struct Agent<'a> {
    id: String,
    parent: Option<&'a str>,
    depth: u32,
    pricing: Pricing,
    probe: String,
    steps: &'a [Step],
    result: Option<Value>,
    end: Option<Value>,
}

impl Agent<'_> {
    /// Writes every line of this agent and its sub-agents, and returns when it ended.
    fn lay_out(&self, start: i64, lines: &mut Lines) -> Result<i64, Error> {
        self.line(lines, start, "agent_start", json!({}))?;
        let mut now = start + START_UP;
        let timings = json!({"execution_start": instant(now)?, "execution_end": instant(now + 6)?});
        now += 6;
        let zero = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0});
        let shown = json!({"step": 0, "code": probe::CODE, "output": self.probe, "hasError": false, "usage": zero, "timestamps": timings});
        self.line(lines, now, "execution_result", shown)?;
        let mut conversation = Conversation::open(&self.probe);
        for (number, step) in (1..).zip(self.steps) {
            now = self.step(number, step, now, &mut conversation, lines)?;
            if step.lost {
                return Ok(now);
            }
        }
        if let Some(result) = &self.result {
            self.line(lines, now, "final_result", json!({"result": result}))?;
        }
        if let Some(end) = &self.end {
            self.line(lines, now, "agent_end", end.clone())?;
        }
        Ok(now)
    }

    /// One step from `now` on: its sub-agents' lines, then its own. Returns when its line was written.
    fn step(
        &self,
        number: u64,
        step: &Step,
        now: i64,
        talk: &mut Conversation,
        lines: &mut Lines,
    ) -> Result<i64, Error> {
        let called = now + step.call_ms;
        let mut timings = fields(json!({"llm_call_start": instant(now)?, "llm_call_end": instant(called)?}));
        let mut body = fields(json!({"step": number, "code": step.code.trim_end()}));
        let mut ended = called;
        if !step.code.is_empty() {
            let began = called + 1;
            ended = began + step.exec_ms;
            for (place, child) in step.agent.iter().enumerate() {
                let salt = number as usize * 64 + place + 1;
                ended = ended.max(self.child(child, began + child.start_ms, salt, lines)? + WRITE);
            }
            timings.insert("execution_start".into(), json!(instant(began)?));
            timings.insert("execution_end".into(), json!(instant(ended)?));
        }
        if step.lost {
            return Ok(ended);
        }
        if let Some(output) = &step.output {
            body.insert("output".into(), json!(output.trim_end_matches('\n')));
            body.insert("hasError".into(), json!(step.failed));
        }
        if let Some(reasoning) = &step.reasoning {
            body.insert("reasoning".into(), json!(reasoning));
        }
        body.insert("usage".into(), talk.call(step, step.cost.unwrap_or(self.pricing)));
        body.insert("timestamps".into(), Value::Object(timings));
        let kind = if step.output.is_some() {
            "execution_result"
        } else {
            "code_generated"
        };
        self.line(lines, ended + WRITE, kind, Value::Object(body))?;
        Ok(ended + WRITE)
    }

    fn child(&self, child: &SubAgent, start: i64, salt: usize, lines: &mut Lines) -> Result<i64, Error> {
        let agent = Agent {
            id: run_id(start, salt),
            parent: Some(&self.id),
            depth: self.depth + 1,
            pricing: child.cost.unwrap_or(self.pricing),
            probe: probe::sub_agent(&child.context()?, child.schema.as_deref()),
            steps: &child.step,
            result: child.result()?,
            end: end(child.outcome, None, None),
        };
        agent.lay_out(start, lines)
    }

    /// Appends one line: the fields that all lines have, then `body`'s.
    fn line(&self, lines: &mut Lines, at: i64, event_type: &str, body: Value) -> Result<(), Error> {
        let mut line = fields(json!({"level": 30, "time": instant(at)?, "run_id": self.id}));
        if let Some(parent) = self.parent {
            line.insert("parent_run_id".into(), json!(parent));
        }
        line.insert("depth".into(), json!(self.depth));
        line.insert("event_type".into(), json!(event_type));
        line.extend(fields(body));
        lines.push((at, Value::Object(line)));
        Ok(())
    }
}
