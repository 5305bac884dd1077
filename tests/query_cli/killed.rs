//! What processes that were killed leave in temporary places, and that the next query removes it, and nobody else's.

use super::Place;
use super::stopping::wait_for;
use crate::running::{Program, signal};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Entries of a directory that begin and end so.
fn found(dir: &Path, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let name = entry.file_name().into_string().unwrap();
        name.starts_with(prefix) && name.ends_with(suffix)
    });
    named.map(|entry| entry.path()).collect()
}

fn kill(mut child: Child) {
    signal(&child, Signal::KILL);
    child.wait().unwrap();
}

/// A query with a session of its own, which needs no private directory.
fn next(place: &Place, temporary: &Path) {
    let query = place.steps(&["FINAL('next')"]).session(&place.session_dir());
    assert_eq!(query.env("TMPDIR", temporary).answer(), "next");
}

#[test]
fn private_directories_of_killed_processes_go_with_the_next_query_and_those_of_living_ones_stay() {
    let place = Place::new();
    let temporary = place.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let config = "cli_agents:\n  slow: {command: sh, args: [-c, 'exec sleep 60']}\n";
    place.file("rlm.yaml", config);
    let agents = || found(&temporary, "fast-rlm-agent-", "");
    let asks = || {
        let before = agents();
        let query = Program::asks(place.path(), "go").option("--config", "rlm.yaml");
        let mut child = query
            .option("--primary-agent", "cli:slow?model=m")
            .env("TMPDIR", &temporary)
            .start();
        // Before that, nobody can tell whose it is.
        let is_new = |dir: &PathBuf| !before.contains(dir) && dir.join(".owner").exists();
        wait_for(&mut child, || agents().iter().any(is_new));
        child
    };
    let killed = asks();
    let dead = [agents(), found(&temporary, "fast-rlm-session-", "")].concat();
    assert_eq!(dead.len(), 2, "{dead:?}");
    kill(killed);
    assert!(dead.iter().all(|dir| dir.exists()), "a killed process removes nothing");
    let alive = asks();
    next(&place, &temporary);
    assert!(!dead.iter().any(|dir| dir.exists()), "{dead:?}");
    assert_eq!(agents().len(), 1, "another process has it");
    kill(alive);
    let queries = [(); 2].map(|()| place.steps(&["FINAL(2)"]).env("TMPDIR", &temporary).start());
    for mut query in queries {
        assert!(query.wait().unwrap().success(), "two at once");
    }
    assert_eq!(found(&temporary, "", ""), [] as [PathBuf; 0]);
}

#[test]
fn directories_of_killed_workers_go_too() {
    let place = Place::new();
    let temporary = place.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let code = "open('made', 'w').write('x')\nimport time\ntime.sleep(60)";
    let query = place.steps(&[code]).option("--repl", "python3");
    let mut child = query
        .session(&place.path().join("other"))
        .env("TMPDIR", &temporary)
        .start();
    let made = || {
        found(&temporary, "fast-rlm-python-", "")
            .iter()
            .any(|dir| dir.join("work/made").exists())
    };
    wait_for(&mut child, made);
    kill(child);
    assert_eq!(found(&temporary, "fast-rlm-python-", "").len(), 1);
    next(&place, &temporary);
    assert_eq!(found(&temporary, "", ""), [] as [PathBuf; 0]);
}

#[test]
fn temporary_files_of_a_killed_writer_go_when_the_session_is_opened_again() {
    let place = Place::new();
    let query = || place.steps(&["x = 1", "FINAL(x)"]).session(&place.session_dir());
    let long = "word ".repeat(5_000);
    let asks = |prompt: &str| {
        let script = place.path().join("steps.json");
        Program::asks(place.path(), prompt)
            .scripted(&script)
            .session(&place.session_dir())
    };
    assert_eq!(query().answer(), "1");
    // The query's own text, in logs/, under a name that nobody writes twice; then state.json.
    for (prompt, at, dir) in [(long.as_str(), 1, "logs"), ("go", 1, ""), ("go", 2, "")] {
        let ran = asks(prompt).env("FAST_RLM_FAULT", format!("atomic.write:{at}")).run();
        assert_eq!(ran.code, None, "it is as if killed: {ran:?}");
        assert_eq!(
            found(&place.session_dir().join(dir), ".", ".tmp").len(),
            1,
            "{prompt:.5} {at}"
        );
        assert_eq!(query().answer(), "1");
        for dir in ["", "logs"] {
            assert_eq!(found(&place.session_dir().join(dir), ".", ".tmp"), [] as [PathBuf; 0]);
        }
    }
}

#[test]
fn a_part_of_a_piped_input_goes_when_the_session_is_opened_again() {
    let place = Place::new();
    next(&place, &std::env::temp_dir());
    let script = place.path().join("steps.json");
    let query = Program::asks(place.path(), "about it")
        .scripted(&script)
        .option("--input-file", "-");
    let mut child = query.session(&place.session_dir()).start_with(Stdio::piped());
    let inputs = place.session_dir().join("inputs");
    wait_for(&mut child, || !found(&inputs, ".stdin.", ".part").is_empty());
    kill(child);
    assert_eq!(fs::read_dir(&inputs).unwrap().count(), 1, "a part of an input is none");
    next(&place, &std::env::temp_dir());
    assert_eq!(fs::read_dir(&inputs).unwrap().count(), 0);
}
