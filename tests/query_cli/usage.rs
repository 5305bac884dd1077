//! Wrong usage and unusable input end with 2 and say what to change; nothing is left behind.

use super::Place;
use crate::running::Program;
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn without_a_model_it_says_which_setting() {
    let place = Place::new();
    let ran = Program::asks(place.path(), "hello").run();
    ran.refused(2, &["primary_agent", "--primary-agent"]);
}

#[test]
fn without_a_key_it_says_which_variables() {
    let place = Place::new();
    let ran = Program::asks(place.path(), "hello")
        .option("--primary-agent", "z-ai/glm-5")
        .run();
    ran.refused(2, &["RLM_MODEL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"]);
}

/// A server that refuses every key, once.
fn refusing() -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let body = r#"{"error": {"message": "No auth credentials found", "code": 401}}"#;
    let answer = format!(
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let serve = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 65_536]).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    });
    (url, serve)
}

#[test]
fn a_refused_key_is_named_by_its_variable_and_never_shown() {
    let place = Place::new();
    let (url, serve) = refusing();
    let ran = Program::asks(place.path(), "hello")
        .option("--primary-agent", "z-ai/glm-5")
        .env("RLM_MODEL_BASE_URL", url)
        .env("OPENROUTER_API_KEY", "sk-or-wrong-wrong-wrong")
        .run();
    serve.join().unwrap();
    ran.refused(1, &["401", "OPENROUTER_API_KEY"]);
    assert!(!format!("{ran:?}").contains("wrong-wrong"));
}

#[test]
fn unusable_files_are_named_with_the_place() {
    let place = Place::new();
    place.file("bad.json", "{\n \"a\": }");
    place.file("bad.jsonl", "1\n2\n{");
    place.file("schema.json", r#"{"type": "nonsense"}"#);
    place.file("no.json", "not json");
    place.file("bad.py", "def f(:\n");
    place.file("config.yaml", "max_depth: [1\n");
    let asks = || place.steps(&["FINAL(1)"]);
    asks()
        .option("--input-file", "nowhere.txt")
        .run()
        .refused(2, &["nowhere.txt", "No such file"]);
    asks()
        .option("--input-file", "bad.json")
        .run()
        .refused(2, &["bad.json", "line 2"]);
    asks()
        .option("--input-file", "bad.jsonl")
        .run()
        .refused(2, &["bad.jsonl", "line 3"]);
    asks().option("--input-file", ".").run().refused(2, &["input file"]);
    asks()
        .option("--output-schema", "schema.json")
        .run()
        .refused(2, &["schema", "/type"]);
    asks()
        .option("--output-schema", "no.json")
        .run()
        .refused(2, &["no.json", "JSON"]);
    asks().option("--tools", "none.py").run().refused(2, &["none.py"]);
    asks()
        .option("--tools", "bad.py")
        .run()
        .refused(2, &["bad.py", "SyntaxError", "line 1"]);
    asks()
        .option("--config", "config.yaml")
        .run()
        .refused(2, &["config.yaml", "line"]);
    let ran = Program::asks(place.path(), "x")
        .option("--primary-agent", "scripted:none.yaml")
        .run();
    ran.refused(2, &["none.yaml"]);
}

#[test]
fn session_ids_are_checked_before_anything_is_made() {
    let place = Place::new();
    let long = "x".repeat(65);
    for id in ["../x", "a/b", "", ".hidden", "logs", "ü", &long] {
        let query = place.steps(&["FINAL(1)"]).session(&place.session_dir());
        query
            .arg(format!("--session-id={id}"))
            .run()
            .refused(2, &["session id"]);
    }
    place
        .steps(&["FINAL(1)"])
        .option("--session-id", "alone")
        .run()
        .refused(2, &["--session-dir"]);
    assert!(!place.session_dir().exists());
}

#[test]
fn options_are_explained_when_they_make_no_sense() {
    let place = Place::new();
    place
        .steps(&["FINAL(1)"])
        .arg("--no-such")
        .run()
        .refused(2, &["--no-such", "--help"]);
    place
        .steps(&["FINAL(1)"])
        .option("--max-money-spent", "lots")
        .run()
        .refused(2, &["lots", "0.20"]);
    place
        .steps(&["FINAL(1)"])
        .option("--env", "NOVALUE")
        .run()
        .refused(2, &["KEY=VALUE"]);
    place
        .steps(&["FINAL(1)"])
        .option("--env", "K=short")
        .run()
        .refused(2, &["8 characters"]);
    for wrong in ["soon", "-1", "NaN", "1e99"] {
        let ran = place.steps(&["FINAL(1)"]).arg(format!("--wait={wrong}")).run();
        ran.refused(2, &["--wait", "number of seconds"]);
    }
    for (flag, beyond, wanted) in [
        ("--max-depth", "65", "from 0 to 64"),
        ("--max-calls", "0", "from 1"),
        ("--max-global-calls", "9999999999999999", "from 1 to"),
    ] {
        // What files and variables refuse, flags and subcommands refuse, too.
        place
            .steps(&["FINAL(1)"])
            .option(flag, beyond)
            .run()
            .refused(2, &[flag, wanted]);
        let answer = Program::new(place.path()).arg("answer").arg(".").arg("x");
        answer.option(flag, beyond).run().refused(2, &[flag, wanted]);
    }
    let script = place.file("one.yaml", "replies: [{code: FINAL(1)}]");
    Program::asks(place.path(), " ")
        .scripted(&script)
        .run()
        .refused(2, &["prompt is empty"]);
    let alone = Program::new(place.path()).run();
    assert_eq!(alone.code, Some(2));
    assert!(format!("{}{}", alone.out, alone.err).contains("--primary-agent"));
}

#[test]
fn a_file_is_no_directory_of_sessions() {
    let place = Place::new();
    place.file("file", "");
    for dir in ["file", "file/below"] {
        for option in ["--session-dir", "--log-dir"] {
            let query = place.steps(&["FINAL(1)"]).option(option, dir);
            query.run().refused(2, &[option, "is no directory"]);
        }
        for args in [
            &["replay", "last"][..],
            &["fork", "one", "--at", "1", "--inject", "1"],
            &["resume", "last"],
            &["import", "file"],
        ] {
            let command = args
                .iter()
                .fold(Program::new(place.path()), |program, arg| program.arg(arg));
            command
                .option("--dir", dir)
                .run()
                .refused(2, &["--dir", "is no directory"]);
        }
    }
    assert_eq!(std::fs::read(place.path().join("file")).unwrap(), b"");
}

#[test]
fn a_state_of_a_newer_build_is_refused_and_left_alone() {
    let place = Place::new();
    let text = r#"{"version": 99, "queries": []}"#;
    std::fs::create_dir(place.session_dir()).unwrap();
    let state = place.file("session/state.json", text);
    let ran = place.steps(&["FINAL(1)"]).session(&place.session_dir()).run();
    ran.refused(1, &["state.json", "99"]);
    assert_eq!(std::fs::read_to_string(state).unwrap(), text);
}
