//! state.json of the demo: ledger, code log, and memory.

use super::literal::{cut, repr};
use super::story::{Ending, Run};
use super::{Error, pickle, transcript};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of a query that the ledger keeps, and of a value that its preview shows.
const QUERY: usize = 4_000;
const PREVIEW: usize = 2_000;

/// What the REPL held at the end.
#[derive(Deserialize)]
struct Memory {
    variables: Vec<Variable>,
    functions: Map<String, Value>,
    dropped: Map<String, Value>,
    imports: Vec<String>,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    r#type: String,
    comment: Option<String>,
    note: Option<String>,
    #[serde(default)]
    committed: bool,
    value: Value,
}

fn memory() -> Result<Memory, Error> {
    Ok(serde_json::from_str(include_str!("../story/memory.json"))?)
}

/// The variables that a run finds restored: those that stand in memory and were bound by earlier code.
pub(crate) fn restored_before(run: &Run) -> Result<Vec<String>, Error> {
    let earlier: Vec<_> = super::story::runs()?
        .into_iter()
        .take_while(|other| other.query != run.query)
        .collect();
    let bound = |name: &str| {
        earlier
            .iter()
            .flat_map(|r| &r.step)
            .any(|s| s.code.contains(&format!("{name} = ")))
    };
    let memory = memory()?;
    let known = memory.variables.iter().filter(|v| bound(&v.name));
    Ok(known
        .map(|v| {
            let note = v
                .note
                .as_ref()
                .map_or(String::new(), |note| format!("  [note: {note}]"));
            format!("{} ({}): {}{note}", v.name, v.r#type, cut(&repr(&v.value), 60))
        })
        .collect())
}

/// state.json, whole.
pub(crate) fn write(runs: &[Run]) -> Result<String, Error> {
    let (mut queries, mut interrupted, mut code_log) = (Vec::new(), Vec::new(), Vec::new());
    let mut pending = Value::Null;
    for run in runs {
        code_log.extend(steps(run, queries.len())?);
        let (text, log_file, run_id) = (cut(&run.query, QUERY), run.log_file()?, transcript::root_id(run)?);
        match run.outcome {
            Ending::Final => {
                queries.push(json!({"query": text, "final": run.result()?, "log_file": log_file, "run_id": run_id}));
            }
            Ending::Limit => {
                interrupted.push(json!({"query": text, "log_file": log_file, "run_id": run_id, "outcome": "limit"}));
            }
            Ending::Interrupted => pending = json!(text),
        }
    }
    let memory = memory()?;
    let variables: Map<_, _> = memory.variables.iter().map(|v| (v.name.clone(), variable(v))).collect();
    let state = json!({
        "version": 2,
        "queries": queries,
        "pending_query": pending,
        "code_log": code_log,
        "variables": variables,
        "functions": memory.functions,
        "dropped": memory.dropped,
        "interrupted": interrupted,
        "imports": memory.imports,
    });
    Ok(serde_json::to_string_pretty(&state)? + "\n")
}

/// The run's part of the code log; replies without code are not in it, nor is a step whose line was never written.
fn steps(run: &Run, completed: usize) -> Result<Vec<Value>, Error> {
    let run_id = transcript::root_id(run)?;
    let written = (1u64..)
        .zip(&run.step)
        .filter(|(_, step)| !step.code.is_empty() && !step.lost);
    Ok(written
        .map(|(number, step)| {
            json!({"q": completed, "step": number, "ok": !step.failed, "code": step.code.trim_end(), "run_id": run_id})
        })
        .collect())
}

fn variable(variable: &Variable) -> Value {
    json!({
        "pickle_b64": STANDARD.encode(pickle::dumps(&variable.value)),
        "type": variable.r#type,
        "preview": cut(&repr(&variable.value), PREVIEW),
        "comment": variable.comment,
        "note": variable.note,
        "committed": variable.committed,
    })
}
