//! Places where Python cannot be prepared. A query prepares it for itself then, and says nothing but that it takes time.

use super::Book;
use crate::running::Ran;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn places_that_cannot_be_used() {
    let mut book = Book::new();
    book.put("file", "");
    let open = book.path("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    for (what, dir) in [
        ("relative", "cache".into()),
        ("a file", book.path("file")),
        ("below a file", book.path("file/cache")),
        ("anybody's", open),
    ] {
        let ran = book.program(&["warmup"]).env("FAST_RLM_CACHE_DIR", &dir).run();
        book.met(what, &ran);
    }
    book.close("preparing");
}

#[test]
fn a_preparation_that_was_ended_is_not_tried_again_here() {
    let mut book = Book::new();
    let query = book.steps(&["FINAL(1)"]).env("FAST_RLM_CACHE_DIR", book.path("cache"));
    let child = query.start();
    let deadline = Instant::now() + Duration::from_secs(60);
    let preparing = loop {
        assert!(Instant::now() < deadline, "nothing prepares Python");
        if let Some(found) = children(child.id()).first() {
            break *found;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    rustix::process::kill_process(preparing, rustix::process::Signal::KILL).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    let last = ran.err.lines().last().unwrap().to_owned();
    // How far it came depends on the machine.
    let (before, after) = (last.find("(signal").unwrap(), last.find("); it takes").unwrap());
    let err = format!("{}(signal: 9 (SIGKILL): …{}", &last[..before], &last[after..]);
    book.met("killed", &Ran { err, ..ran });
    book.close("preparation_ended");
}

/// The processes that one has started.
fn children(process: u32) -> Vec<rustix::process::Pid> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let started = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let ids: Vec<i32> = started
        .flat_map(|ids| {
            ids.split_whitespace()
                .filter_map(|id| id.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect();
    ids.into_iter().filter_map(rustix::process::Pid::from_raw).collect()
}

#[test]
fn no_python_of_the_system() {
    let mut book = Book::new();
    let asks = |book: &Book| {
        book.steps(&["FINAL(1)"])
            .option("--repl", "python3")
            .env("PATH", book.path("bin"))
    };
    book.met("none", &asks(&book).run());
    for (what, says) in [
        (
            "old",
            r#"{"executable": "x", "version": [3, 9, 2], "landlock": 0, "seccomp": true}"#,
        ),
        (
            "kernel",
            r#"{"executable": "x", "version": [3, 12, 1], "landlock": 0, "seccomp": true}"#,
        ),
        ("broken", "oh"),
    ] {
        let program = book.put("bin/python3", format!("#!/bin/sh\necho '{says}'\n"));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        book.met(what, &asks(&book).run());
    }
    book.close("no_python");
}
