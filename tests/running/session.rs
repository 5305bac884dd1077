//! A session's files, read back as data and held against the format that existing programs read.

use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A session directory.
pub(crate) struct Session {
    pub(crate) dir: PathBuf,
}

impl Session {
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    pub(crate) fn state(&self) -> Value {
        read_json(&self.dir.join("state.json"))
    }

    /// The lines of the transcript that `link` (relative to the session) names.
    pub(crate) fn transcript(&self, link: &Value) -> Vec<Value> {
        lines(&self.dir.join(link.as_str().unwrap()))
    }

    /// The lines of the last completed query's transcript.
    pub(crate) fn last_transcript(&self) -> Vec<Value> {
        self.transcript(&self.state()["queries"].as_array().unwrap().last().unwrap()["log_file"])
    }

    pub(crate) fn names(&self, table: &str) -> Vec<String> {
        self.state()[table].as_object().unwrap().keys().cloned().collect()
    }
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The recorded lines of steps (the probe is step 0), of the root or of all.
pub(crate) fn steps(lines: &[Value], root_only: bool) -> Vec<&Value> {
    let of_root = |line: &&Value| !root_only || line.get("parent_run_id").is_none();
    lines
        .iter()
        .filter(|line| line.get("step").is_some())
        .filter(of_root)
        .collect()
}

/// What the model was shown of a root step.
pub(crate) fn output(lines: &[Value], step: u64) -> &str {
    let found = steps(lines, true).into_iter().find(|line| line["step"] == json!(step));
    found
        .and_then(|line| line["output"].as_str())
        .unwrap_or_else(|| panic!("step {step} has no output"))
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            // Not `fs::copy`, which would copy a write protection.
            false => std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap(),
        }
    }
}

/// Checks a state.json key by key against version 2 of the format; other keys are allowed anywhere.
#[track_caller]
pub(crate) fn check_state(state: &Value) {
    assert_eq!(state["version"], json!(2));
    for row in state["queries"].as_array().unwrap() {
        assert!(row["query"].is_string(), "{row}");
        optional(row, "log_file", Value::is_string);
        optional(row, "run_id", Value::is_string);
    }
    assert!(state["pending_query"].is_null() || state["pending_query"].is_string());
    for row in state["code_log"].as_array().unwrap() {
        assert!(
            row["q"].is_u64() && row["step"].is_u64() && row["ok"].is_boolean() && row["code"].is_string(),
            "{row}"
        );
    }
    for (name, row) in table(state, "variables") {
        check_variable(name, row);
    }
    for key in ["functions", "dropped"] {
        assert!(table(state, key).values().all(Value::is_string), "{key}");
    }
}

#[track_caller]
fn check_variable(name: &str, row: &Value) {
    use base64::Engine as _;
    let pickle = row["pickle_b64"]
        .as_str()
        .unwrap_or_else(|| panic!("{name} has no pickle"));
    let pickle = base64::engine::general_purpose::STANDARD.decode(pickle).unwrap();
    assert_eq!((pickle.first(), pickle.last()), (Some(&0x80), Some(&b'.')), "{name}");
    assert!(
        row["type"].is_string() && row["preview"].is_string() && row["committed"].is_boolean(),
        "{name}"
    );
    for key in ["comment", "note"] {
        assert!(row[key].is_null() || row[key].is_string(), "{name}.{key}");
    }
}

/// Checks the lines of a transcript key by key.
#[track_caller]
pub(crate) fn check_transcript(lines: &[Value]) {
    for line in lines {
        assert!(
            line["level"].is_u64() && line["depth"].is_u64() && line["run_id"].is_string(),
            "{line}"
        );
        let time: Result<jiff::Timestamp, _> = line["time"].as_str().unwrap().parse();
        assert!(time.is_ok(), "{line}");
        assert_eq!(line["depth"] != json!(0), line.get("parent_run_id").is_some(), "{line}");
        match line["event_type"].as_str().unwrap() {
            "agent_start" | "agent_end" | "final_result" => assert!(line.get("step").is_none(), "{line}"),
            "code_generated" => check_step(line),
            "execution_result" => {
                assert!(line["output"].is_string() && line["hasError"].is_boolean(), "{line}");
                check_step(line);
            }
            other => panic!("existing viewers take {other} for a step"),
        }
    }
}

#[track_caller]
fn check_step(line: &Value) {
    assert!(line["step"].is_u64() && line["code"].is_string(), "{line}");
    optional(line, "reasoning", Value::is_string);
    let usage = line["usage"].as_object().unwrap();
    for key in [
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "cached_tokens",
        "reasoning_tokens",
    ] {
        assert!(usage[key].is_u64(), "{line}");
    }
    assert!(usage.get("cost").is_none_or(Value::is_number), "{line}");
    for (name, time) in line["timestamps"].as_object().unwrap() {
        assert!(
            time.as_str().unwrap().parse::<jiff::Timestamp>().is_ok(),
            "{name}: {line}"
        );
    }
}

#[track_caller]
fn optional(row: &Value, key: &str, holds: impl Fn(&Value) -> bool) {
    assert!(row.get(key).is_none_or(holds), "{key}: {row}");
}

#[track_caller]
pub(crate) fn table<'a>(state: &'a Value, key: &str) -> &'a Map<String, Value> {
    state[key].as_object().unwrap_or_else(|| panic!("{key} is no table"))
}

/// What a transcript adds up to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) agents: usize,
    pub(crate) max_depth: u64,
    pub(crate) root_steps: usize,
    pub(crate) all_steps: usize,
    pub(crate) failed_steps: usize,
    pub(crate) steps_without_cost: usize,
    pub(crate) cost_nano: i64,
    pub(crate) tokens: u64,
}

impl Totals {
    /// The probe, step 0, is no step of the model's and is left out.
    pub(crate) fn of(lines: &[Value]) -> Self {
        let modelled = |root| steps(lines, root).into_iter().filter(|line| line["step"] != json!(0));
        let costs: Vec<Option<f64>> = modelled(false).map(|line| line["usage"]["cost"].as_f64()).collect();
        Self {
            agents: lines
                .iter()
                .filter(|line| line["event_type"] == json!("agent_start"))
                .count(),
            max_depth: lines.iter().filter_map(|line| line["depth"].as_u64()).max().unwrap(),
            root_steps: modelled(true).count(),
            all_steps: costs.len(),
            failed_steps: modelled(false).filter(|line| line["hasError"] == json!(true)).count(),
            steps_without_cost: costs.iter().filter(|cost| cost.is_none()).count(),
            cost_nano: costs.iter().flatten().map(|usd| (usd * 1e9).round() as i64).sum(),
            tokens: modelled(false)
                .filter_map(|line| line["usage"]["total_tokens"].as_u64())
                .sum(),
        }
    }
}
