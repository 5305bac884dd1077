use super::*;
use crate::repl::{Dropped, RestoreFailure, RestoreKind, RestoreReport, SweptFunction, SweptPickle, SweptVariable};
use serde_json::json;

fn variable(name: &str, pickle: SweptPickle) -> SweptVariable {
    SweptVariable {
        name: name.into(),
        pickle,
        digest: [0; 32],
        type_name: "int".into(),
        preview: "1".into(),
        comment: Some("one".into()),
        note: None,
        committed: false,
    }
}

fn changed(name: &str) -> SweptVariable {
    variable(name, SweptPickle::Changed(b"\x80\x04K\x01."[..].into()))
}

fn open(dir: &Path) -> SessionMemory {
    SessionMemory::open(dir, Secrets::default()).unwrap()
}

fn begin(memory: &mut SessionMemory, query: &str) {
    std::fs::create_dir_all(memory.dir.join("logs")).unwrap();
    let run = RunRef {
        run_id: "7-a".into(),
        log_file: "logs/run_1.jsonl".into(),
        query: query.into(),
    };
    memory.begin(run, None).unwrap();
    save(memory);
}

fn save(memory: &mut SessionMemory) {
    let text = memory.text(true).unwrap().unwrap();
    memory.put(&text).unwrap();
}

fn step(memory: &mut SessionMemory, number: u64, code: &str, sweep: Sweep) {
    memory.step(number, true, code, Some(&sweep)).unwrap();
    save(memory);
}

fn state(dir: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join("state.json")).unwrap()).unwrap()
}

#[test]
fn a_query_is_pending_until_its_final() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = open(dir.path());
    begin(&mut memory, "count");
    assert_eq!(state(dir.path())["pending_query"], "count");
    let sweep = Sweep {
        variables: vec![changed("a")],
        ..Sweep::default()
    };
    step(&mut memory, 1, "a = 1  # one", sweep);
    let saved = state(dir.path());
    assert_eq!(saved["variables"]["a"]["pickle_b64"], "gARLAS4=");
    assert_eq!(
        saved["code_log"],
        json!([{"q": 0, "step": 1, "ok": true, "code": "a = 1  # one", "run_id": "7-a"}])
    );
    memory.finish(&json!({"n": 1})).unwrap();
    save(&mut memory);
    let saved = state(dir.path());
    assert_eq!(saved["pending_query"], Value::Null);
    let row = json!([{"query": "count", "final": {"n": 1}, "log_file": "logs/run_1.jsonl", "run_id": "7-a"}]);
    assert_eq!(saved["queries"], row);
}

#[test]
fn an_unchanged_value_keeps_its_entry_and_foreign_keys() {
    let dir = tempfile::tempdir().unwrap();
    let old = json!({"version": 2, "variables": {"a": {"pickle_b64": "gARLAS4=", "type": "int", "extra": 7}}});
    std::fs::write(dir.path().join("state.json"), old.to_string()).unwrap();
    let mut memory = open(dir.path());
    begin(&mut memory, "q");
    let sweep = Sweep {
        variables: vec![variable("a", SweptPickle::Unchanged)],
        ..Sweep::default()
    };
    step(&mut memory, 1, "pass", sweep);
    let row = &state(dir.path())["variables"]["a"];
    assert_eq!((&row["pickle_b64"], &row["extra"]), (&json!("gARLAS4="), &json!(7)));
}

#[test]
fn what_did_not_come_back_is_kept_until_it_is_bound_again() {
    let dir = tempfile::tempdir().unwrap();
    let old = json!({"version": 2, "variables": {"a": {"pickle_b64": "xxxx"}}, "functions": {"f": "def f(): broken"}});
    std::fs::write(dir.path().join("state.json"), old.to_string()).unwrap();
    let mut memory = open(dir.path());
    let failure = |name: &str, kind| RestoreFailure {
        name: name.into(),
        kind,
        reason: "bad".into(),
    };
    memory.restored(&RestoreReport {
        failed: vec![failure("a", RestoreKind::Variable), failure("f", RestoreKind::Function)],
        ..RestoreReport::default()
    });
    begin(&mut memory, "q");
    step(&mut memory, 1, "pass", Sweep::default());
    assert_eq!(state(dir.path())["variables"]["a"]["pickle_b64"], "xxxx");
    assert_eq!(state(dir.path())["functions"]["f"], "def f(): broken");
    let dropped = Dropped {
        name: "a".into(),
        reason: "generator".into(),
        size: None,
        type_name: "generator".into(),
    };
    let f = SweptFunction {
        name: "f".into(),
        source: "def f(): pass".into(),
    };
    let sweep = Sweep {
        dropped: vec![dropped],
        functions: vec![f],
        ..Sweep::default()
    };
    step(&mut memory, 2, "a = (x for x in ())", sweep);
    let saved = state(dir.path());
    assert_eq!(saved["variables"], json!({}));
    assert_eq!(saved["dropped"], json!({"a": "generator"}));
    assert_eq!(saved["functions"], json!({"f": "def f(): pass"}));
}

#[test]
fn a_value_that_holds_a_secret_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = Secrets::default();
    secrets.register("KEY", "hunter2hunter2").unwrap();
    let mut memory = SessionMemory::open(dir.path(), secrets).unwrap();
    begin(&mut memory, "q");
    let mut leak = changed("leak");
    leak.preview = "'hunter2hunter2'".into();
    let pickled = variable("pickled", SweptPickle::Changed(b"..hunter2hunter2..".as_slice().into()));
    let sweep = Sweep {
        variables: vec![leak, pickled],
        ..Sweep::default()
    };
    step(&mut memory, 1, "leak = 'hunter2hunter2'", sweep);
    let unchanged = Sweep {
        variables: ["leak", "pickled"]
            .map(|name| variable(name, SweptPickle::Unchanged))
            .into(),
        ..Sweep::default()
    };
    step(&mut memory, 2, "pass", unchanged);
    assert_eq!(
        state(dir.path())["variables"],
        json!({}),
        "the REPL calls unchanged what was dropped here"
    );
    memory.finish(&json!("hunter2hunter2")).unwrap();
    save(&mut memory);
    let text = std::fs::read_to_string(dir.path().join("state.json")).unwrap();
    assert!(!text.contains("hunter2hunter2"), "{text}");
    assert_eq!(
        state(dir.path())["dropped"],
        json!({"leak": "holds a secret", "pickled": "holds a secret"})
    );
}

#[test]
fn what_an_earlier_repl_could_not_save_is_told_until_it_is_bound() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("state.json"),
        r#"{"version": 2, "dropped": {"a": "generator", "b": "too large"}}"#,
    )
    .unwrap();
    let mut memory = open(dir.path());
    memory.restored(&RestoreReport::default());
    begin(&mut memory, "q");
    let sweep = Sweep {
        variables: vec![changed("a")],
        ..Sweep::default()
    };
    step(&mut memory, 1, "a = 1", sweep);
    assert_eq!(state(dir.path())["dropped"], json!({"b": "too large"}));
}

#[test]
fn failed_and_interrupted_queries_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = open(dir.path());
    begin(&mut memory, "first");
    memory.fail("limit").unwrap();
    save(&mut memory);
    begin(&mut memory, "second");
    drop(memory);
    let mut memory = open(dir.path());
    assert!(
        memory
            .preamble(true)
            .unwrap()
            .contains("interrupted before its first step")
    );
    begin(&mut memory, "third");
    let saved = state(dir.path());
    let outcomes: Vec<_> = saved["interrupted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["outcome"])
        .collect();
    assert_eq!(outcomes, ["limit", "interrupted"]);
    assert_eq!(saved["pending_query"], "third");
}

#[test]
fn a_long_query_is_cut_in_the_ledger_and_whole_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = open(dir.path());
    let long = "日".repeat(4_001);
    begin(&mut memory, &long);
    let saved = state(dir.path());
    assert_eq!(saved["pending_query"], format!("{}...[truncated]", "日".repeat(4_000)));
    let file = saved["query_file"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join(file)).unwrap(), long);
}

#[test]
fn a_newer_state_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("state.json"), r#"{"version": 9}"#).unwrap();
    let error = SessionMemory::open(dir.path(), Secrets::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("state.json") && error.contains("version 9"), "{error}");
}
