//! The lab from the screen: a run is replayed, forked in each of the three ways, and compared with what became of it.

use crate::desk::{Desk, quit};
use crate::pty::Pty;
use crate::unchanged::files;
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::store::Digest;
use fast_rlm::{Config, Session};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Four steps, of which the third asks a sub-agent; it takes its time the second time.
fn script(delay: &str) -> Value {
    json!({"rules": [
        {"when": {"depth": 1}, "at_end": "last", "replies": [
            {"code": "FINAL('sub: ' + str(context))", "delay": delay, "usage": {"prompt": 100, "completion": 10, "cost": 0.002}},
        ]},
        {"when": {"depth": 0}, "at_end": "last", "replies": [
            {"code": "guests = ['Ada', 'Bo', 'Cy']\nprint(len(guests))"},
            {"code": "count = len(guests)"},
            {"code": "said = await llm_query(f'{count} guests')\nprint(said)"},
            {"code": "FINAL(f'{count} came, {said}')"},
        ]},
    ]})
}

/// A desk with a session in which that was asked.
struct Lab {
    desk: Desk,
}

impl Lab {
    fn new() -> Self {
        let lab = Self { desk: Desk::new() };
        let model = Scripted::from_yaml(&script("0s").to_string(), &Settings::default()).unwrap();
        let session = Session::open(lab.desk.path().join("lab"), "party").unwrap();
        let session = session.config(Config::new("m").provider(Arc::new(model)));
        session.query("How many came?").unwrap();
        lab
    }

    fn session(&self) -> PathBuf {
        self.desk.path().join("lab/party")
    }

    /// The session's own files, and the log's as far as they say something of it: forks go into the same log.
    fn files(&self) -> BTreeMap<PathBuf, Digest> {
        files(&self.session())
    }

    fn open(&self, args: &[&str], env: &[(&str, &str)]) -> Pty {
        self.open_with("0s", args, env)
    }

    fn open_with(&self, delay: &str, args: &[&str], env: &[(&str, &str)]) -> Pty {
        let model = self.desk.script(&script(delay));
        let mut all = vec!["--primary-agent", model.as_str()];
        all.extend_from_slice(args);
        let mut pty = self.desk.open_at(&self.session(), &all, env);
        pty.wait_for("3 came");
        pty.send("\r");
        pty.wait_for("step 1");
        pty
    }

    /// An editor that does this with the file's text.
    fn editor(&self, sed: &str) -> String {
        let path = self.desk.path().join("editor");
        std::fs::write(&path, format!("#!/bin/sh\nsed -i.bak \"{sed}\" \"$1\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }
}

/// Down to a step of the run that is open; the first one is selected.
fn to_step(pty: &mut Pty, step: u64) {
    for at in 1..step {
        pty.send("\x1b[B");
        pty.wait_for(&format!("Q1 › step {}", at + 1));
    }
}

#[test]
fn scrubbing_the_first_run_shows_what_each_step_added_and_that_it_began_with_nothing() {
    let lab = Lab::new();
    let mut pty = lab.open(&[], &[]);
    pty.send("p");
    pty.wait_for("after step 1");
    pty.wait_for("1 added");
    pty.wait_for("+   guests");
    pty.send("\x1b[D");
    pty.wait_for("this run began with");
    quit(pty);
}

#[test]
fn without_a_variable_code_is_edited_in_vi_and_never_in_a_pager() {
    let lab = Lab::new();
    let bin = lab.desk.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, sed) in [("less", "s/^/# paged /"), ("vi", "s/len(guests)/len(guests) * 2/")] {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\nsed -i.bak \"{sed}\" \"$1\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let env = [("EDITOR", ""), ("VISUAL", ""), ("PAGER", ""), ("PATH", path.as_str())];
    let mut pty = lab.open(&[], &env);
    to_step(&mut pty, 2);
    pty.send("f");
    pty.wait_for("edit the code");
    pty.send("\x1b[B\r");
    pty.wait_for("it is Python");
    // Back to the ways, then out of the dialog.
    for words in ["it is Python", "edit the code"] {
        pty.send("\x1b");
        pty.wait_until_gone(words);
    }
    quit(pty);
}

/// From the second step to the field of the value that a fork injects there.
fn to_value(pty: &mut Pty) {
    pty.send("f");
    pty.wait_for("inject a value");
    pty.wait_for("for count");
    pty.send("\r");
    pty.wait_for("was 3");
}

/// Types into a field, not as fast as a paste would come.
fn type_in(pty: &mut Pty, text: &str) {
    pty.send(text);
    pty.wait_for(text);
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn an_injected_value_takes_the_place_of_the_step_and_the_fork_is_compared_and_opened() {
    let lab = Lab::new();
    let before = lab.files();
    let mut pty = lab.open(&[], &[]);
    to_step(&mut pty, 2);
    to_value(&mut pty);
    type_in(&mut pty, "41");
    pty.send("\r");
    pty.wait_for("costs money");
    pty.wait_for("Step 1 is taken over");
    pty.send("\r");
    pty.wait_for("fork s_1 is answered: it cost $0.002");
    pty.wait_for("41 came, sub: 41 guests");
    pty.send("d");
    pty.wait_for("other code");
    pty.wait_for("llm_query (call 1) differs");
    assert_eq!(lab.files(), before);
    pty.send("\x1b");
    pty.wait_for("opens the fork");
    pty.send("\r");
    pty.wait_for("fork of");
    pty.wait_for("party at Q1 step 2");
    // The whole family is in the list, and the original says what was made of it.
    pty.send("s");
    pty.wait_for("s_1 ← party");
    pty.send("/party\r");
    pty.wait_for("forks s_1");
    pty.send("\r");
    pty.wait_for("branches");
    pty.wait_for("s_1 at Q1 step 2");
    assert_eq!(lab.files(), before);
    quit(pty);
}

#[test]
fn pasted_values_and_texts_keep_every_line() {
    let lab = Lab::new();
    let mut pty = lab.open(&[], &[]);
    to_step(&mut pty, 2);
    to_value(&mut pty);
    pty.send("\x1b[200~[\r  41,\r  \"many\"\r]\x1b[201~");
    pty.wait_for("\"many\"");
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\r");
    pty.wait_for("[41,\"many\"]");
    pty.send("\r");
    pty.wait_for("[41, 'many'] came, sub");
    pty.send("\x1b");
    pty.wait_until_gone("opens the fork");
    pty.send("f");
    pty.wait_for("ask differently");
    pty.send("\x1b[B\x1b[B\r");
    pty.wait_for("told this before step 2");
    pty.send("\x1b[200~count them:\r- the guests\r- the hosts\x1b[201~");
    pty.wait_for("- the hosts");
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\r");
    pty.wait_for("told: count them:⏎- the guests⏎- the hosts");
    pty.send("\r");
    pty.wait_for("fork s_2 is answered");
    pty.send("\x1b");
    quit(pty);
    let log = rusqlite::Connection::open(lab.desk.path().join("lab/events.db")).unwrap();
    let told = "SELECT count(*) FROM event WHERE payload LIKE '%count them:\\n- the guests\\n- the hosts%'";
    assert!(log.query_row(told, [], |row| row.get::<_, i64>(0)).unwrap() > 0);
}

#[test]
fn a_branch_that_a_shell_made_appears_while_the_session_is_open() {
    let lab = Lab::new();
    let model = lab.desk.script(&script("0s"));
    let pty = lab.desk.open_at(&lab.session(), &["--read-only"], &[]);
    pty.wait_for("3 came");
    pty.wait_until_gone("reading");
    for (value, made) in [("41", "s_1 at Q1 step 2"), ("42", "s_2 at Q1 step 2")] {
        let mut fork = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
        fork.args(["fork", "party", "--dir", "lab", "--at", "2", "--inject", value]);
        fork.args(["--primary-agent", &model, "--sub-agent", &model]);
        let forked = fork
            .current_dir(lab.desk.path())
            .env("XDG_CONFIG_HOME", "none")
            .output();
        assert!(
            forked.as_ref().is_ok_and(|forked| forked.status.success()),
            "{forked:?}"
        );
        pty.wait_for(made);
    }
    quit(pty);
}

#[test]
fn an_ended_fork_is_shown_in_the_session_that_it_branched_off_only() {
    let lab = Lab::new();
    let mut pty = lab.open(&[], &[]);
    to_step(&mut pty, 2);
    to_value(&mut pty);
    type_in(&mut pty, "41");
    pty.send("\r");
    pty.wait_for("costs money");
    pty.send("\r");
    pty.wait_for("fork s_1 is answered");
    // Left without being opened: another session has a dialog of its own.
    pty.send("\x1b");
    pty.wait_until_gone("opens the fork");
    pty.send("\x1b");
    pty.wait_for("s_1 at Q1 step 2");
    pty.send("s");
    pty.wait_for("s_1 ← party");
    pty.send("/s_1\r");
    pty.wait_until_gone("forks s_1");
    pty.send("\r");
    pty.wait_for("party at Q1 step 2");
    pty.send("\r");
    pty.wait_for("step 1");
    pty.send("f");
    pty.wait_for("before step");
    assert!(!pty.screen_text().contains("is answered"), "{}", pty.screen_text());
    pty.send("\x1b");
    quit(pty);
}

#[test]
fn edited_code_runs_in_place_of_the_step_and_slips_are_found_before_anything_is_made() {
    let lab = Lab::new();
    let editor = lab.editor("s/len(guests)/len(guests) * 2/");
    let mut pty = lab.open(&[], &[("EDITOR", &editor), ("VISUAL", "")]);
    to_step(&mut pty, 2);
    pty.send("f");
    pty.wait_for("edit the code");
    lab.editor("s/len(guests)/len(guests/");
    pty.send("\x1b[B\r");
    pty.wait_for("this is no Python");
    assert!(!lab.desk.path().join("lab/s_1").exists());
    lab.editor("s/len(guests/len(guests) * 2/");
    pty.send("\r");
    pty.wait_for("it is Python");
    pty.send("\r");
    pty.wait_for("fork s_1 is answered");
    pty.wait_for("6 came, sub: 6 guests");
    pty.send("\x1b");
    quit(pty);
}

#[test]
fn asked_differently_the_model_goes_on_from_the_step() {
    let lab = Lab::new();
    let mut pty = lab.open(&[], &[]);
    to_step(&mut pty, 2);
    // The same from the scrub screen.
    pty.send("p");
    pty.wait_for("after step 2");
    pty.send("f");
    pty.wait_for("ask differently");
    pty.send("\x1b[B\x1b[B\r");
    pty.wait_for("told this before step 2");
    type_in(&mut pty, "count them again");
    pty.send("\r");
    pty.wait_for("told: count them again");
    pty.send("\r");
    pty.wait_for("fork s_1 is answered");
    pty.wait_for("3 came");
    pty.send("\x1b");
    quit(pty);
}

#[test]
fn a_fork_that_takes_too_long_is_hidden_shown_again_and_cancelled() {
    let lab = Lab::new();
    let mut pty = lab.open_with("60s", &[], &[]);
    to_step(&mut pty, 2);
    to_value(&mut pty);
    type_in(&mut pty, "5");
    pty.send("\r");
    pty.wait_for("forks");
    pty.send("\r");
    pty.wait_for("1 sub-agent");
    pty.send("\x1b");
    pty.wait_until_gone("cancels it");
    // It goes on: leaving asks first.
    pty.send("q");
    pty.wait_for("a run goes on");
    pty.send("\x1b");
    pty.wait_until_gone("a run goes on");
    pty.send("f");
    pty.wait_for("1 sub-agent");
    pty.send("\x03");
    pty.wait_for("fork s_1 is cancelled and kept");
    pty.send("\x1b");
    quit(pty);
    let forked = std::fs::read_to_string(lab.desk.path().join("lab/s_1/state.json")).unwrap();
    assert!(forked.contains("cancelled"), "{forked}");
}

#[test]
fn what_cannot_be_forked_says_why_and_nothing_is_made() {
    let lab = Lab::new();
    let before = files(&lab.desk.path().join("lab"));
    let mut pty = lab.open(&["--read-only"], &[]);
    pty.send("f");
    pty.wait_for("opened with --read-only");
    pty.send("\x1b");
    quit(pty);
    let mut pty = lab.desk.open_at(&lab.session(), &[], &[]);
    pty.send("\rf");
    pty.wait_for("no model is set");
    pty.send("\x1b");
    quit(pty);
    assert_eq!(files(&lab.desk.path().join("lab")), before);
    // A session that another program wrote has no log.
    let mut pty = lab.desk.scripted(&script("0s"));
    pty.wait_for("first answer");
    pty.send("\rf");
    pty.wait_for("cannot be forked here");
    pty.send("\x1b");
    quit(pty);
}

#[test]
fn a_replay_ticks_through_and_changes_nothing() {
    let lab = Lab::new();
    let before = files(&lab.desk.path().join("lab"));
    // Nobody needs a model for it, and it may be read-only.
    let mut pty = lab.desk.open_at(&lab.session(), &["--read-only"], &[]);
    pty.wait_for("3 came");
    pty.send("\r");
    pty.wait_for("step 1");
    pty.send("p");
    pty.wait_for("after step 1");
    pty.send("p");
    pty.wait_for("faithful: 4 steps as recorded, 1 of 1 leaf call served");
    for mark in ["[1✓]", "2✓", "3✓", "4✓"] {
        pty.wait_for(mark);
    }
    quit(pty);
    assert_eq!(files(&lab.desk.path().join("lab")), before);
}

#[test]
fn a_replay_explains_the_first_mismatch() {
    let lab = Lab::new();
    let log = rusqlite::Connection::open(lab.desk.path().join("lab/events.db")).unwrap();
    let tampered = "UPDATE event SET payload = replace(payload, 'SHOWN]... 3', 'SHOWN]... 4') WHERE kind = 'step_ended' AND step = 0";
    assert_eq!(log.execute(tampered, []).unwrap(), 1);
    drop(log);
    let mut pty = lab.open(&[], &[]);
    to_step(&mut pty, 3);
    pty.send("p");
    pty.wait_for("after step 3");
    pty.send("p");
    pty.wait_for("step 1: output is not as recorded");
    pty.wait_for("[1≠]");
    pty.wait_for("printed something else");
    quit(pty);
}

#[test]
fn the_demo_is_scrubbed_replayed_forked_and_compared_offline() {
    let desk = Desk::new();
    let config = desk.path().join("no-configuration").to_string_lossy().into_owned();
    let args = ["--demo", "--tui", "--no-animation"];
    let mut pty = Pty::viewer(
        desk.path(),
        &args,
        &[("XDG_CONFIG_HOME", &config), ("FAST_RLM_MODEL", "")],
    );
    pty.wait_for("? keys");
    pty.wait_until_gone("reading");
    // The last one before the run that was cut.
    pty.send("\x1b[F\x1b[A\r");
    pty.wait_for("Q6 › step 1");
    pty.send("\x1b[B");
    pty.wait_for("Q6 › step 2");
    pty.send("p");
    pty.wait_for("after step 2");
    pty.wait_for("added");
    pty.send("p");
    pty.wait_for("faithful");
    pty.send("f");
    pty.wait_for("inject a value");
    pty.send("\x1b[B\x1b[B\r");
    pty.wait_for("is told this");
    type_in(&mut pty, "the oil");
    pty.send("\r");
    pty.wait_for("told: the oil");
    pty.send("\r");
    pty.wait_for("is answered");
    pty.send("d");
    pty.wait_for("other code");
    pty.send("\x1b");
    pty.wait_for("opens the fork");
    quit(pty);
}
