//! Files that are no files: pipes and devices that a session or a configuration names are refused and never waited for;
//! pipes that a person names are read. Links in a session do not lead out of it.

use super::Place;
use crate::running::{Program, Ran, signal};
use rustix::process::Signal;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

const IS_NONE: &str = "it is a device, pipe or socket, not a regular file";

impl Place {
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        path
    }

    /// A pipe into which somebody writes.
    fn filled(&self, name: &str, text: &'static str) -> PathBuf {
        let path = self.pipe(name);
        let to = path.clone();
        std::thread::spawn(move || std::fs::write(to, text).unwrap());
        path
    }

    /// Two queries in the session `runs/one`.
    fn recorded(&self) -> PathBuf {
        for code in ["x = 1\nFINAL(x)", "y = x + 1\nFINAL(y)"] {
            let query = self.steps(&["kept = 1", code]).option("--session-id", "one");
            query.session(&self.path().join("runs")).answer();
        }
        self.path().join("runs/one")
    }

    fn on_one(&self, command: &str) -> Program {
        Program::new(self.path())
            .arg(command)
            .arg("one")
            .option("--dir", "runs")
    }
}

/// Ends by itself, and soon.
#[track_caller]
fn ended(mut child: Child) -> Ran {
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("it waits for something");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::from(child.wait_with_output().unwrap())
}

fn logs(session: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(session.join("logs")).unwrap();
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    logs.sort();
    logs
}

#[test]
fn a_state_that_is_no_file_is_refused() {
    let place = Place::new();
    place.pipe("pipe/state.json");
    std::fs::create_dir(place.path().join("device")).unwrap();
    symlink("/dev/zero", place.path().join("device/state.json")).unwrap();
    for session in ["pipe", "device"] {
        let asked = place.steps(&["FINAL(1)"]).session(&place.path().join(session));
        ended(asked.start()).refused(1, &["state.json", IS_NONE, "move it away"]);
    }
}

#[test]
fn models_and_settings_that_are_no_files_are_refused() {
    let place = Place::new();
    let model = |name: &str| Program::asks(place.path(), "x").option("--primary-agent", name);
    place.pipe("pipe");
    for script in ["scripted:/dev/zero", "scripted:pipe"] {
        ended(model(script).start()).refused(2, &[IS_NONE]);
    }
    place.file("fast-rlm.toml", "primary_agent = \"scripted:/dev/zero\"\n");
    let told = ended(Program::new(place.path()).arg("doctor").start());
    assert!(told.code == Some(2) && told.out.contains(IS_NONE), "{told:?}");
    for option in ["--input-file", "--tools", "--mcp", "--output-schema", "--config"] {
        let asked = place.steps(&["FINAL(1)"]).option(option, "/dev/zero");
        ended(asked.start()).refused(2, &["/dev/zero", IS_NONE]);
    }
}

#[test]
fn a_pipe_that_a_person_names_is_read() {
    let place = Place::new();
    let asked = place.steps(&["FINAL([context, hello()])"]).arg("--json");
    let asked = asked.option("--input-file", place.filled("input", "from a pipe"));
    let asked = asked.option("--tools", place.filled("tools", "def hello():\n    return 'hi'\n"));
    let asked = asked.option("--config", place.filled("config", "max_depth: 1\n"));
    let schema = place.filled("schema", "{\"type\": \"array\"}");
    let asked = ended(asked.option("--output-schema", schema).start());
    assert_eq!(asked.json()["final"], serde_json::json!(["from a pipe", "hi"]));
    // It is kept, so that the query can be replayed.
    let asked = place
        .steps(&["FINAL(context)"])
        .session(&place.session_dir())
        .option("--input-file", place.filled("again.json", "[1, 2]"));
    assert_eq!(ended(asked.start()).out, "[\n  1,\n  2\n]\n");
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir());
    assert_eq!(replay.run().code, Some(0));
}

#[test]
fn an_interrupt_ends_the_wait_for_a_pipe() {
    let place = Place::new();
    for option in ["--input-file", "--tools", "--output-schema"] {
        let pipe = place.pipe(&format!("pipe{option}"));
        let child = place.steps(&["FINAL(1)"]).option(option, pipe).start();
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, Signal::INT);
        // By an exit, or by the signal where it was not listened for yet.
        assert!(matches!(ended(child).code, Some(130) | None));
    }
}

#[test]
fn a_link_in_a_session_gives_no_file_away() {
    let place = Place::new();
    let session = place.recorded();
    let secret = place.file("secret.jsonl", "nobody may have this\n");
    let first = logs(&session).remove(0);
    let (state, kept) = (session.join("state.json"), place.path().join("kept"));
    for path in [&first, &state] {
        std::fs::rename(path, &kept).unwrap();
        symlink(&secret, path).unwrap();
        let exported = place.on_one("export").option("--bundle", "out.bundle").run();
        exported.refused(1, &["it leads out of its session", "secret.jsonl"]);
        assert!(!place.path().join("out.bundle").exists());
        std::fs::rename(&kept, path).unwrap();
    }
    std::fs::rename(&first, &kept).unwrap();
    symlink(&secret, &first).unwrap();
    let fork = || place.on_one("fork").option("--at", "2").option("--replan", "again");
    fork()
        .run()
        .refused(1, &["it leads out of its session", "secret.jsonl"]);
    std::fs::rename(&kept, &first).unwrap();
    // A directory that leads elsewhere is no better, and a link within the session does no harm.
    std::fs::rename(session.join("logs"), place.path().join("elsewhere")).unwrap();
    symlink(place.path().join("elsewhere"), session.join("logs")).unwrap();
    let exported = place.on_one("export").option("--bundle", "out.bundle").run();
    exported.refused(1, &["it leads out of its session"]);
    std::fs::remove_file(session.join("logs")).unwrap();
    std::fs::rename(place.path().join("elsewhere"), session.join("logs")).unwrap();
    std::fs::rename(&state, session.join("state.real")).unwrap();
    symlink("state.real", &state).unwrap();
    let exported = place.on_one("export").option("--bundle", "out.bundle").run();
    assert_eq!(exported.code, Some(0), "{exported:?}");
}
