//! Every `--json`, the export and the configuration fit the schemas in `docs/schemas/`.

use super::running::{Program, script};
use super::{LOG, RLM, printed};
use fast_rlm::source::{OpenOptions, Opened, Stop, open};
use fast_rlm::text::secret::Secrets;
use fast_rlm::tui::export;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas")
}

fn schema(name: &str) -> Value {
    let path = directory().join(format!("{name}.schema.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The schema with every object closed: a key that it does not name is found.
fn closed(schema: Value) -> Value {
    match schema {
        Value::Object(mut entries) => {
            if entries.contains_key("required") && entries.get("type") == Some(&json!("object")) {
                entries.entry("additionalProperties").or_insert(json!(false));
            }
            Value::Object(entries.into_iter().map(|(key, value)| (key, closed(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(closed).collect(),
        other => other,
    }
}

/// The errors of a value; a schema that is none is no schema.
fn errors(schema: Value, value: &Value) -> Vec<String> {
    let (mut compiler, mut compiled) = (boon::Compiler::new(), boon::Schemas::new());
    compiler.add_resource("schema:///s", schema).unwrap();
    let root = compiler.compile("schema:///s", &mut compiled).unwrap();
    let wrong = compiled.validate(value, root).err();
    wrong.map(|error| format!("{error}")).into_iter().collect()
}

#[track_caller]
fn fits(name: &str, value: &Value) {
    let wrong = errors(closed(schema(name)), value);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{value:#}");
}

/// A place with a session of two queries.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for codes in [
            &["x = 1\nprint(x)", "FINAL({'x': x})"][..],
            &["1 / 0", "y = x + 1", "FINAL('done')"],
        ] {
            let asks = place
                .asks(codes)
                .option("--session-dir", "runs")
                .option("--session-id", "s");
            asks.run().answer();
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn session(&self) -> PathBuf {
        self.path().join("runs/s")
    }

    fn asks(&self, codes: &[&str]) -> Program {
        let script = script::steps(self.path(), "steps.json", codes);
        Program::asks(self.path(), "the prompt").scripted(&script)
    }

    fn rlm(&self, args: &[&str]) -> Value {
        let program = args
            .iter()
            .fold(Program::new(self.path()), |program, arg| program.arg(arg));
        program.run().json()
    }

    fn log(&self, args: &[&str]) -> Value {
        serde_json::from_str(&printed(LOG, args, self.path())).unwrap()
    }
}

#[test]
fn schemas_are_schemas_and_each_has_a_name_in_the_documentation() {
    let told = std::fs::read_to_string(directory().join("README.md")).unwrap();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".schema.json") {
            let schema = schema(stem);
            errors(schema.clone(), &Value::Null);
            assert_eq!(
                schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
                "{name}"
            );
            assert!(
                told.contains(&format!("]({name})")),
                "{name} is not in docs/schemas/README.md"
            );
        }
    }
}

#[test]
fn answers_fit() {
    let place = Place::new();
    let done = place.asks(&["FINAL([1, None])"]).arg("--json").run().json();
    assert_eq!(done["outcome"], "done");
    fits("answer", &done);
    let stopped = place.asks(&["x = 1"]).option("--max-calls", "1").arg("--json").run();
    assert_eq!(stopped.code, Some(3));
    fits("answer", &stopped.json());
    let parked = place
        .asks(&["a = await ask('Which?', ['x', 'y'])\nFINAL(a)"])
        .option("--session-dir", "parked")
        .arg("--json")
        .run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    fits("answer", &parked.json());
    let answered = place.rlm(&["answer", "parked", "x", "--json"]);
    assert_eq!(answered["final"], "x");
    fits("answer", &answered);
}

#[test]
fn facts_of_sessions_fit() {
    let place = Place::new();
    fits("log", &place.log(&["--demo", "--json"]));
    fits("log", &place.log(&["runs/s", "--json"]));
    fits("log", &place.log(&["runs", "--json"]));
    let transcript = std::fs::read_dir(place.session().join("logs")).unwrap();
    let transcript = transcript
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "jsonl"));
    fits("log", &place.log(&[transcript.unwrap().to_str().unwrap(), "--json"]));
}

#[test]
fn reports_of_the_lab_fit() {
    let place = Place::new();
    let rlm = |args: &[&str]| place.rlm(&[args, &["--dir", "runs", "--json"]].concat());
    fits("sessions", &place.rlm(&["sessions", "runs", "--json"]));
    fits("replay", &rlm(&["replay", "s"]));
    let fork = rlm(&["fork", "s", "--turn", "1", "--at", "1", "--inject", "5"]);
    fits("branch", &fork);
    let other = fork["session"].as_str().unwrap();
    fits("diff", &rlm(&["diff", "s", other]));
    fits("diff", &rlm(&["diff", "s", "s"]));
    fits("what-if", &rlm(&["what-if", "s", "--substitute-var", "2.y=7"]));
}

/// A run of the lab that fails and is kept: the object that it prints.
#[track_caller]
fn failed(place: &Place, code: i32, args: &[&str]) -> Value {
    let ran = Program::new(place.path());
    let args = [args, &["--dir", "runs", "--json"]].concat();
    let ran = args.iter().fold(ran, |ran, arg| ran.arg(arg)).run();
    assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
    let record = ran.json();
    fits("failed", &record);
    record
}

#[test]
fn runs_of_the_lab_that_failed_are_told_as_json_with_their_session() {
    let place = Place::new();
    let sessions = || place.rlm(&["sessions", "runs", "--json"]);
    let is_kept = |record: &Value| {
        let listed = sessions();
        let mut rows = listed.as_array().unwrap().iter();
        rows.any(|row| row["id"] == record["session"])
    };
    std::fs::write(place.path().join("raises.py"), "1 / 0\n").unwrap();
    script::steps(place.path(), "on.json", &["z = 1"]);
    let halted = failed(&place, 1, &["fork", "s", "--at", "1", "--edit", "raises.py"]);
    assert!(is_kept(&halted) && halted["outcome"] == "error", "{halted}");
    let on = [
        "--replan",
        "x",
        "--primary-agent",
        "scripted:on.json",
        "--max-calls",
        "1",
    ];
    let limited = failed(&place, 3, &[&["fork", "s", "--at", "1"][..], &on].concat());
    assert!(is_kept(&limited) && limited["outcome"] == "limit", "{limited}");
    let mute = failed(&place, 1, &["what-if", "s", "--model", "scripted:on.json"]);
    assert!(is_kept(&mute) && mute["error"].is_string(), "{mute}");
}

#[test]
fn exports_fit() {
    let options = OpenOptions {
        use_cache: false,
        ..OpenOptions::default()
    };
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let Opened::Session { mut events, mut source } = open(&target, &options).unwrap() else {
        panic!("the demo is one session");
    };
    source.scan(&Stop::default(), &mut |more| events.extend(more));
    let mut session = fast_rlm::model::Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    let options = export::Options {
        format: export::Format::Json,
        scope: export::Scope::Session,
        raw: false,
        utc: true,
        secrets: Secrets::default(),
    };
    let mut out = Vec::new();
    export::write(&session, &mut source, &options, &mut out, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    fits("export", &serde_json::from_slice(&out).unwrap());
}

#[test]
fn models_and_configuration_fit() {
    let place = Place::new();
    // Nobody answers there: an error is told, too.
    let models = Program::new(place.path())
        .arg("models")
        .arg("--json")
        .env("RLM_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
        .env("RLM_MODEL_API_KEY", "0123456789")
        .run();
    fits("models", &models.json());
    std::fs::write(place.path().join("fast-rlm.toml"), "max_depth = 1\nmax_dept = 2\n").unwrap();
    fits("config", &place.rlm(&["config", "--json"]));
}

#[test]
fn the_schema_of_configuration_files_is_the_programs_own() {
    let place = tempfile::tempdir().unwrap();
    let printed: Value = serde_json::from_str(&printed(RLM, &["config", "schema"], place.path())).unwrap();
    let path = directory().join("config-file.schema.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{printed:#}\n")).unwrap();
    }
    assert!(
        printed == schema("config-file"),
        "run UPDATE_DOCS=1 cargo test --test command_line"
    );
    for fitting in [
        json!({}),
        json!({"primary_agent": "m", "max_money_spent": 0.5, "keys": {"run": {"fork": ["F"], "diff": "d"}}}),
        // What is null sets nothing.
        json!({"max_global_calls": null, "sub_agent": null, "enable_tools": null, "repl": null, "keys": null}),
        json!({"cli_agents": {"mine": {"command": "x", "model_flag": "-m", "extract": {"kind": "text"}}}}),
        json!({"cli_agents": {"mine": {"command": "x", "reply": ["/a", {"at": "/b", "when": {"/c": "d"}}]}}}),
    ] {
        fits("config-file", &fitting);
    }
    for wrong in [
        json!({"max_dept": 1}),
        json!({"max_depth": "3"}),
        json!({"keys": {"run": {"fork": 1}}}),
        json!({"cli_agents": {"mine": {"comand": "x"}}}),
    ] {
        assert!(!errors(schema("config-file"), &wrong).is_empty(), "{wrong}");
    }
}
