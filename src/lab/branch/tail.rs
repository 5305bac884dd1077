//! The steps that a branch goes on with.

use crate::engine::ScriptedReply;
use crate::lab::replay::{Python, is_name};
use crate::lab::{LabError, RecordedStep, RecordedTurn};
use crate::model::program_text;
use crate::repl::{HostCall, HostCalls, HostError, OutputChunk, StartOptions, Step};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// A JSON value as Python code.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        // What JSON escapes, Python does too, and the other way round.
        Value::String(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), literal(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Code that binds names to values.
///
/// # Errors
///
/// [`LabError::BadName`].
pub(in crate::lab) fn bindings(values: &[(String, Value)]) -> Result<String, LabError> {
    let line = |(name, value): &(String, Value)| match is_name(name) {
        true => Ok(format!("{name} = {}", literal(value))),
        false => Err(LabError::BadName { name: name.clone() }),
    };
    Ok(values.iter().map(line).collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// In place of the step `at` these values are bound; then the recorded steps. Without names, the one name that the step
/// bound.
///
/// # Errors
///
/// [`LabError::NotABind`], [`LabError::BadName`].
pub fn injected_tail(
    turn: &RecordedTurn,
    at: u32,
    values: &[(Option<String>, Value)],
) -> Result<Vec<ScriptedReply>, LabError> {
    let step = turn.steps.get(at as usize);
    let bound: Vec<String> = step
        .and_then(|step| step.ended.as_ref())
        .map(|ended| ended.written.iter().map(|written| written.name.clone()).collect())
        .unwrap_or_default();
    let named = values.iter().map(|(name, value)| {
        let name = match (name, bound.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, _) => {
                return Err(LabError::NotABind {
                    step: at,
                    names: bound.clone(),
                });
            }
        };
        Ok((name, value.clone()))
    });
    let code = bindings(&named.collect::<Result<Vec<_>, _>>()?)?;
    let mut tail = vec![reply(&code, false)];
    tail.extend(turn.steps.iter().skip(at as usize + 1).map(as_recorded));
    Ok(tail)
}

/// How many of `steps` the recording has from `at` on, and the rest. Steps that repeat the whole turn up to `at` are
/// not taken for its tail.
pub fn edited_tail(turn: &RecordedTurn, at: u32, steps: &[String]) -> (u32, Vec<ScriptedReply>) {
    let same = |recorded: &RecordedStep, code: &String| {
        program_text(recorded.code.as_deref().unwrap_or_default()) == program_text(code)
    };
    let at = at as usize;
    let whole = steps.len() > at
        && turn
            .steps
            .iter()
            .zip(steps)
            .take(at)
            .all(|(recorded, code)| same(recorded, code));
    let steps = steps.get(if whole { at } else { 0 }..).unwrap_or_default();
    let recorded = turn.steps.iter().skip(at);
    // The last one always runs: there has to be something to diverge with.
    let most = steps
        .len()
        .min(turn.steps.len() - at.min(turn.steps.len()))
        .saturating_sub(1);
    let equal = recorded
        .zip(steps)
        .take(most)
        .take_while(|(recorded, code)| same(recorded, code))
        .count();
    // A step that is as it was may raise if it did.
    let as_it_was = |(number, code): (usize, &String)| match turn.steps.get(at + number) {
        Some(recorded) if same(recorded, code) => as_recorded(recorded),
        _ => reply(code, false),
    };
    let rest = steps.iter().enumerate().skip(equal).map(as_it_was).collect();
    (u32::try_from(equal).unwrap_or_default(), rest)
}

/// The recorded reply; its step may raise if it did.
pub(in crate::lab) fn as_recorded(step: &RecordedStep) -> ScriptedReply {
    let raised = step.ended.as_ref().is_some_and(|ended| ended.exception.is_some());
    match &step.call {
        Some(call) => ScriptedReply {
            text: call.reply.clone(),
            may_raise: raised,
            readings: None,
        },
        None => reply(step.code.as_deref().unwrap_or_default(), raised),
    }
}

/// A reply that is nothing but code.
pub(in crate::lab) fn reply(code: &str, may_raise: bool) -> ScriptedReply {
    // A fence longer than any in the code.
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    ScriptedReply {
        text: format!("{fence}repl\n{code}\n{fence}"),
        may_raise,
        readings: None,
    }
}

struct NoHost;

#[async_trait]
impl HostCalls for NoHost {
    async fn call(&self, call: HostCall) -> Result<Value, HostError> {
        Err(HostError::new(format!("{} is not available", call.name)))
    }
}

/// Compiles steps without running them.
///
/// # Errors
///
/// [`LabError::Syntax`] naming the first that is no Python; those of starting Python.
pub async fn check_syntax(python: &Python, steps: &[String]) -> Result<(), LabError> {
    let options = StartOptions::default();
    let mut repl = python.factory.start(options, Arc::new(NoHost)).await?.repl;
    for (number, code) in steps.iter().enumerate() {
        let source = Value::from(code.as_str());
        // 8192: with top-level await.
        let check = Step::new(1, format!("_ = compile({source}, '<step>', 'exec', 8192)"));
        let outcome = repl.run(check, &mut |_: OutputChunk| ()).await;
        if let Some(error) = outcome.error {
            let message = error.text.lines().last().unwrap_or_default().to_owned();
            return Err(LabError::Syntax { step: number, message });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_python() {
        assert_eq!(
            literal(&json!({"a\"b": [1, 2.5, null, true, "é\n"]})),
            r#"{"a\"b": [1, 2.5, None, True, "é\n"]}"#
        );
        assert!(bindings(&[("x y".into(), json!(1))]).is_err());
    }

    #[test]
    fn code_with_fences_stays_one_block() {
        assert!(reply("x = '```'", false).text.starts_with("````repl\n"));
    }

    fn turn(codes: &[&str]) -> RecordedTurn {
        let step = |code: &&str| RecordedStep {
            code: Some((*code).to_owned()),
            ..RecordedStep::default()
        };
        RecordedTurn {
            steps: codes.iter().map(step).collect(),
            ..RecordedTurn::default()
        }
    }

    #[test]
    fn equal_steps_are_not_run() {
        let turn = turn(&["a", "b", "c"]);
        let edited = |at, steps: &[&str]| {
            let steps: Vec<String> = steps.iter().map(|s| (*s).to_owned()).collect();
            let (equal, rest) = edited_tail(&turn, at, &steps);
            (equal, rest.len())
        };
        assert_eq!(edited(0, &["a", "b # same", "x"]), (2, 1));
        assert_eq!(edited(2, &["a", "b", "x"]), (0, 1), "the whole program");
        assert_eq!(edited(2, &["x"]), (0, 1), "the tail alone");
        assert_eq!(edited(0, &["a", "b", "c"]), (2, 1), "something runs");
        assert_eq!(edited(1, &["x", "c"]), (0, 2));
    }
}
