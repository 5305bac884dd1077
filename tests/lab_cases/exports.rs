//! Exports that are ended in the middle, in the shell.

use crate::shell::{command, exits, program, recorded};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const EXPORT: [&str; 6] = ["export", "one", "--dir", "runs", "--bundle", "one.tar"];

/// A session that takes a while to be exported.
fn large() -> tempfile::TempDir {
    let dir = recorded();
    std::fs::write(dir.path().join("runs/one/logs/large.jsonl"), vec![b' '; 256 << 20]).unwrap();
    dir
}

/// Files of the directory that are part of a bundle.
fn parts(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains("one.tar")).collect()
}

/// An export that has begun to write.
fn begun(dir: &Path) -> Child {
    let mut child = command(&EXPORT, dir).env("TMPDIR", dir.join("tmp")).spawn().unwrap();
    let since = Instant::now();
    while parts(dir).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let dir = large();
    let temporary = dir.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for with in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = begun(dir.path());
        kill_process(Pid::from_child(&child), with).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{with:?}");
        assert_eq!(parts(dir.path()), Vec::<String>::new(), "{with:?}");
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().map(Result::unwrap).collect();
        assert!(left.is_empty(), "{with:?}: {left:?}");
    }
}

#[test]
fn what_a_killed_export_left_is_removed_by_the_next() {
    let dir = large();
    std::fs::create_dir(dir.path().join("tmp")).unwrap();
    let mut child = begun(dir.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(parts(dir.path()).len(), 1);
    std::fs::remove_file(dir.path().join("runs/one/logs/large.jsonl")).unwrap();
    exits(&program(&EXPORT, dir.path()), 0);
    assert_eq!(parts(dir.path()), ["one.tar"]);
}
