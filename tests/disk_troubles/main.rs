//! A disk that refuses: full, a file that may grow no further, read-only, forbidden, gone. The query ends with an error
//! that names path and cause, what was saved last stays as it is, and the next query works once the cause is gone. The
//! viewer opens what may only be read.
//!
//! The real thing where it can be had: file systems are mounted when the test may do that, and it says so when not.
#![cfg(all(feature = "engine", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "../pty/mod.rs"]
mod pty;
#[path = "../running/mod.rs"]
mod running;

mod permissions;

use running::mount::Mount;
use running::session::{Session, check_state, check_transcript};
use running::{Program, Ran, script};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A directory with a session in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn session_dir(&self) -> PathBuf {
        self.path().join("session")
    }

    fn state(&self) -> Vec<u8> {
        std::fs::read(self.session_dir().join("state.json")).unwrap()
    }

    /// The query of these steps, started by another program, if any.
    fn asks(&self, wrapper: &[&str], codes: &[&str]) -> Program {
        let script = script::steps(self.path(), "steps.json", codes);
        let program = match wrapper {
            [] => Program::new(self.path()),
            _ => Program::started_by(self.path(), wrapper),
        };
        program.arg("go").scripted(&script).session(&self.session_dir())
    }

    /// A session that holds a name.
    fn begun() -> Self {
        let place = Self::new();
        place.begin();
        place
    }

    fn begin(&self) {
        assert_eq!(self.asks(&[], &["kept = 'before'", "FINAL('begun')"]).answer(), "begun");
    }

    /// Once the cause is gone: the session is whole, and goes on from what it had.
    fn works_again(&self) {
        let ran = self.asks(&[], &["FINAL(kept)"]).run();
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "before\n"), "{ran:?}");
        let session = Session::at(&self.session_dir());
        let state = session.state();
        check_state(&state);
        for row in state["queries"].as_array().unwrap() {
            check_transcript(&session.transcript(&row["log_file"]));
        }
        let left = std::fs::read_dir(&session.dir).unwrap();
        let names: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(
            !names.iter().any(|name| name.to_string_lossy().ends_with(".tmp")),
            "{names:?}"
        );
    }

    /// The exit code of a program here, and all that it said.
    fn told(&self, wrapper: &[&str], program: &str, args: &[&str]) -> (Option<i32>, String) {
        let words = [wrapper, &[program], args].concat();
        let mut command = Command::new(words[0]);
        let ran = command.args(&words[1..]).current_dir(self.path()).output().unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        (ran.status.code(), String::from_utf8(said).unwrap())
    }

    fn view(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command
            .arg(self.session_dir())
            .args(args)
            .env("FAST_RLM_CACHE_DIR", self.path().join("cache"));
        command.output().unwrap()
    }
}

/// How a full disk is called.
const FULL: &[&str] = &["No space left", "no storage space"];

/// Bytes that no compression makes smaller, in pieces that are bound one a step.
const GROWS: &str = "import random\nrandom.seed(len(globals()))\npiece_N = random.randbytes(60_000)";

fn growing(steps: usize) -> Vec<String> {
    (0..steps).map(|n| GROWS.replace('N', &n.to_string())).collect()
}

/// The query ended with an error that names the session's directory and the cause.
#[track_caller]
fn told(ran: &Ran, place: &Place, causes: &[&str]) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let dir = place.session_dir();
    assert!(ran.err.contains(dir.to_str().unwrap()), "no path: {ran:?}");
    assert!(causes.iter().any(|cause| ran.err.contains(cause)), "no cause: {ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
}

#[test]
fn a_full_disk_is_told_keeps_what_was_saved_and_works_once_there_is_room() {
    // Sizes at which it fills at another write each time.
    for room in [256, 300, 350, 400, 470, 560] {
        let place = Place::new();
        std::fs::create_dir(place.session_dir()).unwrap();
        let Some(disk) = Mount::full(&place.session_dir(), 8_192) else {
            return;
        };
        place.begin();
        disk.resize(room);
        let steps = growing(20);
        let codes: Vec<&str> = steps.iter().map(String::as_str).collect();
        let ran = place.asks(&[], &codes).run();
        told(&ran, &place, FULL);
        let state: serde_json::Value = serde_json::from_slice(&place.state()).unwrap();
        check_state(&state);
        assert_eq!(state["queries"].as_array().unwrap().len(), 1, "with {room} KiB");
        assert!(
            place.view(&["--stats", "--no-cache"]).status.success(),
            "with {room} KiB"
        );
        disk.resize(65_536);
        place.works_again();
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told_and_nothing_changes() {
    let place = Place::new();
    std::fs::create_dir(place.session_dir()).unwrap();
    let Some(disk) = Mount::full(&place.session_dir(), 8_192) else {
        return;
    };
    place.begin();
    let before = place.state();
    let mut filler = std::fs::File::create(place.session_dir().join("filler")).unwrap();
    while filler.write_all(&[0xa5; 4096]).is_ok() {}
    told(&place.asks(&[], &["x = 1", "FINAL(1)"]).run(), &place, FULL);
    assert_eq!(place.state(), before);
    drop(filler);
    std::fs::remove_file(place.session_dir().join("filler")).unwrap();
    place.works_again();
    drop(disk);
}

/// A quota of the process: no file may grow beyond it. Needs no rights, so this is always tried.
#[test]
fn a_file_that_may_not_grow_is_told_like_a_full_disk() {
    let steps = growing(20);
    let codes: Vec<&str> = steps.iter().map(String::as_str).collect();
    for blocks in [300, 800] {
        let place = Place::begun();
        let limit = format!("ulimit -f {blocks}; exec \"$@\"");
        let ran = place.asks(&["sh", "-c", &limit, "sh"], &codes).run();
        told(&ran, &place, &["too large"]);
        check_state(&serde_json::from_slice(&place.state()).unwrap());
        place.works_again();
    }
}

/// SQLite says no more than "unable to open" and "disk I/O error" of any of these.
#[test]
fn why_a_log_cannot_be_opened_is_told() {
    let place = Place::begun();
    let session = place.session_dir();
    let lab = |wrapper: &[&str], args: &[&str]| {
        let program = match wrapper {
            [] => Program::new(place.path()),
            _ => Program::started_by(place.path(), wrapper),
        };
        args.iter().fold(program, |program, arg| program.arg(arg)).run()
    };
    let few = ["sh", "-c", "ulimit -n 10; exec \"$@\"", "sh"];
    told(
        &lab(&few, &["sessions", "rebuild", "session"]),
        &place,
        &["Too many open files"],
    );
    if let Some(_disk) = Mount::read_only(&session) {
        for args in [
            &["sessions", "rebuild", "session"][..],
            &["sessions", "gc", "session", "--free"],
        ] {
            told(&lab(&[], args), &place, &["Read-only file system"]);
        }
        assert_eq!(lab(&[], &["sessions", "session"]).code, Some(0), "who reads may read");
    }
    let Some(_disk) = Mount::full(&session, 64) else { return };
    std::fs::write(session.join("events.db"), "").unwrap();
    let mut filler = std::fs::File::create(session.join("filler")).unwrap();
    while filler.write_all(&[0xa5; 4096]).is_ok() {}
    told(&lab(&[], &["sessions", "gc", "session", "--free"]), &place, FULL);
}

#[test]
fn a_directory_that_vanishes_in_mid_query_is_told_and_made_again_by_the_next() {
    for gone in ["", "logs"] {
        let place = Place::begun();
        let replies =
            serde_json::json!([{"code": "first = 1"}, {"code": "second = 2", "delay": 1}, {"code": "FINAL(1)"}]);
        let script = script::write(place.path(), "slow.json", &serde_json::json!({"replies": replies}));
        let child = Program::asks(place.path(), "slow")
            .scripted(&script)
            .session(&place.session_dir())
            .start();
        saved(&place, "first = 1");
        std::fs::remove_dir_all(place.session_dir().join(gone)).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        told(&ran, &place, &["No such file", "gone", "removed", "disappeared"]);
        if gone.is_empty() {
            place.begin();
        }
        place.works_again_with_gaps();
    }
}

impl Place {
    /// Like [`Self::works_again`], where transcripts are gone for good.
    fn works_again_with_gaps(&self) {
        let ran = self.asks(&[], &["FINAL(kept)"]).run();
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "before\n"), "{ran:?}");
        check_state(&Session::at(&self.session_dir()).state());
    }
}

#[test]
fn a_screen_whose_session_vanishes_says_so_and_stays() {
    let place = Place::begun();
    let mut screen = pty::Pty::open(&place.session_dir(), &["--tui", "--no-animation"], &[]);
    screen.wait_for("begun");
    screen.wait_until_gone("reading");
    std::fs::remove_dir_all(place.session_dir()).unwrap();
    screen.wait_for("problem");
    screen.send("!");
    screen.wait_for("state.json is gone");
    // The last problem in full.
    screen.send("G");
    screen.wait_for("state.json is gone; what was read before is shown");
    screen.send("\x1b");
    screen.wait_for("begun");
    screen.send("?");
    screen.wait_for("Everywhere");
    screen.send("qq");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn a_place_for_transcripts_that_cannot_be_used_is_named() {
    let place = Place::begun();
    std::fs::write(place.path().join("file"), "").unwrap();
    for logs in ["file", "file/below"] {
        let before = place.state();
        let ran = place
            .asks(&[], &["FINAL(1)"])
            .option("--log-dir", place.path().join(logs))
            .run();
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(logs) && ran.err.contains("no directory"), "{ran:?}");
        assert_eq!(place.state(), before);
    }
    place.works_again();
}

/// Waits until a running query has saved this text in state.json.
fn saved(place: &Place, text: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let state = place.session_dir().join("state.json");
    while !std::fs::read_to_string(&state).is_ok_and(|found| found.contains(text)) {
        assert!(Instant::now() < deadline, "{text} was never saved");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_a_fork_leaves_on_a_full_disk_is_named() {
    let place = Place::new();
    let runs = place.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    let Some(_disk) = Mount::full(&runs, 8_192) else { return };
    let script = script::steps(place.path(), "steps.json", &["x = 1", "FINAL(x)"]);
    let first = Program::asks(place.path(), "go").scripted(&script).session(&runs);
    assert_eq!(first.option("--session-id", "one").answer(), "1");
    let known = || {
        let entries = std::fs::read_dir(&runs).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let listed = Program::new(place.path())
            .arg("sessions")
            .arg(&runs)
            .arg("--json")
            .run()
            .json();
        let rows = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned());
        names
            .chain(rows)
            .filter(|name| name.starts_with("s_"))
            .collect::<std::collections::BTreeSet<_>>()
    };
    let mut failed = 0;
    for free in [0, 16, 32, 48, 64, 96, 128, 160, 200, 256] {
        let before = known();
        fill(&runs, free << 10);
        let ran = Program::new(place.path())
            .arg("fork")
            .arg("one")
            .option("--dir", &runs)
            .option("--at", "1")
            .option("--inject", "2")
            .run();
        std::fs::remove_file(runs.join("filler")).unwrap();
        if ran.code == Some(0) {
            continue;
        }
        failed += 1;
        for left in known().difference(&before) {
            assert!(
                ran.err.contains(left.as_str()),
                "{free} KiB were free, {left} is there: {ran:?}"
            );
        }
    }
    assert!(failed > 0, "the disk was never full");
}

/// Leaves so many bytes free on a file system.
fn fill(on: &Path, free: u64) {
    let room = rustix::fs::statvfs(on).unwrap();
    let bytes = (room.f_bavail * room.f_frsize).saturating_sub(free);
    let filled = std::fs::write(on.join("filler"), vec![b'x'; usize::try_from(bytes).unwrap()]);
    filled.unwrap();
}
