//! The answer goes to stdout and everything else to stderr, in forms that pipes can use.

use super::Place;
use crate::running::{Program, script};
use serde_json::{Value, json};

#[test]
fn quiet_prints_the_answer_and_nothing_else() {
    let place = Place::new();
    let ran = place
        .steps(&["print('noise')", "FINAL('two\\nlines')"])
        .arg("-q")
        .session(&place.session_dir())
        .run();
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(0), "two\nlines\n", "")
    );
}

#[test]
fn a_pipe_gets_no_colours_and_no_progress() {
    let place = Place::new();
    let ran = place
        .steps(&["print('noise')", "FINAL('done')"])
        .option("--verbosity", "full")
        .run();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"));
    assert!(ran.err.contains("step 1") && ran.err.contains("noise"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}') && !ran.err.contains('\r'), "{:?}", ran.err);
}

#[test]
fn what_code_prints_cannot_drive_the_terminal() {
    let place = Place::new();
    let ran = place
        .steps(&["print('\\x1b[2J\\x1b]0;owned\\x07 bell')", "FINAL(1)"])
        .option("--verbosity", "full")
        .run();
    assert!(
        !ran.err.contains('\u{1b}') && !ran.err.contains('\u{7}'),
        "{:?}",
        ran.err
    );
}

#[test]
fn json_holds_answer_usage_and_transcript() {
    let place = Place::new();
    let ran = place
        .steps(&["x = 1", "FINAL({'a': [1, None]})"])
        .session(&place.session_dir())
        .arg("--json")
        .run();
    let told = ran.json();
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    for key in ["outcome", "final", "error", "run_id", "log_file", "usage"] {
        assert!(keys.iter().any(|found| *found == key), "{key} is not in {keys:?}");
    }
    assert_eq!(
        (&told["outcome"], &told["final"], &told["error"]),
        (&json!("done"), &json!({"a": [1, null]}), &Value::Null)
    );
    assert_eq!(told["usage"]["calls"], json!(2));
    assert!(std::path::Path::new(told["log_file"].as_str().unwrap()).is_file());

    let failed = place.steps(&["x = 1"]).option("--max-calls", "1").arg("--json").run();
    let told = failed.json();
    assert_eq!(
        (failed.code, &told["outcome"], &told["final"]),
        (Some(3), &json!("limit"), &Value::Null)
    );
    assert!(told["error"].as_str().unwrap().contains("max_calls_per_subagent"));
}

#[test]
fn answers_print_as_text_or_as_json() {
    let place = Place::new();
    for (code, printed) in [
        ("'text, as it is \\u2713'", "text, as it is ✓"),
        ("''", ""),
        ("None", "None"),
        ("True", "true"),
        ("2 ** 70", "1180591620717411303424"),
        ("float('nan')", "NaN"),
        ("b'abc'", "{\n  \"base64\": \"YWJj\"\n}"),
        ("{1: None}", "{\n  \"1\": null\n}"),
        ("[]", "[]"),
    ] {
        assert_eq!(place.steps(&[&format!("FINAL({code})")]).answer(), printed, "{code}");
    }
}

#[test]
fn a_very_deep_answer_is_an_answer() {
    let place = Place::new();
    let deep = place.steps(&["d = 0\nfor _ in range(5_000):\n    d = [d]\nFINAL(d)", "FINAL('flat')"]);
    let ran = deep.session(&place.session_dir()).run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    crate::running::session::check_state(&place.session().state());
}

#[test]
fn input_files_become_what_their_extension_says() {
    let place = Place::new();
    for (name, content, context) in [
        ("a.json", r#"{"n": [1, 2.5, null]}"#, "{'n': [1, 2.5, None]}"),
        ("a.yaml", "n:\n  - 1\n", "{'n': [1]}"),
        ("a.jsonl", "{\"n\": 1}\n\n2\n", "[{'n': 1}, 2]"),
        ("a.ndjson", "1\n", "[1]"),
        ("a.csv", "x,y\n1,2\n", "'x,y\\n1,2\\n'"),
        ("README", "plain ✓", "'plain ✓'"),
        ("empty.txt", "", "''"),
    ] {
        place.file(name, content);
        let told = json!({"depth": 0, "system": ["the prompt", name]});
        let query = place.rules(&[crate::running::script::rule(told, &["FINAL(repr(context))"])]);
        assert_eq!(query.option("--input-file", name).answer(), context, "{name}");
    }
    let bytes = place.path().join("latin.txt");
    std::fs::write(&bytes, b"caf\xe9").unwrap();
    let ran = place
        .steps(&["FINAL(repr(context))"])
        .option("--input-file", &bytes)
        .run();
    assert!(
        ran.code == Some(0) && ran.out.contains("caf") || ran.code == Some(2) && ran.err.contains("latin.txt"),
        "{ran:?}"
    );
}

#[test]
fn without_structured_inputs_everything_is_text_and_no_schema_counts() {
    let place = Place::new();
    place.file("rlm_config.yaml", "enable_structured_io: false\n");
    place.file("in.json", r#"{"n": [1, 2.5, null], "é": {}}"#);
    place.file("schema.json", r#"{"type": "integer"}"#);
    let text = r#"{"n":[1,2.5,null],"é":{}}"#;
    let kind = "FINAL([type(context).__name__, context])";
    let root =
        "got = await llm_query({'a': [1]}, schema={'type': 'integer'})\nmine = [type(context).__name__, context]";
    let rules = [
        script::rule(json!({"depth": 0}), &[root, "FINAL([mine, got])"]),
        script::rule(json!({"depth": 1}), &[kind]),
    ];
    let query = || place.rules(&rules).option("--input-file", "in.json").arg("--json");
    let session = place.path().join("plain");
    let ran = query().option("--output-schema", "schema.json").session(&session).run();
    assert_eq!(
        ran.json()["final"],
        json!([["str", text], ["str", r#"{"a":[1]}"#]]),
        "{ran:?}"
    );
    assert!(
        ran.err.contains("not checked against the output schema") && ran.err.contains("enable_structured_io is off"),
        "{ran:?}"
    );
    // The session keeps how it was asked.
    std::fs::remove_file(place.path().join("rlm_config.yaml")).unwrap();
    let replay = Program::new(place.path())
        .arg("replay")
        .arg(&session)
        .arg("--json")
        .run();
    assert_eq!(replay.json()["faithful"], json!(true), "{replay:?}");

    let on = place
        .steps(&[kind])
        .option("--input-file", "in.json")
        .arg("--json")
        .run();
    assert_eq!(on.json()["final"][0], json!("dict"));
    let off = query().env("FAST_RLM_ENABLE_STRUCTURED_IO", "off").run();
    assert_eq!(off.json()["final"][0], json!(["str", text]));
    assert_eq!(off.err, "", "nothing is ignored");
}

#[test]
fn what_should_not_be_missed_is_said_in_pipes_too() {
    let place = Place::new();
    let hello = || {
        Program::asks(place.path(), "hello")
            .option("--primary-agent", "m-1")
            .env("RLM_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
            .env("RLM_MODEL_API_KEY", "a-key-of-no-use")
            .env("FAST_RLM_API_MAX_RETRIES", "0")
    };
    let price = "fast-rlm: the price of m-1 is unknown";
    let ran = hello().run();
    assert!(ran.err.contains(price) && !ran.err.contains('\u{1b}'), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 2, "that, and the error: {ran:?}");
    assert!(!hello().arg("-q").run().err.contains(price));
    assert!(!hello().option("--verbosity", "silent").run().err.contains(price));
    let answered = place.steps(&["print('noise')", "FINAL('done')"]).run();
    assert_eq!((answered.out.as_str(), answered.err.as_str()), ("done\n", ""));
}

#[test]
fn transcripts_go_where_they_are_wanted_also_for_a_new_session() {
    let place = Place::new();
    let logs = place.path().join("elsewhere");
    let answer = place
        .steps(&["FINAL('done')"])
        .option("--log-dir", &logs)
        .option("--prefix", "mine")
        .session(&place.session_dir())
        .answer();
    assert_eq!(answer, "done");
    let names: Vec<_> = std::fs::read_dir(&logs)
        .unwrap()
        .map(|log| log.unwrap().file_name())
        .collect();
    assert!(
        names.len() == 1 && names[0].to_string_lossy().starts_with("mine_"),
        "{names:?}"
    );
    assert!(place.session_dir().join("state.json").is_file());
}

#[test]
fn a_reader_that_has_had_enough_is_no_error_to_tell() {
    let place = Place::new();
    let mut child = place.steps(&["FINAL('word ' * 100_000)"]).start();
    drop(child.stdout.take());
    let ran = crate::running::Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
}

#[test]
fn the_doctor_says_what_is_ready_and_shows_no_key() {
    let place = Place::new();
    place.file("model.yaml", "replies: [{code: FINAL(1)}]");
    let doctor = || {
        let doctor = Program::new(place.path()).arg("doctor");
        doctor
            .env("OPENAI_API_KEY", "sk-to-be-kept")
            .env("ANTHROPIC_API_KEY", "")
    };
    let ran = doctor().option("--primary-agent", "scripted:model.yaml").run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for told in [
        "OPENAI_API_KEY: set, used",
        "RLM_MODEL_API_KEY: not set",
        "ANTHROPIC_API_KEY: not set",
        "scripted:model.yaml",
        "terminal",
    ] {
        assert!(ran.out.contains(told), "{told}: {ran:?}");
    }
    assert!(!format!("{ran:?}").contains("sk-to-be-kept"));
    let ran = doctor().run();
    assert_eq!(ran.code, Some(2), "without a model no query could be asked: {ran:?}");
    assert!(ran.out.contains("--primary-agent"), "{ran:?}");
}

#[test]
fn json_holds_nothing_that_acts_on_a_terminal() {
    let text = "\u{9b}31m\u{9d}0;PWN\u{9c}\u{202e}\u{200b}\u{7f}ä";
    let place = Place::new();
    let code = r"FINAL(['\x9b31m\x9d0;PWN\x9c\u202e\u200b\x7fä'])";
    let bare = place.steps(&[code]).run();
    let whole = place.steps(&[code]).arg("--json").run();
    let read: Value = serde_json::from_str(&bare.out).unwrap();
    assert_eq!((&read, &whole.json()["final"]), (&json!([text]), &json!([text])));
    for out in [bare.out, whole.out] {
        assert!(
            out.contains("\\u009b31m\\u009d0;PWN\\u009c\\u202e\\u200b\\u007fä"),
            "{out}"
        );
    }
}

#[test]
fn refused_arguments_are_told_without_what_acts_on_a_terminal() {
    let place = Place::new();
    let ran = Program::asks(place.path(), "x")
        .arg("--no\u{1b}]0;t\u{7}\u{202e}")
        .run();
    ran.refused(2, &["--no␛]0;t␇‹U+202E›"]);
    assert!(!ran.err.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran:?}");
}

/// As the Python package takes it: an agent that is declared on the command line, in that package's form.
#[test]
fn an_agent_is_declared_on_the_command_line() {
    let place = tempfile::tempdir().unwrap();
    let agent = r#"{"mine": {"command": "sh", "args": ["-c", "cat >/dev/null; printf '%s' \"$0\"", "```repl\nFINAL(6 * 7)\n```"],
        "model_flag": "-m", "extract": {"kind": "text"}}}"#;
    std::fs::write(place.path().join("agents.json"), agent).unwrap();
    for given in [agent, "@agents.json"] {
        let query = Program::asks(place.path(), "go").option("--primary-agent", "cli:mine?model=large");
        assert_eq!(query.option("--cli-agents", given).answer(), "42");
    }
}
