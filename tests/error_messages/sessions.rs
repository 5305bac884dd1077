//! Sessions that cannot be used: held by another, waiting, made by a newer build, damaged.

use super::{Book, Program};
use std::time::{Duration, Instant};

#[test]
fn a_session_that_another_process_has() {
    let mut book = Book::new();
    let slow = serde_json::json!({"replies": [{"code": "kept = 1"}, {"code": "FINAL(1)", "delay": 60}]});
    let script = super::script::write(book.dir.path(), "slow.yaml", &slow);
    let asks = Program::asks(book.dir.path(), "go")
        .scripted(&script)
        .session(&book.path("session"));
    let holder = asks.start();
    let state = book.path("session/state.json");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(&state).is_ok_and(|text| text.contains("kept = 1")) {
        assert!(Instant::now() < deadline, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    let session = book.path("session");
    let ran = book.steps(&["FINAL(1)"]).session(&session).run();
    book.met("asked", &ran);
    let ran = book
        .steps(&["FINAL(1)"])
        .session(&session)
        .option("--wait", "0.1")
        .run();
    book.met("waited for", &ran);
    let ran = book.program(&["resume", "session"]).run();
    book.met("resumed", &ran);
    super::running::signal(&holder, rustix::process::Signal::INT);
    let ran = super::Ran::from(holder.wait_with_output().unwrap());
    book.met("cancelled", &ran);
    let ran = book.program(&["resume", "session"]).run();
    book.met("resumed when it was cancelled", &ran);
    book.close("busy");
}

#[test]
fn a_question_that_waits() {
    let mut book = Book::new();
    let asks = ["answer = await ask('Which \u{1b}[31mone?', options=['a', 'b'])\nFINAL(answer)"];
    let ran = book.session("asks", &asks).run();
    book.met("a question", &ran);
    let ran = book.session("asks", &["FINAL(1)"]).run();
    book.met("another query", &ran);
    let ran = book.program(&["answer", "runs/asks", "c"]).run();
    book.met("none of the options", &ran);
    assert_eq!(book.session("other", &["FINAL(1)"]).run().code, Some(0));
    let ran = book.program(&["answer", "runs/other", "x"]).run();
    book.met("nothing waits", &ran);
    let ran = book.program(&["answer", "nowhere", "x"]).run();
    book.met("no such session", &ran);
    let ran = book.lab(&["resume", "asks"]).run();
    book.met("resumed", &ran);
    book.close("questions");
}

#[test]
fn state_that_cannot_be_used() {
    let mut book = Book::new();
    for (what, state) in [
        ("newer", &br#"{"version": 99, "queries": []}"#[..]),
        ("empty", b""),
        ("cut off", br#"{"version": 2, "queries": [{"#),
        ("no object", b"[]"),
        ("no JSON", b"hello"),
        ("UTF-16", b"\xff\xfe{\0}\0"),
    ] {
        book.put("session/state.json", state);
        let ran = book.steps(&["FINAL(1)"]).session(&book.path("session")).run();
        book.met(what, &ran);
        assert_eq!(
            std::fs::read(book.path("session/state.json")).unwrap(),
            state,
            "left alone"
        );
    }
    std::fs::remove_file(book.path("session/state.json")).unwrap();
    std::fs::create_dir(book.path("session/state.json")).unwrap();
    let ran = book.steps(&["FINAL(1)"]).session(&book.path("session")).run();
    book.met("a directory", &ran);
    std::fs::create_dir_all(book.path("locked/session.lock")).unwrap();
    let ran = book.steps(&["FINAL(1)"]).session(&book.path("locked")).run();
    book.met("a lock that is a directory", &ran);
    book.close("states");
}

#[test]
fn databases_that_cannot_be_used() {
    let mut book = Book::new();
    for file in ["events.db", "flow.db"] {
        let asks = |book: &Book, codes: &[&str]| book.steps(codes).session(&book.path("session")).run();
        let made = || {
            let _ = std::fs::remove_dir_all(book.path("session"));
            assert_eq!(asks(&book, &["kept = list(range(9000))", "FINAL(1)"]).code, Some(0));
        };
        made();
        let path = book.path("session").join(file);
        let open = || rusqlite::Connection::open(&path).unwrap();
        open().execute_batch("PRAGMA user_version = 9000").unwrap();
        let newer = (asks(&book, &["FINAL(1)"]), book.program(&["replay", "session"]).run());
        made();
        open().execute_batch("PRAGMA application_id = 7").unwrap();
        let foreign = asks(&book, &["FINAL(1)"]);
        made();
        std::fs::write(
            &path,
            "hello, this is no database at all, but long enough to be looked at as one; ".repeat(99),
        )
        .unwrap();
        let text = asks(&book, &["FINAL(1)"]);
        made();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096..].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let damaged = asks(&book, &["FINAL(1)"]);
        book.met(&format!("{file} is of a newer build"), &newer.0);
        book.met(&format!("{file} is of a newer build, replayed"), &newer.1);
        book.met(&format!("{file} is another program's"), &foreign);
        book.met(&format!("{file} is text"), &text);
        book.met(&format!("{file} is damaged"), &damaged);
    }
    book.close("databases");
}
