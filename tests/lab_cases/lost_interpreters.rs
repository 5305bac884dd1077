//! Steps in which the interpreter ended: the next one had what was saved before, and so it has in a replay, in a fork and in a
//! state that is rebuilt. So has a name that could not be restored: its saved value.

use crate::shell::{asking, exits, out, program};
use serde_json::{Value, json};
use std::path::Path;

/// Ends the interpreter.
const END: &str = "x = 1\nimport os\nos._exit(3)";

fn script(dir: &Path, name: &str, codes: &[&str]) {
    let replies: Vec<Value> = codes.iter().map(|code| json!({ "code": code })).collect();
    std::fs::write(dir.join(name), json!({ "replies": replies }).to_string()).unwrap();
}

/// A session `one` under `runs`, whose second step ended the interpreter.
fn recorded(repl: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    script(
        dir.path(),
        "model.json",
        &["import re\nbefore = 41", END, "FINAL([before, re.sub('a', 'b', 'a')])"],
    );
    let mut args = asking("Go on", "scripted:model.json", "one").to_vec();
    args.extend(["--repl", repl, "-q"]);
    let asked = program(&args, dir.path());
    exits(&asked, 0);
    assert_eq!(serde_json::from_str::<Value>(&out(&asked)).unwrap(), json!([41, "b"]));
    dir
}

#[test]
fn a_replay_goes_on_with_what_was_saved() {
    for repl in ["sandbox", "python3"] {
        let dir = recorded(repl);
        exits(
            &program(&["replay", "one", "--dir", "runs", "--repl", repl], dir.path()),
            0,
        );
    }
}

#[test]
fn a_fork_behind_such_a_step_has_what_was_saved() {
    let dir = recorded("sandbox");
    script(dir.path(), "tail.json", &["FINAL([before, re.sub('a', 'c', 'a')])"]);
    std::fs::write(dir.path().join("edit.py"), "again = before + 9\n# ---\nFINAL(again)\n").unwrap();
    for (at, how, answer) in [
        ("3", ["--replan", "otherwise"], json!([41, "c"])),
        ("3", ["--edit", "edit.py"], json!(50)),
        ("2", ["--edit", "edit.py"], json!(50)),
    ] {
        let args = ["fork", "one", "--dir", "runs", "--at", at, "--json"];
        let model = ["--primary-agent", "scripted:tail.json"];
        let forked = program(&[&args[..], &how, &model].concat(), dir.path());
        exits(&forked, 0);
        assert_eq!(crate::shell::json_of(&forked)["final"], answer, "{at} {how:?}");
    }
}

#[test]
fn a_state_that_is_rebuilt_has_what_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    script(dir.path(), "model.json", &["import re\nbefore = 41", END]);
    let asked = program(&asking("Go on", "scripted:model.json", "one"), dir.path());
    assert_ne!(asked.status.code(), Some(0), "the script has no more replies");
    let state = dir.path().join("runs/one/state.json");
    let names = |state: &Path| {
        let doc: Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
        (doc["variables"]["before"]["preview"].clone(), doc["imports"].clone())
    };
    let before = names(&state);
    assert_eq!(before.0, "41");
    std::fs::remove_file(&state).unwrap();
    exits(
        &program(&["sessions", "rebuild", "one", "--dir", "runs"], dir.path()),
        0,
    );
    assert_eq!(names(&state), before);
}

#[test]
fn what_cannot_be_restored_keeps_its_value_in_a_replay_too() {
    let dir = tempfile::tempdir().unwrap();
    let class = "class R:\n    def __setstate__(self, state):\n        raise ValueError('no')\nx = R()\nx.n = 1\ny = 2\nFINAL(1)";
    script(dir.path(), "model.json", &[class]);
    exits(&program(&asking("Make", "scripted:model.json", "one"), dir.path()), 0);
    script(dir.path(), "next.json", &["FINAL(y + 1)"]);
    exits(&program(&asking("Use", "scripted:next.json", "one"), dir.path()), 0);
    exits(&program(&["replay", "one", "--dir", "runs"], dir.path()), 0);
}
