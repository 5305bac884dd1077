//! Sessions made for a test, and what the real viewer says of them.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory that holds one session, `s`.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

/// The end of a line.
pub(crate) const NEWLINE: &[u8] = b"\n";

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("s/logs")).unwrap();
        Self { dir }
    }

    /// A session with one completed query `r1`, whose transcript is `log`.
    pub(crate) fn with_log(log: &[u8]) -> Self {
        let place = Self::new();
        place.put("s/state.json", STATE);
        place.put("s/logs/a.jsonl", log);
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The viewer on a target of this directory; it works there.
    pub(crate) fn run(&self, target: &str, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command
            .current_dir(self.dir.path())
            .env("FAST_RLM_CACHE_DIR", self.path("cache"));
        command.arg(target).args(args).output().unwrap()
    }

    /// What `--json` says of the session.
    pub(crate) fn json(&self) -> Value {
        self.json_of("s")
    }

    pub(crate) fn json_of(&self, target: &str) -> Value {
        let output = self.run(target, &["--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What `--stats` says of the session.
    pub(crate) fn stats(&self) -> String {
        let output = self.run("s", &["--stats"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one line that says why a target is refused.
    pub(crate) fn refusal(&self, target: &str) -> String {
        let output = self.run(target, &["--stats"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!said.trim_end().contains(char::is_control), "{said:?}");
        said
    }
}

/// A state.json with one completed query.
pub(crate) const STATE: &str = r#"{"version":2,"queries":[{"query":"q","final":"f","log_file":"logs/a.jsonl","run_id":"r1"}],"pending_query":null}"#;

/// A whole step of the root, with usage.
pub(crate) fn step(number: u64, rest: &str) -> String {
    step_of("r1", number, rest)
}

/// A whole step of an agent, with usage.
pub(crate) fn step_of(run: &str, number: u64, rest: &str) -> String {
    format!(
        r#"{{"level":30,"time":"2026-01-01T00:00:0{}Z","run_id":"{run}","depth":0,"step":{number},"event_type":"execution_result","code":"x = {number}","output":"o","hasError":false,"usage":{{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11,"cost":0.001}}{rest}}}"#,
        number % 10
    )
}

/// Lines, each with its newline.
pub(crate) fn lines(all: &[String]) -> Vec<u8> {
    all.iter()
        .flat_map(|line| [line.as_bytes(), NEWLINE].concat())
        .collect()
}

/// The first run.
pub(crate) fn run(json: &Value) -> &Value {
    &json["queries"][0]["run"]
}

/// Kinds, lines and bytes of the problems of the transcript or of state.json.
pub(crate) fn problems(json: &Value) -> Vec<(String, Option<u64>, Option<u64>)> {
    let all = json["problems"].as_array().unwrap().iter();
    all.map(|problem| {
        (
            problem["kind"].as_str().unwrap().to_owned(),
            problem["line"].as_u64(),
            problem["byte"].as_u64(),
        )
    })
    .collect()
}
