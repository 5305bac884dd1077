//! Where the system gives no more threads, the viewer goes on with those that it has, or says what is the matter: it never
//! panics. The real program as another user, whose processes are limited. A small stack of the first thread is none of the
//! program's business either.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)] // What fails, fails the test.

#[path = "pty/mod.rs"]
mod pty;

use portable_pty::CommandBuilder;
use pty::{Pty, session_dir};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fast-rlm-log");

/// A user that has no other processes; one for each test.
fn limited(user: u32, threads: u32) -> Vec<String> {
    let words = format!("setpriv --reuid {user} --regid {user} --clear-groups prlimit --nproc={threads}:{threads}");
    words
        .split(' ')
        .map(str::to_owned)
        .chain([PROGRAM.to_owned()])
        .collect()
}

/// Whether this machine lets the test be another user, who can start the program.
fn is_possible(user: u32) -> bool {
    let words = limited(user, 8);
    let ran = Command::new(&words[0]).args(&words[1..]).arg("--version").output();
    let possible = ran.as_ref().is_ok_and(|ran| ran.status.success());
    if !possible {
        eprintln!("skipped: another user cannot start the program here ({ran:?})");
    }
    possible
}

/// Two sessions that everybody can read.
fn sessions() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        copy(&session_dir(), &dir.path().join(name));
    }
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, PermissionsExt::from_mode(0o755)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let into = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &into),
            false => {
                std::fs::copy(&path, &into).unwrap();
                std::fs::set_permissions(&into, PermissionsExt::from_mode(0o644)).unwrap();
            }
        }
    }
}

#[test]
fn text_is_the_same_without_any_thread() {
    const USER: u32 = 54_321;
    if !is_possible(USER) {
        return;
    }
    let dir = sessions();
    for args in [
        &["one", "--stats", "--no-cache"][..],
        &["one", "--json"],
        &[".", "--stats"],
    ] {
        let ran = |words: &[String]| {
            let mut command = Command::new(&words[0]);
            let ran = command
                .args(&words[1..])
                .args(args)
                .current_dir(dir.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&ran.stderr).into_owned();
            (
                ran.status.code(),
                String::from_utf8_lossy(&ran.stdout).into_owned(),
                told,
            )
        };
        let (code, shown, told) = ran(&limited(USER, 1));
        assert_eq!(code, Some(0), "{args:?}: {told}");
        assert_eq!(shown, ran(&[PROGRAM.to_owned()]).1, "{args:?}");
    }
}

#[test]
fn screens_come_with_few_threads_or_say_that_there_are_none() {
    const USER: u32 = 54_322;
    if !is_possible(USER) {
        return;
    }
    let dir = sessions();
    let mut started = 0;
    for threads in [1, 3, 5, 7, 9, 12, 16, 24] {
        let words = limited(USER, threads);
        let mut command = CommandBuilder::new(&words[0]);
        command.args(&words[1..]);
        command.args([".", "--tui", "--no-animation"]);
        command.cwd(dir.path());
        let mut pty = Pty::narrow(command, 100);
        match pty.shows_or_ends("? keys") && browse(&mut pty) {
            true => {
                assert_eq!(pty.exit_code(), 0, "{threads}: {}", pty.written());
                started += 1;
            }
            false => {
                assert_eq!(pty.exit_code(), 2, "{threads}: {}", pty.written());
                let said = pty.written();
                assert!(said.contains("cannot start: ") && said.contains("ulimit -u"), "{said}");
                assert!(pty.is_cooked());
            }
        }
    }
    assert!((1..8).contains(&started), "{started} started");
}

/// Everything that asks for threads: the text of a step, a search, the sessions. `false` where the program ends before: the
/// first frame comes before those threads that a person's first key needs.
fn browse(pty: &mut Pty) -> bool {
    pty.send("\r");
    if !pty.shows_or_ends("Q1") {
        return false;
    }
    pty.send("\r");
    if !pty.shows_or_ends("print(len(context)") {
        return false;
    }
    pty.send("\\");
    pty.wait_for("Search");
    pty.send("print");
    pty.wait_for(" hit");
    // Out of the line, then out of the list.
    pty.send("\x1b");
    pty.wait_for("Esc back");
    pty.send("\x1b");
    pty.wait_until_gone("Search the whole session");
    pty.send("s");
    pty.wait_for("two");
    pty.send("\x03\x03");
    true
}

#[test]
fn a_small_stack_of_the_first_thread_is_enough() {
    let dir = sessions();
    let mut asked: Vec<Vec<&str>> = vec![vec![PROGRAM, "one", "--stats"], vec![PROGRAM, "one", "--json"]];
    // Only where there is an engine.
    asked.extend(option_env!("CARGO_BIN_EXE_fast-rlm").map(|engine| vec![engine, "sessions", "."]));
    for words in asked {
        let mut command = Command::new("prlimit");
        command
            .arg("--stack=131072:131072")
            .args(&words)
            .current_dir(dir.path());
        let Ok(output) = command.output() else {
            eprintln!("skipped: there is no prlimit here");
            return;
        };
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "{words:?}: {output:?}"
        );
    }
}
