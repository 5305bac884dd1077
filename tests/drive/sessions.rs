//! Several sessions, sessions that others hold, and places where nothing can be asked.

use crate::desk::{Desk, ask, quit};
use serde_json::json;

#[test]
fn without_a_model_the_box_says_what_to_set() {
    let desk = Desk::new();
    let mut pty = desk.open(&[], &[]);
    pty.send("a");
    pty.wait_for("--primary-agent");
    pty.wait_for("FAST_RLM_MODEL");
    quit(pty);
}

#[test]
fn a_read_only_session_has_no_box_and_says_why() {
    let desk = Desk::new();
    let mut pty = desk.open(&["--read-only"], &[]);
    pty.wait_for("--read-only");
    pty.send("a");
    pty.wait_for("nothing is asked");
    quit(pty);
}

#[test]
fn a_session_that_is_left_goes_on_with_its_run() {
    let desk = Desk::new();
    desk.add_session("harbour");
    // Written to last: the list begins with it.
    std::thread::sleep(std::time::Duration::from_millis(50));
    desk.add_session("s");
    let script = json!({"rules": [{"when": {"depth": 0}, "replies": [
        {"code": "kept = 1"}, {"code": "FINAL('came home')", "delay": "3s"},
    ]}]});
    let model = desk.script(&script);
    let mut pty = desk.open_at(&desk.path().join("runs"), &["--primary-agent", &model], &[]);
    pty.wait_for("2 sessions");
    open_first(&mut pty);
    ask(&mut pty, "take your time");
    pty.wait_for("waits for the model");
    pty.send("\x1b");
    pty.wait_for("a ask");
    pty.send("s");
    open_named(&mut pty, "harbour");
    pty.wait_for("s: answered in");
    pty.send("s");
    open_first(&mut pty);
    pty.wait_for("came home");
    quit(pty);
    assert_eq!(desk.state()["queries"][1]["final"], json!("came home"));
}

#[test]
fn a_new_session_is_made_and_asked() {
    let desk = Desk::new();
    let model = desk.script(&crate::desk::replies(&["FINAL('hello')"]));
    let mut pty = desk.open_at(&desk.path().join("runs"), &["--primary-agent", &model], &[]);
    pty.send("c");
    pty.wait_for("new session");
    pty.send("trip\r");
    pty.wait_for("no queries yet");
    ask(&mut pty, "anyone there?");
    pty.wait_for("Q1");
    pty.wait_for("hello");
    quit(pty);
    assert!(desk.path().join("runs/trip/state.json").exists());
}

#[test]
fn a_session_that_another_process_drives_is_followed() {
    let desk = Desk::new();
    let model = desk.script(&json!({"replies": [{"code": "FINAL('from elsewhere')", "delay": "3s"}]}));
    let other = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm"))
        .current_dir(desk.path())
        .env("XDG_CONFIG_HOME", desk.path().join("no-configuration"))
        .args([
            "a question of another process",
            "-q",
            "--primary-agent",
            &model,
            "--session-dir",
        ])
        .arg(desk.session())
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut other = other.unwrap();
    let mut pty = desk.open(&["--primary-agent", &model], &[]);
    pty.wait_for("in use by");
    pty.send("a");
    pty.wait_for("from elsewhere");
    assert!(other.wait().unwrap().success());
    quit(pty);
}

/// Filters the list of sessions by a name, and opens what is left.
fn open_named(pty: &mut crate::pty::Pty, name: &str) {
    pty.wait_for("last activity");
    pty.send(&format!("/{name}\r"));
    pty.wait_for("1 of 2 sessions");
    pty.send("\r");
    pty.wait_for("first answer");
}

/// Opens the session that was written to last.
fn open_first(pty: &mut crate::pty::Pty) {
    pty.wait_for("last activity");
    pty.send("\r");
    pty.wait_for("first answer");
}
