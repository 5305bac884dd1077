//! Targets that the viewer cannot open.

use super::Book;

#[test]
fn targets_that_cannot_be_opened() {
    let mut book = Book::new();
    std::fs::create_dir_all(book.path("empty")).unwrap();
    book.put("log/logs/a.jsonl", "");
    book.put("notes/logs/a.jsonl", "{\"a\": 1}\n");
    book.put("wide/logs/a.jsonl", b"\xff\xfe{\0}\0\n\0");
    std::fs::create_dir_all(book.path("directory/state.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", book.path("link")).unwrap();
    for target in [
        "nowhere",
        "a\u{1b}[31mb\nc",
        "empty",
        "log/logs/a.jsonl",
        "notes/logs/a.jsonl",
        "wide/logs/a.jsonl",
        "directory",
        "link",
        "/dev/null",
    ] {
        let ran = book.viewer(&[target]);
        book.met(&format!("{target:?}"), &ran);
    }
    for (what, state) in [
        ("an empty state", &b""[..]),
        ("a state that is cut off", br#"{"version": 2, "queries": [{"#),
        ("a damaged state", br#"{"version": 2 "queries": []}"#),
        ("a state in UTF-16", b"\xff\xfe{\0}\0"),
        ("a state of another kind", b"[]"),
    ] {
        book.put("session/state.json", state);
        let ran = book.viewer(&["session"]);
        book.met(what, &ran);
    }
    let ran = book.viewer(&["session", "--tui"]);
    book.met("the screens, without a terminal", &ran);
    book.close("targets");
}
