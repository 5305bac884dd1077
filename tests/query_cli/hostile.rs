//! Every way in which code can misbehave ends in an error of its step, and the next step runs.

use super::Place;
use crate::running::session::{output, steps};
use serde_json::json;

/// Runs `code` between two steps of a session; what the model was told of it.
fn misbehave(code: &str) -> String {
    within(60, code)
}

/// The same, with so many seconds for a step.
fn within(seconds: u64, code: &str) -> String {
    let place = Place::new();
    let limits = format!("step_timeout_s: {seconds}\nrepl_memory_mb: 96\n");
    place.file("rlm_config.yaml", &limits);
    let query = place.steps(&["before = 'kept'", code, "after = before + '!'\nFINAL(after)"]);
    assert_eq!(query.session(&place.session_dir()).answer(), "kept!", "after {code}");
    let lines = place.session().last_transcript();
    assert_eq!(steps(&lines, true)[2]["hasError"], json!(true), "{code}");
    assert_eq!(place.session().state()["code_log"][1]["ok"], json!(false), "{code}");
    output(&lines, 2).to_owned()
}

#[test]
fn endless_loops_are_stopped() {
    for code in [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    ] {
        let told = within(1, code);
        assert!(told.contains("longer than 1 s"), "{told}");
    }
}

#[test]
fn memory_bombs_and_deep_recursion_are_stopped() {
    let told = misbehave("x = [0] * 10**9");
    assert!(told.contains("MemoryError"), "{told}");
    let told = misbehave("x = []\nwhile True: x.append(bytearray(10**6))");
    assert!(told.contains("emory"), "{told}");
    let told = misbehave("def f(): return f()\nf()");
    assert!(told.contains("RecursionError"), "{told}");
    let told = misbehave("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()");
    assert!(!told.is_empty());
}

#[test]
fn leaving_the_interpreter_ends_the_step() {
    let told = misbehave("import os\nos._exit(3)");
    assert!(told.contains("exit") || told.contains("lost"), "{told}");
    let told = misbehave("raise SystemExit(3)");
    assert!(told.contains("SystemExit"), "{told}");
    let told = misbehave("raise KeyboardInterrupt");
    assert!(told.contains("KeyboardInterrupt"), "{told}");
}

#[test]
fn a_flood_of_output_is_bounded() {
    let told = within(1, "while True: print('x' * 1000)");
    assert!(told.len() < 20_000, "{}", told.len());
}

#[test]
fn the_machine_is_out_of_reach() {
    for code in [
        "open('/etc/passwd').read()",
        "open('here.txt', 'w')",
        "import socket\nsocket.create_connection(('127.0.0.1', 80))",
        "import subprocess\nsubprocess.run(['ls'])",
        "import ctypes",
        "__import__('os').fork()",
    ] {
        misbehave(code);
    }
}

#[test]
fn the_engines_names_can_be_overwritten_without_harm() {
    let place = Place::new();
    let query = place.steps(&[
        "FINAL = print\ncommit = None\nllm_query = 1\nimport builtins\nbuiltins.len = lambda x: 0",
        "x = 1",
        "FINAL(x)",
    ]);
    assert_eq!(query.session(&place.session_dir()).answer(), "1");
}

/// What a step bound is saved, whatever one of its values does to the interpreter while it is saved; and that one is named.
#[test]
fn a_value_that_cannot_be_saved_costs_no_other() {
    let objects =
        "keep = 1\nclass N: pass\nn = None\nfor i in range(20_000):\n    m = N(); m.next = n; n = m\nrest = [keep]";
    let dicts = "keep = 1\nn = {}\nfor i in range(200_000): n = {'a': n}\nrest = [keep]";
    let exits = "keep = 1\nimport os\nclass N:\n    def __reduce__(self): os._exit(3)\nrest = [keep]\nn = N()";
    for code in [objects, dicts, exits] {
        let place = Place::new();
        let query = place.steps(&["before = 'kept'", code, "FINAL([before, keep])"]);
        let answer = query.session(&place.session_dir()).arg("--json").run();
        assert_eq!(answer.json()["final"], json!(["kept", 1]), "{code}: {answer:?}");
        let state = place.session().state();
        let why = state["dropped"]["n"]
            .as_str()
            .unwrap_or_else(|| panic!("{code}: {}", state["dropped"]));
        assert!(why.contains("RecursionError") || why.contains("was lost"), "{why}");
        // With FINAL in the step itself it is not lost either.
        let place = Place::new();
        let query = place
            .steps(&[&format!("{code}\nFINAL('done')")])
            .session(&place.session_dir());
        assert_eq!(query.answer(), "done");
        let state = place.session().state();
        assert_eq!(state["variables"]["keep"]["preview"], json!("1"), "{code}");
        assert!(state["dropped"]["n"].is_string(), "{code}");
    }
}
