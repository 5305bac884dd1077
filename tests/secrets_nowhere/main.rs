//! Keys and `--env` values are in no file that is written, in no form in which programs write them, and on no screen:
//! every file of a session is read back (databases cell by cell, packed values unpacked, pickles decoded), and so are
//! its bundle, its branches, the viewer's text, JSON and frames, and the viewer's cache.
//!
//! The model's server echoes the key, and tools and code do what they can to leave the values behind.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "../pty/mod.rs"]
mod pty;
#[path = "../running/mod.rs"]
mod running;

mod model;
mod screens;
mod search;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::serve;
use running::{Program, Ran};
use screens::screens;
use search::Search;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

/// Given with `--env`. Its halves are unlike anything else here, so that what a cut leaves over is found as well.
const SECRET: &str = "hunter2-\"quöted\"/zebra9+&=";
/// Digits alone: a number in JSON and in Python.
const PIN: &str = "80912734651";
/// The model's key.
const KEY: &str = "sk-or-v1-0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// Functions that know the values and tell them in every way.
const TOOLS: &str = r#"
import os, warnings

def tell():
    """Tells."""
    print("tool:", os.environ["SECRET"], int(os.environ["PIN"]))
    warnings.warn(os.environ["SECRET"])
    return {os.environ["SECRET"]: int(os.environ["PIN"]), "list": [os.environ["SECRET"]] * 3}

def fail():
    """Fails."""
    raise RuntimeError("tool: " + os.environ["SECRET"]) from ValueError(os.environ["PIN"])
"#;

struct Place {
    dir: tempfile::TempDir,
    url: String,
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn program(&self) -> Program {
        Program::new(self.dir.path())
            .env("RLM_MODEL_BASE_URL", &self.url)
            .env("RLM_MODEL_API_KEY", KEY)
    }

    /// With the values.
    fn asks(&self, prompt: &str) -> Program {
        let program = self.program().arg(prompt).option("--primary-agent", "some/model");
        let program = program
            .option("--session-dir", self.path("runs"))
            .option("--session-id", "one");
        let program = program
            .option("--env", format!("SECRET={SECRET}"))
            .option("--env", format!("PIN={PIN}"));
        program
            .option("--tools", self.path("tools.py"))
            .option("--verbosity", "full")
            .arg("--json")
    }

    fn lab(&self, args: &[&str]) -> Ran {
        let program = args.iter().fold(self.program(), |program, arg| program.arg(arg));
        program.option("--dir", self.path("runs")).run()
    }

    fn view(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command
            .arg(self.path("runs/one"))
            .args(args)
            .env("FAST_RLM_CACHE_DIR", self.path("cache"));
        let output = command.output().unwrap();
        assert!(output.status.success());
        [output.stdout, output.stderr].concat()
    }
}

#[test]
fn no_value_is_in_any_file_or_on_any_screen() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tools.py"), TOOLS).unwrap();
    let place = Place { dir, url: serve() };
    let mut search = Search::new();

    let parked = place.asks("Tell me everything.").run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    search.ran("the query", &parked);
    search.tree(&place.path("runs"));
    let args = ["answer", "--drop"];
    let dropped = args
        .iter()
        .fold(place.program(), |program, arg| program.arg(arg))
        .arg(place.path("runs/one"))
        .run();
    assert_eq!(dropped.code, Some(0), "{dropped:?}");
    search.ran("answer", &dropped);

    let answered = place.asks("And now?").run();
    assert_eq!(answered.code, Some(0), "{answered:?}");
    search.ran("the second query", &answered);
    let refused = place.asks("Again?").run();
    refused.refused(1, &["401"]);
    search.ran("a refused query", &refused);

    let bundle = place.path("bundle");
    let tools = place.path("tools.py");
    let runs = place.path("runs");
    let mut codes = Vec::new();
    for args in [
        &["export", "one", "--bundle", bundle.to_str().unwrap()][..],
        &["replay", "one", "--json"],
        &[
            "fork",
            "one",
            "--at",
            "1",
            "--turn",
            "1",
            "--edit",
            tools.to_str().unwrap(),
        ],
        &["diff", "one", "last", "--json"],
        &["sessions", runs.to_str().unwrap(), "--json"],
    ] {
        let ran = if args[0] == "sessions" {
            args.iter().fold(place.program(), |program, arg| program.arg(arg)).run()
        } else {
            place.lab(args)
        };
        codes.push((args[0], ran.code.unwrap()));
        search.ran(args[0], &ran);
    }
    // Without the values nothing is as it was recorded: the replay says so, and the fork halts where they are used.
    let expected = [("export", 0), ("replay", 1), ("fork", 1), ("diff", 0), ("sessions", 0)];
    assert_eq!(codes, expected);
    assert!(bundle.exists());
    for mode in ["--stats", "--json"] {
        search.bytes(mode, &place.view(&[mode]));
    }
    search.bytes("the screen", &screens(&place));
    std::fs::remove_file(place.path("tools.py")).unwrap();
    search.tree(place.dir.path());
    search.nothing();
}

#[test]
fn what_is_piped_in_is_kept_without_them() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tools.py"), TOOLS).unwrap();
    let place = Place { dir, url: serve() };
    let mut search = Search::new();
    let piped = format!("{SECRET}\n{PIN}\n{KEY}\n{}\n", STANDARD.encode(SECRET)).into_bytes();
    let asked = place.asks("What is it?").option("--input-file", "-").piped(&piped);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(asked.err.contains("a secret is in what is piped in"), "{}", asked.err);
    search.ran("the query", &asked);
    let kept: Vec<_> = std::fs::read_dir(place.path("runs/one/inputs")).unwrap().collect();
    let kept = kept.into_iter().map(|entry| entry.unwrap().path()).next().unwrap();
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.starts_with("[secret SECRET]\n[secret PIN]\n"), "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&kept.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // A replay is asked about the same.
    let replayed = place.lab(&["replay", "one"]);
    assert!(!replayed.err.contains("is not in the record"), "{replayed:?}");
    search.ran("its replay", &replayed);
    search.tree(&place.path("runs"));
    search.nothing();
}

#[test]
fn no_name_of_a_file_holds_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tools.py"), TOOLS).unwrap();
    let place = Place { dir, url: serve() };
    let prefixed = place.asks("And now?").option("--prefix", format!("run-{PIN}")).run();
    prefixed.refused(
        2,
        &["the prefix of the transcripts holds the secret PIN", "choose another"],
    );
    let logs = place.path(&format!("logs-{PIN}"));
    let linked = place.asks("And now?").option("--log-dir", &logs).run();
    linked.refused(2, &["the path of the transcripts holds the secret PIN"]);
    assert!(!logs.exists());
    let program = place.program().arg("And now?").option("--primary-agent", "some/model");
    let program = program.option("--session-dir", place.path("runs"));
    let program = program
        .option("--session-id", PIN)
        .option("--env", format!("PIN={PIN}"));
    program
        .run()
        .refused(2, &["the name of the session holds the secret PIN", "choose another"]);
    assert!(!prefixed.err.contains(PIN), "{}", prefixed.err);
    assert!(!place.path("runs").exists(), "nothing was made");
}

#[test]
fn the_search_finds_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(format!("…{SECRET}…").as_bytes(), 0).unwrap();
    let file = rusqlite::Connection::open(dir.path().join("some.db")).unwrap();
    file.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE cells (body BLOB)")
        .unwrap();
    file.execute("INSERT INTO cells VALUES (?1)", [packed]).unwrap();
    let pickle = STANDARD.encode(format!("\u{80}{PIN}."));
    std::fs::write(
        dir.path().join("state.json"),
        json!({"variables": {"x": {"pickle_b64": pickle}}}).to_string(),
    )
    .unwrap();
    std::fs::write(dir.path().join("log"), STANDARD.encode(format!("{{{KEY}}}"))).unwrap();
    let mut search = Search::new();
    search.tree(dir.path());
    for place in ["cells.body, unpacked", "pickle of x", "log: "] {
        assert!(
            search.found.iter().any(|found| found.contains(place)),
            "{place}: {:?}",
            search.found
        );
    }
}
