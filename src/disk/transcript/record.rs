//! One record of a transcript: from its JSON to its header.

use crate::disk::final_value::read_final;
use crate::disk::json::{Fault, Input, Repairs, Scanner, Value};
use crate::disk::lenient::{self, Taken};
use crate::model::{AgentEnd, Cost, Final, LineKind, StepLine, Time, Timings, Usage, code_digest};

use super::task::task_of_probe;

/// Bytes of ids and other short texts that are kept.
const SHORT_CAP: usize = 16 << 10;
/// Bytes of code that are told apart by their digest.
const CODE_CAP: usize = 32 << 20;
/// Bytes of a probe's output in which the task is looked for.
const PROBE_CAP: usize = 8 << 10;
/// Bytes of a FINAL that are kept with the header.
const FINAL_CAP: usize = 4 << 20;
/// Oddities of one record that are told.
const MOST_ODDITIES: usize = 4;

/// Something in a record that is not as it should be, and was taken all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Oddity {
    /// Offset in the file.
    pub(crate) byte: u64,
    /// What, and what was done about it.
    pub(crate) what: String,
}

/// A record's header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) run_id: String,
    pub(crate) parent: Option<String>,
    pub(crate) depth: u32,
    pub(crate) time: Option<Time>,
    pub(crate) kind: LineKind,
    pub(crate) oddities: Vec<Oddity>,
    pub(crate) repairs: Repairs,
}

/// Keys as they come in.
#[derive(Default)]
struct Fields {
    event: Option<String>,
    run_id: Option<String>,
    parent: Option<String>,
    depth: u64,
    time: Option<Time>,
    step: Option<u64>,
    failed: bool,
    usage: Option<Usage>,
    cost: Cost,
    timings: Timings,
    digest: u64,
    no_code: bool,
    probe: Option<String>,
    /// Usage of guard calls that the step caused (ours).
    guard: Option<(Usage, Cost)>,
    result: Option<Final>,
    end: AgentEnd,
    oddities: Vec<Oddity>,
}

/// Reads one record; `None` for an object that is none, having neither a type nor a run.
pub(crate) fn read_record<I: Input>(scanner: &mut Scanner<I>) -> Result<Option<Record>, Fault> {
    scanner.repairs = Repairs::default();
    let mut fields = Fields {
        no_code: true,
        ..Fields::default()
    };
    scanner.object(|scanner, key| fields.take(scanner, key))?;
    if fields.event.is_none() && fields.run_id.is_none() {
        return Ok(None);
    }
    Ok(Some(fields.into_record(scanner.repairs)))
}

impl Fields {
    fn take<I: Input>(&mut self, scanner: &mut Scanner<I>, key: &str) -> Result<(), Fault> {
        let byte = scanner.position();
        match key {
            "event_type" => self.event = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            "run_id" => self.run_id = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            "parent_run_id" => self.parent = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            "depth" => {
                self.depth = self
                    .note(byte, key, lenient::count(scanner.value(SHORT_CAP)?))
                    .unwrap_or(0)
            }
            "time" => self.time = self.note(byte, key, lenient::instant(scanner.value(SHORT_CAP)?)),
            "step" => self.step = self.note(byte, key, lenient::count(scanner.value(SHORT_CAP)?)),
            "hasError" => self.failed = self.note(byte, key, lenient::flag(scanner.value(SHORT_CAP)?)),
            "code" => self.take_code(scanner)?,
            "output" => self.take_output(scanner)?,
            "usage" => {
                if let Some((usage, cost)) = self.take_usage(scanner)? {
                    (self.usage, self.cost) = (Some(usage), cost);
                }
            }
            "guard" => self.guard = self.take_usage(scanner)?,
            "unanswered" => self.end.unanswered = Vec::from_iter(self.take_usage(scanner)?),
            "timestamps" => self.take_timings(scanner)?,
            "result" => self.result = Some(read_final(scanner, FINAL_CAP)?),
            "outcome" => self.end.outcome = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            "error" => self.end.error = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            "limit" => self.end.limit = self.note(byte, key, lenient::text(scanner.value(SHORT_CAP)?)),
            _ => scanner.skip()?,
        }
        Ok(())
    }

    fn note<T>(&mut self, byte: u64, key: &str, taken: Taken<T>) -> T {
        if let Some(odd) = taken.odd.filter(|_| self.oddities.len() < MOST_ODDITIES) {
            self.oddities.push(Oddity {
                byte,
                what: format!("{key} is {odd}"),
            });
        }
        taken.value
    }

    fn take_code<I: Input>(&mut self, scanner: &mut Scanner<I>) -> Result<(), Fault> {
        match scanner.value(CODE_CAP)? {
            Value::Text(code) => {
                self.digest = code_digest(code);
                self.no_code = code.trim().is_empty();
            }
            _ => self.no_code = true,
        }
        Ok(())
    }

    /// Of outputs only a probe's is looked into; most writers put the step's number before.
    fn take_output<I: Input>(&mut self, scanner: &mut Scanner<I>) -> Result<(), Fault> {
        if self.step.is_some_and(|step| step > 0) {
            return scanner.skip();
        }
        if let Value::Text(output) = scanner.value(PROBE_CAP)? {
            self.probe = Some(output.to_owned());
        }
        Ok(())
    }

    fn take_usage<I: Input>(&mut self, scanner: &mut Scanner<I>) -> Result<Option<(Usage, Cost)>, Fault> {
        if scanner.peek()? != Some(b'{') {
            return scanner.skip().map(|()| None);
        }
        let (mut usage, mut total) = (Usage::default(), None);
        let (mut cost, mut at_least) = (Cost::Unknown, Cost::Unknown);
        scanner.object(|scanner, key| {
            let byte = scanner.position();
            let place = match key {
                "prompt_tokens" => &mut usage.prompt,
                "completion_tokens" => &mut usage.completion,
                "cached_tokens" => &mut usage.cached,
                "reasoning_tokens" => &mut usage.reasoning,
                "total_tokens" => {
                    total = self.note(byte, key, lenient::count(scanner.value(SHORT_CAP)?));
                    return Ok(());
                }
                "cost" | "cost_at_least" => {
                    let place = if key == "cost" { &mut cost } else { &mut at_least };
                    *place = self.note(byte, key, lenient::cost(scanner.value(SHORT_CAP)?));
                    return Ok(());
                }
                _ => return scanner.skip(),
            };
            *place = self
                .note(byte, key, lenient::count(scanner.value(SHORT_CAP)?))
                .unwrap_or(0);
            Ok(())
        })?;
        usage.total = total.unwrap_or_else(|| usage.prompt.saturating_add(usage.completion));
        let cost = match (cost, at_least) {
            (Cost::Unknown, Cost::Known(part)) => Cost::of_part(part),
            (cost, _) => cost,
        };
        Ok(Some((usage, cost)))
    }

    fn take_timings<I: Input>(&mut self, scanner: &mut Scanner<I>) -> Result<(), Fault> {
        if scanner.peek()? != Some(b'{') {
            return scanner.skip();
        }
        let mut timings = Timings::default();
        scanner.object(|scanner, key| {
            let byte = scanner.position();
            let place = match key {
                "llm_call_start" => &mut timings.call_start,
                "llm_call_end" => &mut timings.call_end,
                "execution_start" => &mut timings.exec_start,
                "execution_end" => &mut timings.exec_end,
                _ => return scanner.skip(),
            };
            *place = self.note(byte, key, lenient::instant(scanner.value(SHORT_CAP)?));
            Ok(())
        })?;
        self.timings = timings;
        Ok(())
    }

    fn into_record(mut self, repairs: Repairs) -> Record {
        let run_id = self.run_id.take().unwrap_or_default();
        let parent = self.parent.take().filter(|parent| !parent.is_empty());
        let depth = u32::try_from(self.depth).unwrap_or(u32::MAX);
        let event = self.event.take().unwrap_or_default();
        self.add_guard();
        let kind = match event.as_str() {
            "agent_start" => LineKind::Start,
            "agent_end" => LineKind::End(std::mem::take(&mut self.end)),
            "final_result" => LineKind::Final(self.result.take().unwrap_or(Final::None)),
            "execution_result" | "code_generated" => LineKind::Step(self.step_line(event == "execution_result")),
            _ => LineKind::Unknown(event),
        };
        Record {
            run_id,
            parent,
            depth,
            time: self.time,
            kind,
            oddities: self.oddities,
            repairs,
        }
    }

    /// Guard calls count with the step that caused them.
    fn add_guard(&mut self) {
        let Some((usage, cost)) = self.guard.take() else { return };
        self.usage.get_or_insert_default().add(&usage);
        self.cost = self.cost.plus(cost);
    }

    fn step_line(&self, executed: bool) -> StepLine {
        let probe = self.probe.as_deref().filter(|_| self.step == Some(0));
        StepLine {
            number: self.step,
            executed,
            failed: self.failed,
            usage: self.usage,
            cost: self.cost,
            timings: self.timings,
            code_digest: self.digest,
            no_code: self.no_code,
            task: probe.and_then(task_of_probe),
        }
    }
}
