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

#[path = "pty/mod.rs"]
mod pty;
mod running;

use running::mount::{Mount, skip};
use running::session::{Session, check_state, check_transcript};
use running::{Program, Ran, script};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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
fn a_read_only_directory_is_told_and_can_be_viewed() {
    let place = Place::begun();
    let before = place.state();
    let Some(disk) = Mount::read_only(&place.session_dir()) else {
        return;
    };
    told(
        &place.asks(&[], &["x = 1", "FINAL(1)"]).run(),
        &place,
        &["Read-only file system"],
    );
    assert_eq!(place.state(), before);
    looks_at(&place, &[]);
    drop(disk);
    place.works_again();
}

/// Takes away what lets the superuser write anywhere; `None`, and a word about it, where that cannot be.
fn mortal() -> Option<&'static [&'static str]> {
    const DROPS: &[&str] = &[
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ];
    if !rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let works = Command::new(DROPS[0])
        .args(&DROPS[1..])
        .arg("true")
        .stderr(Stdio::null())
        .status();
    if works.is_ok_and(|status| status.success()) {
        return Some(DROPS);
    }
    skip("the superuser may write anywhere, and there is no setpriv to take that away");
    None
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_without_permission_is_told_and_can_be_viewed() {
    let Some(mortal) = mortal() else { return };
    let place = Place::begun();
    let before = place.state();
    let dirs = [place.session_dir(), place.session_dir().join("logs")];
    dirs.iter().for_each(|dir| allow(dir, 0o500));
    let ran = place.asks(mortal, &["x = 1", "FINAL(1)"]).run();
    told(&ran, &place, &["ermission denied"]);
    assert_eq!(place.state(), before);
    looks_at(&place, mortal);

    // Nor may it be looked into: the cause is told, not that there is nothing.
    dirs.iter().for_each(|dir| allow(dir, 0o000));
    told_by_the_viewer(&place, mortal);
    let (code, said) = place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm-log"), &["."]);
    assert!(code == Some(0) && said.contains("ermission denied"), "{said}");
    let ran = place.asks(mortal, &["x = 1", "FINAL(1)"]).run();
    told(&ran, &place, &["ermission denied"]);
    dirs.iter().for_each(|dir| allow(dir, 0o700));
    assert_eq!(place.state(), before);
    place.works_again();
}

#[test]
fn sessions_in_a_directory_without_permission_are_not_called_missing() {
    let Some(mortal) = mortal() else { return };
    let place = Place::begun();
    let runs = place.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    std::fs::rename(place.session_dir(), runs.join("s")).unwrap();
    let commands: [&[&str]; 8] = [
        &["sessions", "runs"],
        &["sessions", "runs", "--prune"],
        &["sessions", "runs", "--json"],
        &["sessions", "gc", "runs"],
        &["replay", "last", "--dir", "runs"],
        &["replay", "s", "--dir", "runs"],
        &["diff", "runs/s", "runs/s"],
        &["export", "s", "--dir", "runs", "--bundle", "bundle"],
    ];
    // Nothing of it may be done, or its names may be read, and nothing else.
    for mode in [0o000, 0o644] {
        allow(&runs, mode);
        let ran = commands.map(|args| place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm"), args));
        let viewed = place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm-log"), &["runs"]);
        allow(&runs, 0o700);
        for (code, said) in ran.into_iter().chain([viewed]) {
            assert!(matches!(code, Some(1 | 2)), "{mode:o}: {said}");
            assert!(
                said.contains("ermission denied") && said.contains("runs"),
                "{mode:o}: {said}"
            );
        }
    }
}

fn told_by_the_viewer(place: &Place, wrapper: &[&str]) {
    let output = viewer(place, wrapper, &["--stats"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("ermission denied") && said.contains("session"), "{said}");
}

fn viewer(place: &Place, wrapper: &[&str], args: &[&str]) -> Output {
    let Some((first, rest)) = wrapper.split_first() else {
        return place.view(args);
    };
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .arg(place.session_dir());
    command
        .args(args)
        .env("FAST_RLM_CACHE_DIR", place.path().join("cache"))
        .output()
        .unwrap()
}

/// As text, as JSON, and on the screen; nothing is left in the directory.
fn looks_at(place: &Place, wrapper: &[&str]) {
    for mode in ["--stats", "--json"] {
        let output = viewer(place, wrapper, &[mode]);
        assert!(
            output.status.success(),
            "{mode}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(String::from_utf8(output.stdout).unwrap().contains("begun"), "{mode}");
    }
    let mut screen = pty::Pty::open(&place.session_dir(), &["--tui", "--no-animation"], &[]);
    screen.wait_for("begun");
    screen.send("q");
    assert_eq!(screen.exit_code(), 0);
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
