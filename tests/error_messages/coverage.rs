//! No message without a case: every `#[error("…")]` of the code is in one of the snapshots, or in [`ELSEWHERE`] with the
//! reason why nobody meets it here.

use std::path::{Path, PathBuf};

/// Messages that have no case here: the beginning of the message as the code has it, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    // Of the terminal program, told on its screen: the tests of the screens there have them.
    ("{name:?} is no session name", SCREEN),
    ("{} is there already: choose", SCREEN),
    ("in use by {holder}", SCREEN),
    ("{} has its log in {}", SCREEN),
    ("drafts cannot be kept", SCREEN),
    ("kept drafts cannot be read", SCREEN),
    ("kept drafts in {}", SCREEN),
    ("no program to open text with", SCREEN),
    ("no editor to write with", SCREEN),
    ("{variable} is no command", SCREEN),
    ("cannot write a temporary file in {dir}", SCREEN),
    ("the export was cancelled", SCREEN),
    ("there is no run number", SCREEN),
    ("{0} is gone from this session", SCREEN),
    ("cannot write {path}: {error}; choose another directory", SCREEN),
    ("cannot write the export", SCREEN),
    ("{bytes} bytes are too many to copy", SCREEN),
    ("cannot copy through the terminal", SCREEN),
    ("the transcript of this line is not known", SCREEN),
    ("{} was changed: line {line}", SCREEN),
    ("cannot save in {}", SCREEN),
    // Refused earlier, with words of its own.
    (
        "--tui needs a terminal, and {0} is none",
        "the arguments are refused first",
    ),
    ("--tui cannot draw on TERM", "the arguments are refused first"),
    // Of the system, where it refuses what it never refuses a test.
    ("cannot start the threads", SYSTEM),
    ("the terminal cannot be used", SYSTEM),
    ("cannot set up HTTPS", SYSTEM),
    ("locking {}: {source}", SYSTEM),
    (
        "{}: locked by another process for more than",
        "half a minute; src/store/sqlite tries it",
    ),
    ("{doing} {}: {source}; try again, or move", SYSTEM),
    (
        "query {} has {}: there is no step",
        "the command line refuses it first; tests/lab_cases/forks.rs",
    ),
    // Of two processes at once.
    (
        "session {}: the question that was meant is open no more",
        "tests/ask_across_restart.rs",
    ),
    // Of Python, where it breaks in a way that no code can bring about; tests/repl_sandbox has those that it can.
    (
        "cannot unpack the embedded part",
        "a test reads every part that is embedded",
    ),
    (
        "the process that prepares Python failed",
        "tests/repl_prepare.rs kills it",
    ),
    ("the Python instance was lost while", "tests/repl_sandbox/hostile.rs"),
    ("the Python instance is gone", "tests/repl_sandbox/hostile.rs"),
    ("the REPL's kernel answered nonsense", "tests/repl_sandbox/hostile.rs"),
    ("cannot read the context from", "tests/repl_sandbox/start.rs"),
    // Of MCP servers: told to the model, in a traceback of its step. tests/mcp_servers/ has each.
    ("there is no MCP server", MCP),
    ("the MCP server {server} has no tool", MCP),
    ("the MCP server {server} could not be started", MCP),
    ("the MCP server {server} refused", MCP),
    ("the tool {tool} of the MCP server {server} failed", MCP),
    ("the MCP server {server} did not answer", MCP),
    ("the MCP server {server} is gone", MCP),
    ("the MCP server {server} has forgotten", MCP),
    ("the MCP server {server} answered nonsense", MCP),
    // Of model servers, in bytes or minutes that are too many here.
    (
        "the model server went silent",
        "two minutes; tests/provider_misbehaviour/streams.rs",
    ),
    (
        "the reply of {server} is longer",
        "tests/provider_misbehaviour/streams.rs",
    ),
    (
        "one event is longer",
        "becomes the reply's error: tests/provider_misbehaviour/streams.rs",
    ),
    ("invalid UTF-8 in the event stream", "becomes the reply's error"),
    ("the model call was cancelled", "becomes the run's: cancelled"),
    (
        "given up: the code that started it",
        "of a sub-agent, in its transcript: tests/query_cli/given_up.rs",
    ),
    // Of the library: the programs never call it so.
    ("session id {id:?} needs a session directory", LIBRARY),
    ("the session is closed", LIBRARY),
    ("the query was cancelled before it began", LIBRARY),
    ("option {name}: {reason}", LIBRARY),
    ("session {} waits for an answer, which is a text", LIBRARY),
    ("{}; its transcript: {}", LIBRARY),
    ("the query's task panicked", LIBRARY),
    ("a what-if changes exactly one thing", LIBRARY),
    ("fork {session} has diverged already", LIBRARY),
    ("no session {id:?} here", LIBRARY),
    ("unknown kind of event", LIBRARY),
    ("not a SHA-256 digest", LIBRARY),
    ("{}: opened for reading only", LIBRARY),
    // Kept from happening, and checked all the same; tests of the store and the lab break it on purpose.
    ("session {session}: another process took over", STORE),
    ("session {session}: event id", STORE),
    ("session {session}: an event names turn", STORE),
    ("name {name:?} is bound to value", STORE),
    ("{}: value {digest} is damaged", STORE),
    ("an event cannot be written as JSON", STORE),
    ("a {kind} event nests deeper", STORE),
    ("the session's log holds something that is no state", STORE),
    ("cannot write a value as JSON", STORE),
    ("session {session}: the recorded conversation is broken", STORE),
    ("the configuration is not understood", STORE),
    ("session {session}: the values of one of its steps have", STORE),
    (
        "session id {id:?} is taken",
        "its directory is there, too, and told first",
    ),
    // Never told by itself.
    ("it ends in the middle of a value", "becomes the file's: cut off"),
    ("enough was read", "ends a search, and is no error"),
    ("cancelled while waiting for the session", "tests/one_writer.rs"),
    ("cannot write the transcript", "tests/disk_troubles/"),
    ("{why}; the session {session} is left of it", "tests/disk_troubles/"),
    ("the input file {} is not read", "tests/lab_cases/imports.rs"),
];

const SCREEN: &str = "told on the screen of the terminal program";
const MCP: &str = "told to the model; tests/mcp_servers/";
const SYSTEM: &str = "the system refuses what it never refuses a test";
const LIBRARY: &str = "only programs that use the library can meet it";
const STORE: &str = "kept from happening; tests/store_conformance.rs, tests/lab_cases/";

/// The texts of `#[error(…)]` in a source file, without those that only pass another one on.
fn messages(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in source.split("#[error(").skip(1) {
        let part = part.trim_start();
        let Some(quoted) = part.strip_prefix('"') else { continue };
        let mut text = String::new();
        let mut chars = quoted.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' if chars.peek() == Some(&'\n') => {
                    while chars.peek().is_some_and(|c| c.is_whitespace()) {
                        chars.next();
                    }
                }
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        if literals(&text)
            .iter()
            .any(|piece| piece.chars().any(char::is_alphabetic))
        {
            found.push(text);
        }
    }
    found
}

/// What a format string says whatever is put into it.
fn literals(format: &str) -> Vec<&str> {
    let outside = format
        .split('{')
        .enumerate()
        .map(|(i, piece)| match (i, piece.split_once('}')) {
            (0, _) | (_, None) => piece,
            (_, Some((_, after))) => after,
        });
    outside.filter(|piece| !piece.trim().is_empty()).collect()
}

/// Whether a line has all pieces, in order.
fn says(line: &str, pieces: &[&str]) -> bool {
    let mut rest = line;
    pieces.iter().all(|piece| match rest.split_once(piece.trim()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn snapshots() -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/error_messages/snapshots");
    let all = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    all.collect()
}

#[test]
fn every_message_of_the_code_has_a_case_or_a_reason() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let snapshots = snapshots();
    let met = |message: &str| snapshots.lines().any(|line| says(line, &literals(message)));
    let mut all = Vec::new();
    for file in &files {
        let source = std::fs::read_to_string(file).unwrap();
        all.extend(messages(&source).into_iter().map(|message| (file, message)));
    }
    assert!(all.len() > 100, "only {} messages were found", all.len());
    let elsewhere = |message: &str| ELSEWHERE.iter().any(|(begins, _)| message.starts_with(begins));
    let without: Vec<_> = all
        .iter()
        .filter(|(_, message)| !met(message) && !elsewhere(message))
        .collect();
    assert!(without.is_empty(), "no case, and no reason: {without:#?}");
    for (begins, _) in ELSEWHERE {
        let known: Vec<_> = all.iter().filter(|(_, message)| message.starts_with(begins)).collect();
        assert!(!known.is_empty(), "no such message any more: {begins}");
        assert!(
            !known.iter().all(|(_, message)| met(message)),
            "it has a case now: {begins}"
        );
    }
}

#[test]
fn messages_are_found_and_told_apart() {
    let source = r#"#[error("{path}: {cause}")] #[error(transparent)] #[error("one {x:?} two \
        three \"{y}\"; four", z)] #[error(
            "five"
        )]"#;
    assert_eq!(messages(source), ["one {x:?} two three \"{y}\"; four", "five"]);
    let pieces = literals("one {x:?} two {y}; four");
    assert_eq!(pieces, ["one ", " two ", "; four"]);
    assert!(says("fast-rlm: one 1 two 2; four", &pieces));
    assert!(!says("two; four one", &pieces));
}
