//! Cancelling, limits, leaving: what was done is kept, and nothing goes on.

use crate::desk::{Desk, ask, assert_restored, quit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Eight sub-agents that take a minute, after a step that is kept.
fn eight_helpers() -> Value {
    json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "FINAL(1)", "delay": "60s"}]},
        {"when": {"depth": 0}, "replies": [
            {"code": "kept = 41"},
            {"code": "await batch_llm_query(*[llm_query(f'part {n}', instruction='Work.') for n in range(8)])"},
        ]},
    ]})
}

#[test]
fn ctrl_c_stops_the_whole_tree_and_says_what_it_cost() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&eight_helpers());
    ask(&mut pty, "eight at once");
    pty.wait_for("8 sub-agents");
    let pressed = Instant::now();
    pty.send("\x03");
    pty.wait_for("cancelled:");
    // No measure of speed: what it must not do is wait for the models.
    assert!(pressed.elapsed() < Duration::from_secs(20));
    pty.wait_for("X1");
    assert_eq!(desk.last_outcome(), json!("cancelled"));
    let lines = desk.transcript_lines();
    let of = |event: &str| lines.iter().filter(|line| line["event_type"] == json!(event)).count();
    assert_eq!(of("agent_start"), 9);
    assert!(of("agent_end") >= 1, "the end of the run is recorded");
    quit(pty);
    assert!(desk.state()["variables"]["kept"].is_object(), "what was done is kept");
}

#[test]
fn leaving_asks_first_and_cancels() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&eight_helpers());
    ask(&mut pty, "eight at once");
    pty.wait_for("8 sub-agents");
    pty.send("\x1b");
    pty.wait_for("a ask");
    pty.send("q");
    pty.wait_for("cancels and leaves");
    pty.send("\x1b");
    pty.wait_for("8 sub-agents");
    pty.send("q");
    pty.wait_for("cancels and leaves");
    pty.send("\r");
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
    assert_eq!(desk.last_outcome(), json!("cancelled"));
}

#[test]
fn a_closed_terminal_leaves_a_session_that_says_it_was_interrupted() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&eight_helpers());
    ask(&mut pty, "eight at once");
    pty.wait_for("8 sub-agents");
    pty.hang_up();
    pty.wait_for_end();
    assert_eq!(desk.state()["pending_query"], json!("eight at once"));
    let pty = desk.scripted(&crate::desk::replies(&["FINAL(kept + 1)"]));
    pty.wait_for("interrupted");
    // The next query goes on with what was kept.
    let mut pty = pty;
    ask(&mut pty, "and now?");
    pty.wait_for("Q2");
    pty.wait_for("42");
    quit(pty);
    assert_eq!(desk.state()["queries"][1]["final"], json!(42));
}

#[test]
fn a_run_that_was_cut_is_resumed_from_its_screen() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&eight_helpers());
    ask(&mut pty, "eight at once");
    pty.wait_for("8 sub-agents");
    pty.hang_up();
    pty.wait_for_end();
    let script = json!({"rules": [
        {"when": {"depth": 1}, "at_end": "last", "replies": [{"code": "FINAL('here at once')"}]},
        {"when": {"depth": 0}, "at_end": "last", "replies": [{"code": "FINAL(kept + 1)"}]},
    ]});
    let mut pty = desk.scripted(&script);
    pty.wait_for("interrupted");
    pty.wait_until_gone("reading");
    pty.send("\x1b[F\r");
    pty.wait_for("u resume");
    pty.send("u");
    pty.wait_for("answered in");
    // Once is enough.
    pty.send("u");
    pty.wait_for("nothing to resume");
    pty.send("\x1b");
    pty.wait_for("Q2");
    pty.wait_for("42");
    quit(pty);
    let state = desk.state();
    assert_eq!(state["queries"][1]["query"], json!("eight at once"));
    assert_eq!(state["queries"][1]["final"], json!(42));
}

#[test]
fn money_stops_before_the_next_call_and_one_key_goes_on() {
    let desk = Desk::new();
    // Each call costs 0.09 of the 0.20 that a query may spend: the fourth is never made.
    let dear = |code: &str| json!({"code": code, "usage": {"prompt": 10, "completion": 10, "cost": 0.09}});
    let script = json!({"rules": [
        {"when": {"first": "goes on"}, "replies": [dear("FINAL(total)")]},
        {"when": {"depth": 0}, "replies": [dear("total = 1"), dear("total += 1"), dear("total += 1"), dear("FINAL(total)")]},
    ]});
    let mut pty = desk.scripted(&script);
    ask(&mut pty, "spend it");
    pty.wait_for("b asks again with twice as much");
    pty.wait_for("X1");
    assert_eq!(desk.last_outcome(), json!("limit"));
    pty.send("\x1b");
    pty.wait_for("a ask");
    pty.send("b");
    pty.wait_for("Q2");
    quit(pty);
    let state = desk.state();
    assert_eq!(state["queries"][1]["query"], json!("spend it"));
    assert_eq!(state["interrupted"].as_array().map(Vec::len), Some(1));
}
