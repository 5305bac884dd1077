//! The commands on recorded sessions, as people run them.

use fast_rlm::observe::Fact;
use fast_rlm::store::{Digest, NewEvent, NewSession, Select};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const STEPS: [&str; 3] = ["x = await llm_query('a')", "y = x + '!'", "FINAL(y)"];

/// The program in a directory, with no configuration but what lies there.
pub(crate) fn command(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
    command
        .args(args)
        .current_dir(dir)
        .env("XDG_CONFIG_HOME", dir.join("none"))
        .env_remove("RUST_BACKTRACE");
    command
}

pub(crate) fn program(args: &[&str], dir: &Path) -> Output {
    command(args, dir).output().unwrap()
}

/// Arguments that ask in a session under `runs`.
pub(crate) fn asking<'a>(prompt: &'a str, model: &'a str, session: &'a str) -> [&'a str; 7] {
    [
        prompt,
        "--primary-agent",
        model,
        "--session-dir",
        "runs",
        "--session-id",
        session,
    ]
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[track_caller]
pub(crate) fn exits(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

/// A directory with the session `one` under `runs`, and the script that made it.
pub(crate) fn recorded() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let replies: Vec<Value> = STEPS.iter().map(|code| json!({ "code": code })).collect();
    let script = json!({"rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL('sub')"}]}], "replies": replies});
    std::fs::write(dir.path().join("model.json"), script.to_string()).unwrap();
    let asked = program(&asking("Find the whale", "scripted:model.json", "one"), dir.path());
    exits(&asked, 0);
    dir
}

#[test]
fn case_84_sessions_without_a_log_are_not_called_identical() {
    let dir = recorded();
    for name in ["foreign", "other"] {
        let session = dir.path().join("runs").join(name);
        std::fs::create_dir(&session).unwrap();
        std::fs::write(session.join("state.json"), r#"{"version": 2, "queries": []}"#).unwrap();
    }
    for pair in [["foreign", "other"], ["one", "foreign"], ["foreign", "one"]] {
        let compared = program(&["diff", pair[0], pair[1], "--dir", "runs"], dir.path());
        exits(&compared, 2);
        let told = String::from_utf8(compared.stderr).unwrap();
        assert!(
            told.contains("foreign") && told.contains("has no record (events.db)"),
            "{told}"
        );
    }
}

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

#[test]
fn case_81_sessions_are_listed_filtered_and_pruned() {
    let dir = recorded();
    let store = fast_rlm::Storage::dir(dir.path().join("runs")).open().unwrap();
    store.events.create_session(&NewSession::named("empty", 1)).unwrap();
    drop(store);
    let list = |more: &[&str]| json_of(&program(&[&["sessions", "runs", "--json"], more].concat(), dir.path()));
    let ids = |rows: &Value| {
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = list(&[]);
    assert_eq!(ids(&all).len(), 2);
    let one = all.as_array().unwrap().iter().find(|row| row["id"] == "one").unwrap();
    assert_eq!(
        (&one["queries"], &one["last_query"]),
        (&json!(1), &json!("Find the whale"))
    );
    assert_eq!((&one["interrupted"], &one["waits"]), (&json!(false), &json!(false)));
    assert_eq!(ids(&list(&["--query", "WHALE"])), ["one"]);
    assert_eq!(
        ids(&list(&["--query", "whale", "--since", "2999-01-01"])),
        Vec::<String>::new()
    );
    assert_eq!(ids(&list(&["--query", "whale", "--since", "1h"])), ["one"]);
    exits(&program(&["sessions", "runs", "--since", "soon"], dir.path()), 2);
    // One that waits for an answer, and one whose process died: neither is empty.
    let ask = json!({"replies": [{"code": "y = await ask('ok?')"}]});
    std::fs::write(dir.path().join("ask.json"), ask.to_string()).unwrap();
    let asks = |session| command(&asking("Ask me", "scripted:ask.json", session), dir.path());
    exits(&asks("waits").output().unwrap(), 75);
    let cut = asks("cut").env("FAST_RLM_FAULT", "flow.write:2").output().unwrap();
    assert_eq!(cut.status.code(), None, "{cut:?}");
    let all = list(&[]);
    let flags = |id: &str| {
        let row = all.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
        (row["interrupted"].clone(), row["waits"].clone())
    };
    assert_eq!(flags("waits"), (json!(false), json!(true)));
    assert_eq!(flags("cut"), (json!(true), json!(false)));
    assert_eq!(flags("one"), (json!(false), json!(false)));
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    let line = |id: &str| columns.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(
        line("waits").contains("waits for an answer") && line("cut").contains("interrupted"),
        "{columns}"
    );
    // One without a log counts the query that was cut, as one with a log does.
    std::fs::create_dir(dir.path().join("runs/foreign")).unwrap();
    let state = json!({"version": 2, "queries": [], "pending_query": "cut"});
    std::fs::write(dir.path().join("runs/foreign/state.json"), state.to_string()).unwrap();
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    for id in ["foreign", "cut"] {
        let line = columns.lines().find(|line| line.starts_with(id)).unwrap();
        assert!(
            line.contains("0 queries + 1 without FINAL") && line.contains("interrupted"),
            "{columns}"
        );
    }
    std::fs::remove_dir_all(dir.path().join("runs/foreign")).unwrap();
    // The viewer says the same.
    let log = |target: &str| {
        let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        out(&viewer.current_dir(dir.path()).arg(target).output().unwrap())
    };
    let facts = log("runs/waits");
    assert!(
        facts.contains("none: it waits for an answer: ok?") && facts.contains("+ 1 that waits for an answer"),
        "{facts}"
    );
    assert!(log("runs/cut").contains("none: interrupted"));
    assert!(log("runs").contains("(waits for an answer)"));
    assert!(
        line("one").contains("1 query") && line("one").contains("Find the whale"),
        "{columns}"
    );
    let pruned = program(&["sessions", "runs", "--prune"], dir.path());
    assert!(
        out(&pruned).contains("removed empty") && out(&pruned).contains("one"),
        "{pruned:?}"
    );
    let mut left = ids(&list(&[]));
    left.sort();
    assert_eq!(left, ["cut", "one", "waits"]);
}

#[test]
fn a_query_that_runs_is_not_called_interrupted() {
    let dir = recorded();
    let slow = json!({"replies": [{"code": "x = 1"}, {"code": "FINAL(x)", "delay": "120s"}]});
    std::fs::write(dir.path().join("slow.json"), slow.to_string()).unwrap();
    let mut asked = command(&asking("Take your time", "scripted:slow.json", "slow"), dir.path());
    let mut asked = asked.stderr(std::process::Stdio::null()).spawn().unwrap();
    let flags = || {
        let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
        let row = rows.as_array().unwrap().iter().find(|row| row["id"] == "slow").cloned();
        row.filter(|row| row["queries"] == 1)
            .map(|row| [row["running"].clone(), row["interrupted"].clone()])
    };
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while flags().is_none() && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let while_it_runs = flags();
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    asked.kill().unwrap();
    asked.wait().unwrap();
    assert_eq!(while_it_runs, Some([json!(true), json!(false)]));
    assert!(
        columns.contains("  running  ") && !columns.contains("interrupted"),
        "{columns}"
    );
    assert_eq!(flags(), Some([json!(false), json!(true)]));
}

#[test]
fn case_82_replay_prints_its_report_and_exits_by_it() {
    let dir = recorded();
    let replayed = program(&["replay", "last", "--dir", "runs", "--json"], dir.path());
    exits(&replayed, 0);
    let report = json_of(&replayed);
    assert_eq!(
        (&report["faithful"], &report["report"]["cells_total"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(report["report"]["plans"][0]["steps"].as_array().unwrap().len(), 3);
    exits(
        &program(&["replay", "one", "--dir", "runs", "--turn", "0"], dir.path()),
        2,
    );
    exits(
        &program(&["replay", "one", "--dir", "runs", "--turn", "2"], dir.path()),
        2,
    );
    let told = program(&["replay", "one", "--dir", "runs", "--turn", "1"], dir.path());
    assert!(out(&told).starts_with("faithful: 3 steps, 1/1 calls"), "{told:?}");

    // A step that the log has otherwise than it ran.
    changed(dir.path(), "wrong", |fact| match fact {
        Fact::StepStarted(mut started) if started.code == STEPS[1] => {
            started.code = "y = x + '?'".into();
            started.into()
        }
        other => other,
    });
    let diverged = program(&["replay", "wrong", "--dir", "runs"], dir.path());
    exits(&diverged, 1);
    assert!(out(&diverged).contains("Q1 step 2: value of y"), "{diverged:?}");
}

/// The session `one` once more under another name, changed on the way.
fn changed(dir: &Path, name: &str, change: fn(Fact) -> Fact) {
    let store = fast_rlm::Storage::dir(dir.join("runs")).open().unwrap();
    let copy = store.events.create_session(&NewSession::named(name, 9)).unwrap();
    let events = store.events.read_all("one", &Select::all()).unwrap().events;
    let again = events.into_iter().map(|event| {
        let mut event = NewEvent::from(event);
        event.fact = change(event.fact);
        event
    });
    crate::desk::tamper(&store, &copy.id, |writer| drop(writer.append(again.collect()).unwrap()));
}

#[test]
fn case_38_a_cell_of_another_input_exits_with_1_and_shows_both_hashes() {
    let dir = recorded();
    changed(dir.path(), "keyed", |fact| match fact {
        Fact::LeafCall(mut cell) if cell.call == "llm_query" => {
            cell.input = Some(Digest::of(b"wrong"));
            cell.into()
        }
        other => other,
    });
    let diverged = program(&["replay", "keyed", "--dir", "runs", "--json"], dir.path());
    exits(&diverged, 1);
    let report = json_of(&diverged);
    let found = &report["report"]["diverged"];
    assert_eq!((&found["what"], &found["step"]), (&json!("call llm_query"), &json!(0)));
    let digits = |key: &str| found[key].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(digits("expected"), Digest::of(b"wrong").to_string());
    assert!(digits("got").parse::<Digest>().is_ok() && digits("got") != digits("expected"));
    assert_eq!(report["report"]["plans"][0]["steps"].as_array().unwrap().len(), 1);
    assert_eq!(report["faithful"], json!(false));
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
fn last_and_the_list_know_sessions_with_a_log_of_their_own() {
    let dir = recorded();
    let script = r#"{"replies": [{"code": "FINAL('of alone')"}]}"#;
    std::fs::write(dir.path().join("alone.json"), script).unwrap();
    let model = ["--primary-agent", "scripted:alone.json"];
    exits(
        &program(
            &[&["go", "--session-dir", "runs/alone"][..], &model].concat(),
            dir.path(),
        ),
        0,
    );
    let limited = ["go", "--session-dir", "runs/limited", "--max-calls", "1"];
    std::fs::write(dir.path().join("alone.json"), r#"{"replies": [{"code": "x = 1"}]}"#).unwrap();
    exits(&program(&[&limited[..], &model].concat(), dir.path()), 3);
    let listed = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let row = |id: &str| {
        listed
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (row("alone")["queries"].as_u64(), row("limited")["queries"].as_u64()),
        (Some(1), Some(1))
    );
    let replayed = program(&["replay", "last", "--dir", "runs", "--json"], dir.path());
    assert_eq!(
        json_of(&replayed)["report"]["plans"][0]["steps"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{replayed:?}"
    );
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
fn case_84_diff_exits_0_or_1_and_2_for_errors() {
    let dir = recorded();
    let what_if = program(
        &[
            "what-if",
            "one",
            "--dir",
            "runs",
            "--substitute",
            "llm_query=\"else\"",
            "--json",
        ],
        dir.path(),
    );
    exits(&what_if, 0);
    let ran = json_of(&what_if);
    assert_eq!(
        (&ran["hermetic"], &ran["final"], &ran["cost_nano_usd"]),
        (&json!(true), &json!("else!"), &json!(0))
    );
    let id = ran["session"].as_str().unwrap();
    exits(&program(&["diff", "one", "one", "--dir", "runs"], dir.path()), 0);
    let differs = program(&["diff", "one", id, "--dir", "runs", "--json"], dir.path());
    exits(&differs, 1);
    let rows = json_of(&differs);
    assert_eq!(
        (&rows["identical"], &rows["rows"][0]["row"]),
        (&json!(false), &json!("output"))
    );
    exits(&program(&["diff", "one", "nope", "--dir", "runs"], dir.path()), 2);
}

#[test]
fn a_session_goes_into_a_file_and_comes_back_elsewhere() {
    let dir = recorded();
    exits(
        &program(&["export", "one", "--dir", "runs", "--bundle", "one.tar"], dir.path()),
        0,
    );
    exits(
        &program(&["export", "one", "--dir", "runs", "--bundle", "one.tar"], dir.path()),
        2,
    );
    exits(&program(&["import", "one.tar", "--dir", "other"], dir.path()), 0);
    exits(&program(&["import", "one.tar", "--dir", "other"], dir.path()), 2);
    exits(&program(&["replay", "one", "--dir", "other"], dir.path()), 0);
    let state = |runs: &str| std::fs::read(dir.path().join(runs).join("one/state.json")).unwrap();
    assert_eq!(state("runs"), state("other"));
    std::fs::write(dir.path().join("no.tar"), "no tar").unwrap();
    exits(&program(&["import", "no.tar", "--dir", "other"], dir.path()), 2);
}

#[test]
fn a_removed_state_is_rebuilt_from_the_log() {
    let dir = recorded();
    let path = dir.path().join("runs/one/state.json");
    let before: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    exits(
        &program(&["sessions", "rebuild", "one", "--dir", "runs"], dir.path()),
        0,
    );
    let after: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (&after["queries"], &after["variables"]),
        (&before["queries"], &before["variables"])
    );
    let gc = program(&["sessions", "gc", "runs"], dir.path());
    assert!(out(&gc).contains("to be freed"), "{gc:?}");
}
