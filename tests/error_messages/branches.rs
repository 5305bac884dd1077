//! Replays, forks, comparisons, what-ifs, bundles: what was recorded, asked for wrongly.

use super::Book;

/// A session with a query of three steps, and one in which a step bound two names.
fn recorded() -> Book {
    let book = Book::new();
    let ran = book.session("one", &["x = 1", "y, z = 2, 3", "FINAL(x + y)"]).run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    book
}

#[test]
fn sessions_that_are_not_there() {
    let mut book = recorded();
    book.put(
        "foreign/state.json",
        r#"{"version": 2, "queries": [{"query": "q", "final": 1, "log_file": "logs/a.jsonl", "run_id": "r"}]}"#,
    );
    book.put(
        "cut/state.json",
        r#"{"version": 2, "queries": [], "pending_query": "square each prime"}"#,
    );
    std::fs::create_dir(book.path("empty")).unwrap();
    let ran = book
        .session("stopped", &["x = 1", "y = 2"])
        .option("--max-calls", "1")
        .run();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran = book.session("failed", &["x = 1"]).run();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for args in [
        &["sessions", "nowhere"][..],
        &["sessions", "runs", "--since", "yesterday"],
        &["sessions", "gc", "nowhere"],
        &["sessions", "rebuild", "two", "--dir", "runs"],
        &["replay", "last", "--dir", "nowhere"],
        &["replay", "last", "--dir", "empty"],
        &["replay", "two", "--dir", "runs"],
        &["replay", "foreign"],
        &["diff", "one", "two", "--dir", "runs"],
        &["resume", "one", "--dir", "runs"],
        &["resume", "foreign"],
        &["resume", "cut"],
        &["replay", "foreign", "--dir", "runs"],
        &["fork", "one", "--dir", "runs", "--at", "0", "--replan", "more"],
        &["acp"],
        &["acp", "list"],
        &["answr", "foreign", "yes"],
        &["go", "--max-depth", "-1"],
        &["answer", "foreign"],
        &["resume", "stopped", "--dir", "runs"],
        &["resume", "failed", "--dir", "runs"],
        &["fork", "foreign", "--at", "1", "--replan", "more"],
        &["export", "foreign", "--bundle", "out.zip"],
    ] {
        let ran = book.program(args).run();
        book.met(&args.join(" "), &ran);
    }
    book.close("missing_sessions");
}

#[test]
fn branches_that_cannot_be() {
    let mut book = recorded();
    book.put("bad.py", "x = (\n");
    book.put("raises.py", "1 / 0\n");
    for args in [
        &["replay", "one", "--turn", "9"][..],
        &["fork", "one", "--at", "9", "--inject", "1"],
        &["fork", "one", "--at", "0", "--inject", "1"],
        &["fork", "one", "--at", "-1", "--inject", "1"],
        &["fork", "one", "--at", "-1", "--turn", "1", "--replan", "x"],
        &["fork", "one", "--at", "x", "--inject", "1"],
        &["fork", "one", "--at", "1", "--turn", "-1", "--inject", "1"],
        &["fork", "one", "--at", "2", "--inject", "-1"],
        &["fork", "one", "--at", "1", "--turn", "9", "--inject", "1"],
        &["fork", "one", "--at", "1", "--inject", "{no json"],
        &["fork", "one", "--at", "1", "--inject", "hello"],
        &["fork", "one", "--at", "2", "--inject", "1"],
        &["fork", "one", "--at", "1", "--edit", "nowhere.py"],
        &["fork", "one", "--at", "1", "--edit", "bad.py"],
        &["fork", "one", "--at", "1", "--edit", "raises.py"],
        &[
            "fork",
            "one",
            "--at",
            "1",
            "--replan",
            "x",
            "--primary-agent",
            "scripted:nowhere.yaml",
        ],
        &["fork", "one", "--at", "1", "--replan", ""],
        &["what-if", "one", "--substitute", "llm_query"],
        &["what-if", "one", "--substitute", "=5"],
        &["what-if", "one", "--substitute", "llm_query={no json"],
        &["what-if", "one", "--substitute", "llm_query=1"],
        &["what-if", "one", "--substitute-at", "x=1"],
        &["what-if", "one", "--substitute-at", "9=1"],
        &["what-if", "one", "--substitute-at", "-1=1"],
        &["what-if", "one", "--substitute-var", "-1.x=1"],
        &["what-if", "one", "-q", "--substitute-var", "1.x=\"text\""],
        &["what-if", "one", "--substitute-at", "1=1"],
        &["what-if", "one", "--instruction", " "],
        &["what-if", "one", "--substitute-var", "1=1"],
        &["what-if", "one", "--substitute-var", "1.not a name=1"],
        &["what-if", "one", "--substitute-var", "9.x=1"],
        &["what-if", "one", "--model", "scripted:nowhere.yaml"],
    ] {
        let ran = book.lab(args).run();
        book.met(&args.join(" "), &ran);
    }
    book.close("branches");
}

#[test]
fn bundles_that_are_none() {
    let mut book = recorded();
    assert_eq!(book.lab(&["export", "one", "--bundle", "good"]).run().code, Some(0));
    book.put("text", "hello");
    book.put("empty", "");
    let mut cut = std::fs::read(book.path("good")).unwrap();
    cut.truncate(cut.len() / 2);
    book.put("cut", cut);
    let mut other = std::fs::read(book.path("good")).unwrap();
    other[512 + 4096..512 + 8192].fill(0xa5);
    book.put("damaged", other);
    for args in [
        &["export", "one", "--bundle", "nowhere/bundle"][..],
        &["export", "one", "--bundle", "runs"],
        &["export", "two", "--bundle", "bundle"],
        &["import", "nowhere"],
        &["import", "text"],
        &["import", "."],
        &["import", "/dev/zero"],
        &["import", "empty"],
        &["import", "cut"],
        &["import", "damaged", "--session-id", "damaged"],
        &["import", "good"],
        &["import", "good", "--session-id", "../x"],
    ] {
        let ran = book.lab(args).run();
        book.met(&args.join(" "), &ran);
    }
    book.close("bundles");
}
