//! Scripts for `scripted:` models, in the form of docs/scripted.md.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes a script in `dir` and gives its path.
pub(crate) fn write(dir: &Path, name: &str, script: &Value) -> PathBuf {
    let path = dir.join(name);
    // In one piece: processes of one test may read it while another thread writes it again.
    let half = tempfile::NamedTempFile::new_in(dir).unwrap();
    std::fs::write(half.path(), script.to_string()).unwrap();
    half.persist(&path).unwrap();
    path
}

/// A script of steps, one after the other.
pub(crate) fn steps(dir: &Path, name: &str, codes: &[&str]) -> PathBuf {
    write(
        dir,
        name,
        &json!({"replies": codes.iter().map(|code| json!({"code": code})).collect::<Vec<_>>()}),
    )
}

/// A rule that answers with these steps when `when` holds.
pub(crate) fn rule(when: Value, codes: &[&str]) -> Value {
    json!({"when": when, "replies": codes.iter().map(|code| json!({"code": code})).collect::<Vec<_>>()})
}
