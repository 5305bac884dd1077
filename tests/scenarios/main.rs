//! Whole sessions against a model server over real HTTP, streaming and not: the answers, the ledger, the steps and
//! what they cost.
//!
//! The server lies beside the sessions of `FAST_RLM_COMPAT_DIR`; without it these tests say that they are skipped.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::approx_constant
)]

mod endings;
#[path = "../running/mod.rs"]
mod running;

use running::server::{Server, tool};
use running::session::{self, Session, Totals, check_state, check_transcript, output};
use running::{Program, foreign_sessions};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// One session against one server.
struct Scene {
    dir: tempfile::TempDir,
    server: Server,
    streaming: bool,
}

impl Scene {
    fn open(tool: &Path, streaming: bool, instant: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(tool, dir.path(), instant);
        Self { dir, server, streaming }
    }

    fn session(&self) -> Session {
        Session::at(&self.dir.path().join("session"))
    }

    /// A query to a model whose price is in no table: what the server does not report is unknown.
    fn asks(&self, prompt: &str) -> Program {
        Program::asks(self.dir.path(), prompt)
            .option("--primary-agent", "scripted/unpriced")
            .session(&self.session().dir)
            .env("RLM_MODEL_BASE_URL", self.server.base_url())
            .env("RLM_MODEL_API_KEY", "sk-of-the-scenarios")
            .env("RLM_MODEL_STREAM", if self.streaming { "on" } else { "off" })
            .arg("--json")
    }

    /// Asks, and holds the answer against the ledger and the transcript.
    #[track_caller]
    fn ask(&self, query: Program) -> (Value, Totals) {
        let ran = query.run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let told = ran.json();
        let state = self.session().state();
        check_state(&state);
        let row = state["queries"].as_array().unwrap().last().unwrap();
        assert_eq!((&row["final"], &row["run_id"]), (&told["final"], &told["run_id"]));
        (told["final"].clone(), self.totals(&told, &row["log_file"]))
    }

    /// The transcript's totals, which must be those that were told.
    #[track_caller]
    fn totals(&self, told: &Value, log_file: &Value) -> Totals {
        let lines = self.session().transcript(log_file);
        check_transcript(&lines);
        let totals = Totals::of(&lines);
        let usage = &told["usage"];
        assert_eq!(usage["cost_nano_usd"], json!(totals.cost_nano), "{told}");
        assert_eq!(usage["calls"], json!(totals.all_steps), "{told}");
        assert_eq!(usage["calls_without_cost"], json!(totals.steps_without_cost), "{told}");
        totals
    }

    fn last(&self) -> Vec<Value> {
        self.session().last_transcript()
    }
}

/// Plays a scene twice: with replies that are streamed, and with whole ones.
fn play(scene: impl Fn(&Scene)) {
    let Some(tool) = tool() else { return };
    for streaming in [true, false] {
        let stage = Scene::open(&tool, streaming, true);
        scene(&stage);
        let asked = stage.server.requests();
        assert!(!asked.is_empty());
        assert!(asked.iter().all(|request| request["stream"] == json!(streaming)));
    }
}

fn file(scene: &Scene, name: &str, content: &Value) -> std::path::PathBuf {
    let path = scene.dir.path().join(name);
    std::fs::write(&path, content.to_string()).unwrap();
    path
}

fn corpus() -> String {
    let script = tool().unwrap().join("corpus.py");
    let made = Command::new("python3").arg("-B").arg(script).output().unwrap();
    String::from_utf8(made.stdout).unwrap()
}

/// The sessions that another program made of the same scripts, and what is true of them.
fn recorded(name: &str) -> (Value, Value) {
    let sessions = foreign_sessions().unwrap();
    let state = session::read_json(&sessions.join(name).join("state.json"));
    (state, session::read_json(&sessions.join("facts.json"))[name].clone())
}

#[test]
fn podcasts_in_four_queries() {
    play(|scene| {
        let (recorded, facts) = recorded("podcasts");
        let questions: Vec<String> = recorded["queries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["query"].as_str().unwrap().to_owned())
            .collect();
        let heading = questions[0].lines().next().unwrap();
        let first = format!("{heading}\n\n{}", corpus());
        for (i, question) in [first.as_str(), &questions[1], &questions[2], &questions[3]]
            .into_iter()
            .enumerate()
        {
            let (answer, totals) = scene.ask(scene.asks(question));
            let known = &facts["queries"][i];
            assert_eq!(answer, known["final"], "query {}", i + 1);
            let run = &known["run"];
            let found = json!({
                "agents": totals.agents, "max_depth": totals.max_depth, "root_steps": totals.root_steps,
                "all_steps": totals.all_steps, "steps_without_cost": totals.steps_without_cost,
            });
            for (key, value) in found.as_object().unwrap() {
                assert_eq!(*value, run[key], "{key} of query {}", i + 1);
            }
            // No file may be opened here; and `re` is there again, which that program forgot.
            assert_eq!(totals.failed_steps, [2, 0, 0, 0][i], "query {}", i + 1);
        }
        let state = scene.session().state();
        assert_eq!(
            state["functions"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["find_quotes", "EpisodeRef"]
        );
        let cut = state["queries"][0]["query"].as_str().unwrap();
        assert!(cut.starts_with(heading) && cut.chars().count() < 4_100);
        let variables = &state["variables"];
        assert_eq!(
            variables["agi_pattern"]["comment"],
            Value::Null,
            "a comment belongs to its own line"
        );
        assert_eq!(
            variables["agi_stance"]["note"],
            json!("guest -> stance on AGI timelines")
        );
        assert!(variables["optimists"]["committed"].as_bool().unwrap());
        assert!(
            variables["context_saved"]["preview"]
                .as_str()
                .unwrap()
                .contains("How many episodes")
        );
        assert!(variables.get("headers").is_none(), "it was deleted");
        assert!(state["dropped"].get("line_stream").is_some());
    });
}

#[test]
fn structured_input_and_a_schema_that_fails_once() {
    play(|scene| {
        let (recorded, _) = recorded("structured");
        let given =
            |i: usize| serde_json::from_str::<Value>(recorded["queries"][i]["query"].as_str().unwrap()).unwrap();
        let schema = json!({
            "type": "object",
            "required": ["movie", "average_score", "consensus"],
            "properties": {"average_score": {"type": "number"}, "consensus": {"type": "string"}},
        });
        let schema = file(scene, "schema.json", &schema);
        let query = scene
            .asks("Give a verdict.")
            .option("--input-file", file(scene, "reviews.json", &given(0)));
        let (answer, totals) = scene.ask(query.option("--output-schema", schema));
        assert_eq!(answer, recorded["queries"][0]["final"]);
        assert_eq!((totals.root_steps, totals.failed_steps), (3, 1));
        let lines = scene.last();
        let rejected = output(&lines, 2);
        assert!(
            rejected.contains("average_score") && rejected.contains("consensus"),
            "{rejected}"
        );
        assert!(output(&lines, 0).contains("Required output schema"));

        let query = scene
            .asks("Judge the rows.")
            .option("--input-file", file(scene, "rows.json", &given(1)));
        let (answer, totals) = scene.ask(query);
        assert_eq!(answer, recorded["queries"][1]["final"]);
        assert_eq!(totals.root_steps, 2);
        assert_eq!(
            scene.session().state()["queries"][1]["query"],
            json!("Judge the rows. (rows.json)")
        );
    });
}

#[test]
fn every_final_value_becomes_documented_json() {
    play(|scene| {
        let values = [
            ("none", Value::Null),
            ("true", json!(true)),
            ("zero", json!(0)),
            ("empty string", json!("")),
            ("empty list", json!([])),
            ("float", json!(3.14)),
            ("nan", json!("NaN")),
            ("infinity", json!("Infinity")),
            ("big int", json!("1180591620717411303424")),
            ("tuple", json!([1, "two", null])),
            ("set", json!([1, 2, 3])),
            ("bytes", json!({"base64": "YWJj"})),
            ("int keys", json!({"1": "one", "2": {"x": null}})),
            ("nested", json!({"a": {"b": [1, {"c": null, "d": 1.0}]}})),
            ("custom object", json!({"x": 1, "y": 2})),
            ("dict with big int", json!({"n": "1180591620717411303424"})),
            ("date", json!("2024-05-06")),
        ];
        for (label, value) in &values {
            let (answer, _) = scene.ask(scene.asks(&format!("Return the odd value: {label}")));
            assert_eq!(answer, *value, "{label}");
        }
        let ledger = scene.session().state()["queries"].as_array().unwrap().clone();
        assert_eq!(ledger.len(), values.len());
        assert!(
            ledger[0].as_object().unwrap().contains_key("final"),
            "null stands for None"
        );
    });
}

#[test]
fn agents_three_levels_deep() {
    play(|scene| {
        let (answer, totals) = scene.ask(scene.asks("Map the archive three levels down."));
        let boxes = |shelf: &str| json!([format!("box {shelf}1: letters"), format!("box {shelf}2: maps")]);
        let reports: Vec<Value> = ["A", "B", "C"]
            .iter()
            .map(|shelf| json!({"shelf": shelf, "boxes": boxes(shelf)}))
            .collect();
        assert_eq!(
            answer,
            json!({"shelves": 3, "reports": reports, "audit": "all 6 boxes labelled"})
        );
        // Root, 3 shelves, 6 boxes, 6 clerks, 1 auditor.
        assert_eq!((totals.agents, totals.max_depth, totals.root_steps), (17, 3, 4));
        assert_eq!(
            (totals.all_steps, totals.failed_steps, totals.steps_without_cost),
            (4 + 9 + 12 + 12 + 1, 0, 6)
        );
        let lines = scene.last();
        let parents: Vec<&Value> = lines.iter().filter_map(|line| line.get("parent_run_id")).collect();
        assert!(parents.iter().all(|id| lines.iter().any(|line| line["run_id"] == **id)));
    });
}

#[test]
fn sub_agents_take_any_shape() {
    play(|scene| {
        let (answer, totals) = scene.ask(scene.asks("Try every context shape."));
        let shapes = [
            ("str", "'text'"),
            ("dict of str", "{'a': 'x'}"),
            ("dict of list", "{'a': [1, 2]}"),
            ("dict of dict", "{'a': {'b': 1}}"),
            ("list of str", "['x', 'y']"),
            ("list of list", "[[1], [2]]"),
            ("list of dict", "[{'a': 1}]"),
            ("dict of list of dict", "{'a': [{'b': 1}]}"),
            ("dict of list of list", "{'a': [[1], [2]]}"),
            ("dict of dict of list", "{'a': {'b': [1]}}"),
            ("list of dict of list", "[{'a': [1]}]"),
            ("empty dict", "{}"),
            ("empty list", "[]"),
            ("tuple", "['x', 'y']"),
            ("None", "None"),
            ("int", "3"),
        ];
        for (shape, arrived) in shapes {
            assert_eq!(answer[shape], json!(format!("ok: {arrived}")), "{shape}");
        }
        assert_eq!(totals.agents, 1 + shapes.len());

        scene.ask(scene.asks("Try nested shapes in a batch."));
        let lines = scene.last();
        assert_eq!(output(&lines, 1).matches(" ok: ").count(), 6, "{}", output(&lines, 1));
    });
}
