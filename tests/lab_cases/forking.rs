//! `fast-rlm fork` and what follows on it, as people run them.

use crate::shell::{asking, command, exits, json_of, out, program, recorded};
use fast_rlm::observe::Fact;
use fast_rlm::store::{Select, StoredEvent};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_fork_that_is_killed_in_its_tail_is_interrupted_and_can_be_resumed() {
    let dir = recorded();
    let tail = "k = 1\n# ---\nimport time; time.sleep(3)\n# ---\nFINAL(k)\n";
    std::fs::write(dir.path().join("e.py"), tail).unwrap();
    let fork = ["fork", "one", "--dir", "runs", "--at", "2", "--edit", "e.py"];
    let mut running = command(&fork, dir.path()).spawn().unwrap();
    let store = fast_rlm::Storage::dir(dir.path().join("runs")).open().unwrap();
    let sleeps = |row: &fast_rlm::store::SessionRow| {
        let steps = Select::all().only(&[fast_rlm::store::Kind::StepStarted]);
        let events = store.events.read_all(&row.id, &steps).unwrap().events;
        row.id != "one"
            && events
                .iter()
                .any(|event| matches!(&event.fact, Fact::StepStarted(step) if step.code.contains("sleep")))
    };
    let began = std::time::Instant::now();
    while !store.events.sessions().unwrap().iter().any(sleeps) {
        assert!(began.elapsed().as_secs() < 60, "the tail begins");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let cut = rows.as_array().unwrap().iter().find(|row| row["id"] != "one").unwrap();
    assert_eq!(cut["interrupted"], json!(true), "{cut}");
    std::fs::write(
        dir.path().join("next.json"),
        r#"{"replies": [{"code": "FINAL(k + 1)"}]}"#,
    )
    .unwrap();
    let resume = [
        "resume",
        cut["id"].as_str().unwrap(),
        "--dir",
        "runs",
        "--primary-agent",
        "scripted:next.json",
    ];
    let resumed = program(&resume, dir.path());
    exits(&resumed, 0);
    assert_eq!(out(&resumed).trim(), "2");
}

/// What a fork says to do next can be pasted, and means the fork: a question asked anew elsewhere would cost money.
fn pasted_commands_work(told: &str, id: &str, dir: &Path) {
    let commands: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("  fast-rlm "))
        .collect();
    let [diff, replay, ask] = commands[..] else {
        panic!("{told}")
    };
    let words = |command: &str| -> Vec<String> { command.split(' ').map(|word| word.replace('\'', "")).collect() };
    let run = |command: &str| {
        let words = words(command);
        program(&words.iter().map(String::as_str).collect::<Vec<_>>(), dir)
    };
    exits(&run(diff), 1);
    exits(&run(replay), 0);
    let directory = ask.split_once("--session-dir ").unwrap().1.replace('\'', "");
    assert!(
        Path::new(&directory).ends_with(id) && dir.join(&directory).join("state.json").is_file(),
        "{ask}"
    );
}

#[test]
fn a_fork_of_a_session_that_was_named_by_its_directory_says_where_it_is() {
    let dir = recorded();
    // Its log is in its own directory, and its name is to be quoted.
    let alone = "it's alone";
    let script = r#"{"replies": [{"code": "x = 1"}, {"code": "FINAL(x)"}]}"#;
    std::fs::write(dir.path().join("alone.json"), script).unwrap();
    let asked = ["go", "--session-dir", alone, "--primary-agent", "scripted:alone.json"];
    exits(&program(&asked, dir.path()), 0);
    let forked = program(&["fork", alone, "--at", "1", "--inject", "5"], dir.path());
    exits(&forked, 0);
    let told = String::from_utf8_lossy(&forked.stderr);
    let quoted = told
        .lines()
        .find_map(|line| line.strip_prefix("  fast-rlm replay "))
        .unwrap();
    let line = format!("exec \"$PROGRAM\" replay {quoted}");
    let shell = std::process::Command::new("sh")
        .args(["-c", &line])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fast-rlm"))
        .current_dir(dir.path())
        .output()
        .unwrap();
    exits(&shell, 0);
    let quiet = program(&["fork", alone, "--at", "1", "--inject", "6", "-q"], dir.path());
    assert_eq!((out(&quiet).as_str(), quiet.stderr.as_slice()), ("6\n", &b""[..]));
}

#[test]
fn case_83_fork_takes_one_way_and_says_what_to_do_next() {
    let dir = recorded();
    let fork = |more: &[&str]| {
        program(
            &[&["fork", "one", "--dir", "runs", "--at", "2"], more].concat(),
            dir.path(),
        )
    };
    exits(&fork(&[]), 2);
    exits(&fork(&["--inject", "1", "--replan", "x"]), 2);
    exits(&fork(&["--inject", "{not json"]), 2);
    exits(
        &program(
            &["fork", "one", "--dir", "runs", "--at", "0", "--inject", "1"],
            dir.path(),
        ),
        2,
    );
    exits(
        &program(
            &["fork", "one", "--dir", "runs", "--at", "9", "--inject", "1"],
            dir.path(),
        ),
        2,
    );
    // What is refused leaves nothing: a value for a step that bound nothing, a step that is no Python.
    let sessions = || {
        json_of(&program(&["sessions", "runs", "--json"], dir.path()))
            .as_array()
            .unwrap()
            .len()
    };
    let unbound = ["fork", "one", "--dir", "runs", "--at", "3", "--inject", "1"];
    let refused = program(&unbound, dir.path());
    exits(&refused, 2);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("binds no name"),
        "{refused:?}"
    );
    std::fs::write(dir.path().join("edit.py"), "z = (\n").unwrap();
    exits(&fork(&["--edit", "edit.py"]), 2);
    assert_eq!(sessions(), 1);
    let forked = fork(&["--inject", "\"other\""]);
    exits(&forked, 0);
    let told = String::from_utf8_lossy(&forked.stderr);
    let id = out(&forked).lines().next().unwrap().to_owned();
    assert!(out(&forked).ends_with("other\n"), "{forked:?}");
    pasted_commands_work(&told, &id, dir.path());
    std::fs::write(dir.path().join("edit.py"), "z = x * 2\n# ---\nFINAL(z)\n").unwrap();
    let edited = fork(&["--edit", "edit.py", "--json"]);
    assert_eq!(json_of(&edited)["final"], "subsub");
    std::fs::write(dir.path().join("edit.py"), "1/0\n").unwrap();
    let halted = fork(&["--edit", "edit.py"]);
    exits(&halted, 1);
    assert!(
        String::from_utf8_lossy(&halted.stderr).starts_with("fork s_"),
        "it is kept: {halted:?}"
    );
}

#[test]
fn a_fork_and_a_resumed_query_that_are_cancelled_say_what_to_do_next() {
    let dir = recorded();
    let tail = "k = 1\n# ---\nimport time; time.sleep(60)\n# ---\nFINAL(k)\n";
    std::fs::write(dir.path().join("e.py"), tail).unwrap();
    let fork = ["fork", "one", "--dir", "runs", "--at", "2", "--edit", "e.py"];
    let (id, told) = cancelled(dir.path(), &fork, "sleep(60)");
    assert_eq!(told.lines().next(), Some(format!("fork {id}").as_str()), "{told}");
    goes_on(dir.path(), &id, &told);

    let sleep = |seconds: u32| json!({"code": format!("import time; time.sleep({seconds})")});
    let slow = json!({"replies": [{"code": "k = 2"}, sleep(2), sleep(61)]});
    std::fs::write(dir.path().join("slow.json"), slow.to_string()).unwrap();
    let ask = asking("Slowly", "scripted:slow.json", "cut");
    let mut asked = sleeping(dir.path(), &ask, "sleep(2)").0;
    asked.kill().unwrap();
    asked.wait().unwrap();
    let resume = [
        "resume",
        "cut",
        "--dir",
        "runs",
        "--primary-agent",
        "scripted:slow.json",
    ];
    let (_, told) = cancelled(dir.path(), &resume, "sleep(61)");
    goes_on(dir.path(), "cut", &told);
}

/// The program once a step with this code has begun, and the session that it did so in.
fn sleeping(dir: &Path, args: &[&str], code: &str) -> (Child, String) {
    let store = fast_rlm::Storage::dir(dir.join("runs")).open().unwrap();
    let is_it = |event: &StoredEvent| matches!(&event.fact, Fact::StepStarted(step) if step.code.contains(code));
    let sleeps = |row: &fast_rlm::store::SessionRow| {
        let steps = Select::all().only(&[fast_rlm::store::Kind::StepStarted]);
        store.events.read_all(&row.id, &steps).unwrap().events.iter().any(is_it)
    };
    let child = command(args, dir).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let id = loop {
        if let Some(row) = store.events.sessions().unwrap().into_iter().find(sleeps) {
            break row.id;
        }
        assert!(began.elapsed().as_secs() < 60, "it begins");
        std::thread::sleep(Duration::from_millis(20));
    };
    (child, id)
}

/// The session, and what was said.
fn cancelled(dir: &Path, args: &[&str], code: &str) -> (String, String) {
    let (child, id) = sleeping(dir, args, code);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    exits(&ended, 130);
    (id, String::from_utf8(ended.stderr).unwrap())
}

/// The command that it names can be pasted, and asks in that session.
#[track_caller]
fn goes_on(dir: &Path, id: &str, told: &str) {
    let line = told.lines().last().unwrap();
    let command = line
        .strip_prefix("  fast-rlm \"…\" --session-dir ")
        .unwrap_or_else(|| panic!("{told}"));
    let place = command.split_once("   asks again").unwrap().0;
    assert!(place.ends_with(id), "{told}");
    std::fs::write(dir.join("next.json"), r#"{"replies": [{"code": "FINAL(k)"}]}"#).unwrap();
    let again = program(
        &["go on", "--session-dir", place, "--primary-agent", "scripted:next.json"],
        dir,
    );
    exits(&again, 0);
}
