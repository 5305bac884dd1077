//! A disk that refuses: at each kind of write, for each cause.

use super::Book;
use crate::running::{Program, Ran};

#[test]
fn writes_that_fail() {
    let mut book = Book::new();
    for point in [
        "atomic.create",
        "atomic.write",
        "atomic.sync",
        "atomic.rename",
        "events.write",
        "events.commit",
        "flow.write",
        "flow.commit",
    ] {
        for cause in ["full", "readonly", "denied", "gone"] {
            let _ = std::fs::remove_dir_all(book.path("runs"));
            let count = if point.starts_with("atomic") { 1 } else { 3 };
            let fault = format!("{point}:{count}={cause}");
            let ran = book
                .session("one", &["x = 1", "FINAL(x)"])
                .env("FAST_RLM_FAULT", &fault)
                .run();
            book.met(&fault, &ran);
        }
    }
    book.close("writes");
}

#[test]
fn standard_output_that_takes_nothing() {
    let mut book = Book::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let said = |command: &mut std::process::Command| {
        let output = command
            .stdout(full())
            .stderr(std::process::Stdio::piped())
            .output()
            .unwrap();
        super::Ran::from(output)
    };
    book.put("session/state.json", r#"{"version": 2, "queries": []}"#);
    let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let ran = said(viewer.current_dir(book.dir.path()).args(["session", "--json"]));
    book.met("fast-rlm-log session --json", &ran);
    let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    book.met("fast-rlm-log --help", &said(viewer.arg("--help")));
    for args in [
        &["--help"][..],
        &["replay", "--help"],
        &["--version"],
        &["sessions", "."],
        &["man"],
        &["doctor"],
    ] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
        let ran = said(program.current_dir(book.dir.path()).args(args));
        book.met(&format!("fast-rlm {}", args.join(" ")), &ran);
    }
    book.close("output");
}

#[test]
fn files_of_a_fork_that_cannot_be_written() {
    let mut book = Book::new();
    let ran = book.session("one", &["x = 1", "FINAL(x)"]).run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for args in [
        &["fork", "one", "--at", "1", "--inject", "2"][..],
        &["sessions", "rebuild", "one"],
    ] {
        for point in ["atomic.create", "atomic.write", "atomic.rename"] {
            let fault = format!("{point}=full");
            let ran = book.lab(args).env("FAST_RLM_FAULT", &fault).run();
            assert_eq!(ran.err.matches("state.json").count(), 1, "it is told once: {ran:?}");
            book.met(&format!("{} with {fault}", args.join(" ")), &ran);
        }
    }
    book.close("forks_of_a_full_disk");
}

#[test]
fn too_little_address_space() {
    let mut book = Book::new();
    let script = book.put("script.json", r#"{"replies": [{"code": "FINAL(1)"}]}"#);
    let asks = || Program::asks(book.dir.path(), "go").scripted(&script).run();
    assert_eq!(asks().code, Some(0), "Python is prepared");
    let limited = |kilobytes: u32| {
        let limit = format!("ulimit -v {kilobytes}; exec \"$@\"");
        let query = Program::started_by(book.dir.path(), &["sh", "-c", &limit, "sh"]);
        query.arg("go").scripted(&script).run()
    };
    // Where exactly it ends depends on the machine.
    for kilobytes in [200_000, 300_000, 500_000] {
        let ran = limited(kilobytes);
        assert_eq!(ran.code, Some(1), "{kilobytes}: {ran:?}");
        assert!(ran.err.contains("ulimit -v"), "{kilobytes}: {ran:?}");
    }
    // In the second there is room for the program, and none for its Python.
    let (most, nearly, unlimited) = (limited(3_000_000), limited(4_300_000), asks());
    assert_eq!(unlimited.code, Some(0), "{unlimited:?}");
    assert!(!unlimited.err.contains("Preparing"), "it is still there: {unlimited:?}");
    book.met("fast-rlm go", &most);
    book.met("fast-rlm go, with nearly enough", &nearly);
    book.close("address_space");
}

#[test]
fn too_little_room_to_prepare_python() {
    let mut book = Book::new();
    let limited = |book: &Book, limit: &str| {
        let wrapper = ["sh", "-c", &format!("ulimit {limit}; exec \"$@\""), "sh"];
        let program = Program::started_by(book.dir.path(), &wrapper).arg("warmup");
        program.env("FAST_RLM_CACHE_DIR", book.path("cache")).run()
    };
    // In less than 600 MB it would abort somewhere.
    for kilobytes in [
        100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 1_000_000, 4_500_000, 5_000_000,
    ] {
        let ran = limited(&book, &format!("-v {kilobytes}"));
        assert_eq!(ran.code, Some(1), "{kilobytes}: {ran:?}");
        assert!(
            ran.err.contains("cannot prepare Python") && ran.err.contains("ulimit -v"),
            "{kilobytes}: {ran:?}"
        );
    }
    for (what, limit) in [("address space", "-v 512000"), ("memory", "-d 204800")] {
        let ran = limited(&book, limit);
        let last = ran.err.lines().last().unwrap().to_owned();
        book.met(what, &Ran { err: last, ..ran });
    }
    book.close("room_to_prepare");
}

#[test]
fn too_few_files_that_may_be_open() {
    let mut book = Book::new();
    let limited = ["sh", "-c", "ulimit -n 8; exec \"$@\"", "sh"];
    let script = book.put("script.json", r#"{"replies": [{"code": "FINAL(1)"}]}"#);
    let ran = Program::started_by(book.dir.path(), &limited)
        .arg("go")
        .scripted(&script)
        .run();
    book.met("fast-rlm go", &ran);
    let ran = Program::started_by(book.dir.path(), &limited).arg("models").run();
    book.met("fast-rlm models", &ran);
    book.close("descriptors");
}
