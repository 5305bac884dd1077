//! The list of models that each backend offers.

use super::Place;
use crate::running::Program;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;

/// A server that answers every request with this.
fn serving(status: &'static str, body: Value) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let count = stream.read(&mut [0; 65_536]).unwrap();
            assert!(count > 0);
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn models_lists_what_each_backend_offers() {
    let place = Place::new();
    place.agent("codex", "");
    let list = json!({"object": "list", "data": [{"id": "b/two"}, {"id": "a/one", "pricing": {}}]});
    let models = |openai: String, anthropic: String| {
        Program::new(place.path())
            .arg("models")
            .env("PATH", place.path().join("bin"))
            .env("RLM_MODEL_BASE_URL", openai + "/v1")
            .env("ANTHROPIC_BASE_URL", anthropic)
            .env("ANTHROPIC_API_KEY", "sk-ant-something")
    };
    let claude = json!({"data": [{"type": "model", "id": "claude-x"}], "has_more": false});
    let ran = models(serving("200 OK", list), serving("200 OK", claude)).run();
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "a/one\nb/two\nclaude-x\ncli:codex?model=MODEL\n"),
        "{ran:?}"
    );

    let refused = json!({"error": {"message": "who are you?"}});
    let broken = || serving("401 Unauthorized", refused.clone());
    let ran = models(broken(), serving("200 OK", json!([]))).arg("--json").run();
    assert_eq!(ran.code, Some(0), "an agent is there: {ran:?}");
    let offers = ran.json();
    assert!(
        offers[0]["error"].as_str().unwrap().contains("who are you?"),
        "{offers}"
    );
    assert!(
        offers[1]["error"].as_str().unwrap().contains("ANTHROPIC_BASE_URL"),
        "{offers}"
    );
    assert_eq!(offers[2]["models"], json!(["cli:codex?model=MODEL"]));
    Program::new(place.path())
        .arg("models")
        .env("PATH", "")
        .run()
        .refused(2, &["OPENROUTER_API_KEY"]);
}
