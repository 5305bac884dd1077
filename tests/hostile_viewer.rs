//! Hostile and damaged sessions through the real viewer: what `--stats` says of them, and how it refuses.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn stats(target: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    command.arg(target).args(["--stats", "--no-cache"]).output().unwrap()
}

fn session(state: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("state.json"), state).unwrap();
    dir
}

#[test]
fn what_was_not_measured_is_not_called_free() {
    let dir = session(br#"{"version":2,"queries":[{"query":"q","final":1,"log_file":"/dev/zero","run_id":"r"}]}"#);
    let output = stats(dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("1 query: tokens unknown, cost unknown"), "{text}");
    assert!(text.contains("/dev/zero (it is a device, pipe or socket"), "{text}");
}

#[test]
fn a_damaged_state_is_refused_in_one_line_that_names_it() {
    let cut = br#"{"version":2,"queries":[{"query":"abc"#;
    let cases: [(&[u8], &str); 4] = [
        (b"", "is empty"),
        (b"[]", "expected an object at byte 0"),
        (cut, "is cut off at byte 37"),
        (b"\xff\xfe{\0}\0", "is UTF-16"),
    ];
    for (state, why) in cases {
        let dir = session(state);
        let output = stats(dir.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(output.stdout.is_empty());
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(why) && said.contains("state.json"), "{said}");
    }
}

#[test]
fn no_control_of_the_data_is_printed() {
    let hostile = r"\u001b]52;c;aGk=\u0007\u001bc\u009b31m\u202e\u200b\u0000";
    let state = format!(
        r#"{{"version":2,"queries":[{{"query":"{hostile}","final":{{"{hostile}":1}},"log_file":"{hostile}","run_id":"{hostile}"}}],"pending_query":"{hostile}"}}"#
    );
    let dir = session(state.as_bytes());
    let output = stats(dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let bad = |c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{200b}'].contains(&c);
    assert!(!text.contains(bad), "{text:?}");
    assert!(text.contains("␛]52;c;aGk=␇"), "{text}");
}
