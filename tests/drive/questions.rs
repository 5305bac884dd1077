//! The run asks, and the box is the answer field: at once, or after a restart.

use crate::desk::{Desk, answer, ask, choose, quit};
use serde_json::{Value, json};

/// Calls a helper once, asks twice, and ends with all answers. The card shows its code, and so both questions, before
/// the box asks them (`? Which day?`).
fn script() -> Value {
    json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "FINAL('from the helper')"}]},
        {"when": {"depth": 0}, "replies": [
            {"code": "found = await llm_query('find a flight', instruction='Find one.')\nday = await ask('Which day?')\nsure = await ask('Book it?', options=['yes', 'no'])"},
            {"code": "FINAL([found, day, sure])"},
        ]},
    ]})
}

#[test]
fn a_run_that_asks_is_cancelled_like_any_other_and_left_with_its_question() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&script());
    ask(&mut pty, "Book a trip");
    pty.wait_for("? Which day?");
    std::thread::sleep(std::time::Duration::from_millis(300));
    pty.send("\x03");
    pty.wait_for("cancelled:");
    assert_eq!(desk.last_outcome(), json!("cancelled"));
    std::thread::sleep(std::time::Duration::from_millis(2200));
    ask(&mut pty, "Book another trip");
    pty.wait_for("? Which day?");
    pty.send("\x1b");
    pty.wait_for("a ask");
    pty.send("q");
    pty.wait_for("cancels and leaves");
    pty.send("\r");
    assert_eq!(pty.exit_code(), 0);
    let pty = desk.open(&[], &[]);
    pty.wait_for("? Which day?");
    quit(pty);
}

fn helpers(desk: &Desk) -> usize {
    let lines = desk.transcript_lines();
    let started = |line: &&Value| line["event_type"] == json!("agent_start") && !line["parent_run_id"].is_null();
    lines.iter().filter(started).count()
}

#[test]
fn questions_are_answered_in_the_box() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&script());
    ask(&mut pty, "Book a trip");
    pty.wait_for("? Which day?");
    answer(&mut pty, "Tuesday");
    pty.wait_for("? Book it?");
    choose(&mut pty, "1");
    pty.wait_for("Q2");
    quit(pty);
    let state = desk.state();
    assert_eq!(
        state["queries"][1]["final"],
        json!(["from the helper", "Tuesday", "yes"])
    );
}

#[test]
fn a_question_outlives_the_program_and_no_finished_call_is_made_again() {
    let desk = Desk::new();
    let model = desk.script(&script());
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm"))
        .current_dir(desk.path())
        .env("XDG_CONFIG_HOME", desk.path().join("no-configuration"))
        .args(["Book a trip", "-q", "--primary-agent", &model, "--session-dir"])
        .arg(desk.session())
        .output()
        .unwrap();
    assert_eq!(program.status.code(), Some(75), "{program:?}");
    assert_eq!(helpers(&desk), 1);
    // The model that asked goes on: none is named.
    let mut pty = desk.open(&[], &[]);
    pty.wait_for("? Which day?");
    pty.wait_for("waits for an answer: Which day?");
    answer(&mut pty, "Tuesday");
    pty.wait_for("? Book it?");
    choose(&mut pty, "2");
    pty.wait_for("Q2");
    quit(pty);
    let state = desk.state();
    assert_eq!(
        state["queries"][1]["final"],
        json!(["from the helper", "Tuesday", "no"])
    );
    assert_eq!(helpers(&desk), 1, "the helper was not asked again");
}
