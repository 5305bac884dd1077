//! Ollama's OpenAI-compatible address, served as its documentation and its source have it: models with tags, thinking in
//! `reasoning`, usage in a last chunk without choices, an error for a model that was not pulled, and a full queue.

use super::Place;
use super::billed::read_request;
use crate::running::Program;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpListener;

const MODEL: &str = "qwen3:8b";

fn ollama() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut busy = true;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (asks, body) = read_request(&stream);
            let full = asks.starts_with("POST") && std::mem::take(&mut busy);
            let (status, kind, body) = if full {
                let told = json!({"error": "server busy, please try again.  maximum pending requests exceeded"});
                ("503 Service Unavailable", "application/json", told.to_string())
            } else {
                answer(&asks, &serde_json::from_slice(&body).unwrap_or_default())
            };
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

fn answer(asks: &str, body: &Value) -> (&'static str, &'static str, String) {
    let model = |id: &str| json!({"id": id, "object": "model", "created": 1_764_000_000, "owned_by": "library"});
    if asks.starts_with("GET /v1/models ") {
        let list = json!({"object": "list", "data": [model("llama3.2:latest"), model(MODEL)]});
        return ("200 OK", "application/json", list.to_string());
    }
    let asked = body["model"].as_str().unwrap_or_default();
    if asked != MODEL {
        let message = format!("model {asked:?} not found, try pulling it first");
        let error = json!({"error": {"message": message, "type": "not_found_error", "param": null, "code": null}});
        return ("404 Not Found", "application/json", error.to_string());
    }
    ("200 OK", "text/event-stream", reply())
}

/// A thought, code that ends the query, and what both used.
fn reply() -> String {
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": "chatcmpl-101", "object": "chat.completion.chunk", "created": 1_764_000_000, "model": MODEL,
            "system_fingerprint": "fp_ollama", "choices": choices,
        });
        if !usage.is_null() {
            chunk["usage"] = usage;
        }
        format!("data: {chunk}\n\n")
    };
    let says = |delta: Value, finish: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": finish}]),
            Value::Null,
        )
    };
    let mut text = says(
        json!({"role": "assistant", "content": "", "reasoning": "Six times seven."}),
        Value::Null,
    );
    for piece in ["```repl\nFINAL(", "6 * 7", ")\n```"] {
        text += &says(json!({"role": "assistant", "content": piece}), Value::Null);
    }
    text += &says(json!({"role": "assistant", "content": ""}), json!("stop"));
    text += &chunk(
        json!([]),
        json!({"prompt_tokens": 4812, "completion_tokens": 31, "total_tokens": 4843}),
    );
    text + "data: [DONE]\n\n"
}

fn asks(place: &Place, model: &str) -> Program {
    Program::asks(place.path(), "what is six times seven?")
        .option("--primary-agent", model)
        .env("RLM_MODEL_BASE_URL", ollama())
        .session(&place.session_dir())
        .arg("--json")
}

#[test]
fn its_models_are_listed() {
    let place = Place::new();
    let models = Program::new(place.path())
        .arg("models")
        .env("PATH", "")
        .env("RLM_MODEL_BASE_URL", ollama());
    let ran = models.run();
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "llama3.2:latest\nqwen3:8b\n"),
        "{ran:?}"
    );
}

#[test]
fn it_answers_a_query_without_a_key_and_after_a_full_queue() {
    let place = Place::new();
    let ran = asks(&place, MODEL).run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = ran.json();
    assert_eq!(told["final"], 42);
    let usage = &told["usage"];
    assert_eq!(
        (
            &usage["prompt_tokens"],
            &usage["completion_tokens"],
            &usage["calls_without_cost"]
        ),
        (&json!(4812), &json!(31), &json!(1)),
        "{usage}"
    );
    let logs = std::fs::read_dir(place.session_dir().join("logs")).unwrap();
    let text: String = logs
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(text.contains("\"reasoning\":\"Six times seven.\""), "{text}");
}

#[test]
fn a_model_that_was_not_pulled_is_told_in_its_words() {
    let place = Place::new();
    let ran = asks(&place, "mistral").run();
    assert_ne!(ran.code, Some(0));
    let told = "model \"mistral\" not found, try pulling it first";
    assert!(
        ran.err.contains(told) || ran.out.contains(&told.replace('"', "\\\"")),
        "{ran:?}"
    );
}
