//! Usage that makes no sense, as servers and agents write it: every figure of it is told in the same way everywhere, or
//! as unknown everywhere.

use super::Place;
use super::billed::read_request;
use crate::running::{Program, Ran};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpListener;
use std::process::Command;

/// A server that answers each call with `FINAL(1)` and this usage.
fn serving(usage: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let text = json!({"choices": [{"delta": {"content": "```repl\nFINAL(1)\n```"}, "finish_reason": "stop"}]});
    let body = format!("data: {text}\n\ndata: {{\"choices\": [], \"usage\": {usage}}}\n\ndata: [DONE]\n\n");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&stream);
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    address
}

/// What the viewer says.
fn seen(place: &Place, how: &str) -> String {
    let mut viewer = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let told = viewer.arg(place.session_dir()).arg(how).output().unwrap();
    String::from_utf8(told.stdout).unwrap()
}

/// The tokens of the root's call, as the log of events has them.
fn recorded(place: &Place) -> Value {
    let log = rusqlite::Connection::open(place.session_dir().join("events.db")).unwrap();
    let query = "SELECT payload FROM event WHERE kind = 'model_call'";
    let payload: String = log.query_row(query, [], |row| row.get(0)).unwrap();
    serde_json::from_str::<Value>(&payload).unwrap()["usage"].clone()
}

/// The usage that the transcript has for the step.
fn written(place: &Place) -> Value {
    let lines = place.session().last_transcript();
    lines.iter().find(|line| line["step"] == json!(1)).unwrap()["usage"].clone()
}

fn ask(usage: &str) -> (Place, Ran) {
    let place = Place::new();
    let ran = Program::asks(place.path(), "the prompt")
        .option("--primary-agent", "a-model")
        .env("RLM_MODEL_BASE_URL", serving(usage))
        .env("RLM_MODEL_API_KEY", "key-of-a-test")
        .session(&place.session_dir())
        .option("--verbosity", "summary")
        .arg("--json")
        .run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    (place, ran)
}

#[track_caller]
fn is_unknown(usage: &str) {
    let (place, ran) = ask(usage);
    let told = &ran.json()["usage"];
    let figures = ["prompt_tokens", "completion_tokens", "calls_without_tokens"].map(|key| told[key].clone());
    assert_eq!(figures, [json!(0), json!(0), json!(1)], "{usage}: {told}");
    assert!(ran.err.contains("tokens unknown"), "{usage}: {}", ran.err);
    let log: Value = serde_json::from_str(&seen(&place, "--json")).unwrap();
    assert_eq!(log["totals"]["completed"]["tokens"], Value::Null, "{usage}: {log}");
    assert!(seen(&place, "--stats").contains("unknown"), "{usage}");
    assert_eq!(written(&place)["total_tokens"], json!(0), "{usage}");
    assert_eq!(recorded(&place), Value::Null, "{usage}");
}

#[track_caller]
fn is_known(usage: &str, prompt: u64, completion: u64, total: u64) {
    let (place, ran) = ask(usage);
    let told = &ran.json()["usage"];
    let figures = ["prompt_tokens", "completion_tokens", "calls_without_tokens"].map(|key| told[key].clone());
    assert_eq!(figures, [json!(prompt), json!(completion), json!(0)], "{usage}: {told}");
    assert!(ran.err.contains(&format!("{total} tokens")), "{usage}: {}", ran.err);
    let log: Value = serde_json::from_str(&seen(&place, "--json")).unwrap();
    let log = &log["totals"]["completed"]["tokens"];
    let wanted = (&json!(prompt), &json!(completion), &json!(total));
    assert_eq!((&log["prompt"], &log["completion"], &log["total"]), wanted, "{usage}");
    let written = written(&place);
    let keys = ["prompt_tokens", "completion_tokens", "total_tokens"].map(|key| written[key].clone());
    assert_eq!((&keys[0], &keys[1], &keys[2]), wanted, "{usage}");
    let recorded = recorded(&place);
    assert_eq!(
        (&recorded["prompt"], &recorded["completion"], &recorded["total"]),
        wanted,
        "{usage}: {recorded}"
    );
}

#[test]
fn tokens_that_make_no_sense_are_unknown_everywhere() {
    for usage in [
        r#"{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cost": 0.001}"#,
        r#"{"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12, "cost": 0.001}"#,
        r#"{"prompt_tokens": 100, "completion_tokens": 10.5, "total_tokens": 110.5, "cost": 0.001}"#,
        r#"{"prompt_tokens": 1000000000000000000000000000000, "completion_tokens": 10, "total_tokens": 110, "cost": 0.001}"#,
        r#"{"total_tokens": 110, "cost": 0.001}"#,
        r#"{"prompt_tokens": [100], "completion_tokens": 10, "cost": 0.001}"#,
    ] {
        is_unknown(usage);
    }
}

#[test]
fn a_total_that_contradicts_its_parts_is_their_sum_everywhere() {
    is_known(
        r#"{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 7, "cost": 0.001}"#,
        100,
        10,
        110,
    );
    is_known(
        r#"{"prompt_tokens": "100", "completion_tokens": 10.0, "total_tokens": "x", "cost": 0.001}"#,
        100,
        10,
        110,
    );
}

#[test]
fn an_agent_that_ran_and_failed_used_nobody_knows_what() {
    let declared = r#"{"mine": {"command": "mine", "output": "json", "reply": "/text",
        "usage": {"prompt": "/in", "completion": "/out", "cost": "/usd"}}}"#;
    for script in [
        "cat > /dev/null\necho '{\"text\": \"x\", \"in\": 1, \"out\": 1, \"usd\": 0.001}'\necho stray",
        "cat > /dev/null",
        "cat > /dev/null\nkill -9 $$",
    ] {
        let place = Place::new();
        place.agent("mine", script);
        let path = format!("{}:/usr/bin:/bin", place.path().join("bin").display());
        let ran = Program::asks(place.path(), "hello")
            .option("--primary-agent", "cli:mine?model=m")
            .option("--cli-agents", declared)
            .env("FAST_RLM_API_MAX_RETRIES", "0")
            .env("PATH", path)
            .arg("--json")
            .run();
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let told = &ran.json()["usage"];
        let unknown = (&told["calls_without_tokens"], &told["calls_without_cost"]);
        assert_eq!(unknown, (&json!(1), &json!(1)), "{script}: {told}");
    }
    let place = Place::new();
    let ran = Program::asks(place.path(), "hello")
        .option("--primary-agent", "cli:mine?model=m")
        .option("--cli-agents", declared)
        .arg("--json")
        .run();
    let told = &ran.json()["usage"];
    assert_eq!(
        told["calls_without_cost"],
        json!(0),
        "one that is not installed costs nothing: {told}"
    );
}
