//! Places where Python cannot be prepared. A query prepares it for itself then, and says nothing but that it takes time.

use super::Book;
use std::os::unix::fs::PermissionsExt;

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
