//! Anthropic's API: what is asked, what its events come to, and what becomes of its failures.

use crate::server::{Act, RawServer, data, events, head, send};
use crate::{KEY, Outcome, outcome_of, request};
use fast_rlm::provider::{Anthropic, ApiKey, ErrorKind, Finish, Pacing, Request, Settings};
use serde_json::{Value, json};
use std::time::Duration;

fn settings(base_url: &str) -> Settings {
    Settings {
        anthropic_base_url: base_url.to_owned(),
        anthropic_key: Some(ApiKey::new("ANTHROPIC_API_KEY", KEY)),
        pacing: Pacing {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(2),
        },
        ..Settings::default()
    }
}

async fn call(server: &RawServer) -> Outcome {
    let request = Request {
        model: "anthropic/claude-sonnet-4.5".to_owned(),
        ..request()
    };
    let provider = Anthropic::new(&settings(&server.base_url)).unwrap();
    outcome_of(&provider, &request).await
}

fn event(value: &Value) -> Act {
    let kind = value["type"].as_str().unwrap();
    send(format!("event: {kind}\ndata: {value}\n\n"))
}

fn begun() -> Vec<Act> {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 2000, "output_tokens": 1});
    let message = json!({"id": "msg_1", "model": "claude-sonnet-4-5-20250929", "content": [], "usage": usage});
    vec![
        events(),
        event(&json!({"type": "message_start", "message": message})),
        event(&json!({"type": "ping"})),
    ]
}

fn said(index: u32, delta: &Value) -> Act {
    event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn ended() -> Vec<Act> {
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    vec![
        event(&json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 100}})),
        event(&json!({"type": "message_stop"})),
    ]
}

fn whole_stream() -> Vec<Act> {
    let mut acts = begun();
    acts.extend([
        event(
            &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        ),
        said(0, &json!({"type": "thinking_delta", "thinking": "Let me "})),
        said(0, &json!({"type": "thinking_delta", "thinking": "see."})),
        said(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
        event(&json!({"type": "content_block_stop", "index": 0})),
        event(&json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}})),
        said(1, &json!({"type": "text_delta", "text": "héllo "})),
        event(&json!({"type": "something_new", "index": 1, "payload": [1]})),
        said(1, &json!({"type": "text_delta", "text": "👍"})),
        event(&json!({"type": "content_block_stop", "index": 1})),
    ]);
    acts.extend(ended());
    acts
}

#[tokio::test]
async fn a_stream_becomes_text_thinking_usage_and_cost() {
    let server = RawServer::start(vec![whole_stream()]).await;
    let outcome = call(&server).await;
    let reply = outcome.reply();
    assert_eq!((&*outcome.text, &*outcome.reasoning), ("héllo 👍", "Let me see."));
    assert_eq!((&reply.finish, reply.id.as_deref()), (&Finish::Stop, Some("msg_1")));
    assert_eq!(reply.served_by.as_deref(), Some("claude-sonnet-4-5-20250929"));
    let usage = reply.usage;
    assert_eq!(
        (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens),
        (3010, 2000, 100)
    );
    // 10 × $3 + 1000 × $3.75 + 2000 × $0.30 + 100 × $15, for a million each.
    assert_eq!(usage.cost_nano, Some(30_000 + 3_750_000 + 600_000 + 1_500_000));
}

#[tokio::test]
async fn the_request_is_one_of_this_api() {
    let server = RawServer::start(vec![whole_stream()]).await;
    call(&server).await.reply();
    let sent = server.requests().remove(0);
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["model"], &body["stream"]),
        (&json!("claude-sonnet-4-5"), &json!(true))
    );
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(
        body["messages"][0]["content"][0]["cache_control"],
        json!({"type": "ephemeral"})
    );
}

/// A stream whose counts are these, first and last.
fn counted(first: &Value, last: &Value) -> Vec<Act> {
    let message = json!({"id": "msg_1", "content": [], "usage": first});
    vec![
        events(),
        event(&json!({"type": "message_start", "message": message})),
        said(0, &json!({"type": "text_delta", "text": "kept"})),
        event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last})),
        event(&json!({"type": "message_stop"})),
    ]
}

#[tokio::test]
async fn an_odd_count_makes_tokens_unknown_and_loses_no_reply() {
    let (first, last) = (
        json!({"input_tokens": 100, "output_tokens": 1}),
        json!({"output_tokens": 10}),
    );
    for (first, last) in [
        (&first, &json!({"output_tokens": -10})),
        (&first, &json!({"output_tokens": 1.5})),
        (&json!({"input_tokens": [100], "output_tokens": 1}), &last),
        (&json!({"input_tokens": 100, "cache_read_input_tokens": -1}), &last),
        (&json!({"output_tokens": 1}), &last),
        (&json!("none"), &json!([])),
    ] {
        let server = RawServer::start(vec![counted(first, last)]).await;
        let outcome = call(&server).await;
        let reply = outcome.reply();
        assert_eq!((&*reply.text, reply.attempts), ("kept", 1), "{first} {last}");
        assert_eq!(
            (reply.usage.reported, reply.usage.cost_nano),
            (false, None),
            "{first} {last}"
        );
        assert_eq!(reply.usage.total_tokens, 0, "{first} {last}");
    }
    let server = RawServer::start(vec![counted(
        &json!({"input_tokens": "100", "output_tokens": 1.0}),
        &last,
    )])
    .await;
    let usage = call(&server).await.reply().usage;
    assert_eq!(
        (usage.prompt_tokens, usage.completion_tokens, usage.reported),
        (100, 10, true)
    );
}

#[tokio::test]
async fn a_whole_message_is_a_reply_too() {
    let content = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"}]);
    let message = json!({"type": "message", "id": "m", "content": content, "stop_reason": "max_tokens", "usage": {"input_tokens": 3, "output_tokens": 2}});
    let server = RawServer::start(vec![vec![head("application/json"), send(message.to_string())]]).await;
    let outcome = call(&server).await;
    assert_eq!((&*outcome.text, &*outcome.reasoning), ("ok", "hm"));
    assert_eq!(outcome.reply().finish, Finish::Length);
    assert_eq!(outcome.reply().usage.total_tokens, 5);
}

#[tokio::test]
async fn what_fails_before_the_first_word_is_tried_again() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let busy = format!(
        "HTTP/1.1 529 \r\ncontent-length: {}\r\n\r\n{overloaded}",
        overloaded.to_string().len()
    );
    let broken = begun();
    let failing = [
        vec![send(busy)],
        vec![events(), event(&overloaded)],
        broken,
        vec![head("application/json"), send(overloaded.to_string())],
    ];
    for script in failing {
        let server = RawServer::start(vec![script, whole_stream()]).await;
        let outcome = call(&server).await;
        assert_eq!((&*outcome.text, outcome.reply().attempts), ("héllo 👍", 2));
    }
}

#[tokio::test]
async fn what_breaks_off_after_the_first_word_keeps_what_it_said_and_nobody_knows_what_it_used() {
    let mut acts = begun();
    acts.push(said(0, &json!({"type": "text_delta", "text": "half"})));
    let server = RawServer::start(vec![acts, whole_stream()]).await;
    let outcome = call(&server).await;
    let error = outcome.error();
    assert!(matches!(*error.kind, ErrorKind::Broken { .. }), "{error}");
    assert_eq!((error.attempts, &*outcome.text), (1, "half"));
    // The output that it began with is not what it came to.
    let used = error.partial.usage.unwrap();
    assert_eq!((used.reported, used.completion_tokens), (false, 0));
}

#[tokio::test]
async fn a_refused_key_names_its_variable_and_a_wrong_place_its_own() {
    let body = json!({"type": "error", "error": {"type": "authentication_error", "message": format!("invalid x-api-key {KEY}")}}).to_string();
    let refused = format!("HTTP/1.1 401 no\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let server = RawServer::start(vec![vec![send(refused)]]).await;
    let told = call(&server).await.error().to_string();
    assert!(told.contains("401") && told.contains("ANTHROPIC_API_KEY"), "{told}");

    let server = RawServer::start(vec![vec![head("text/html"), send("<html>")]]).await;
    let told = call(&server).await.error().to_string();
    assert!(told.contains("ANTHROPIC_BASE_URL"), "{told}");
}

#[tokio::test]
async fn odd_events_are_errors_and_no_panics() {
    for odd in [
        "[1]",
        "7",
        "{\"type\": 7}",
        "{\"type\": \"message_start\", \"message\": []}",
    ] {
        let script = || vec![events(), data(odd)];
        let server = RawServer::start(vec![script(), script(), script(), script()]).await;
        let outcome = call(&server).await;
        assert!(matches!(*outcome.error().kind, ErrorKind::Broken { .. }), "{odd}");
    }
    let silent = || vec![events(), event(&json!({"type": "message_stop"}))];
    let server = RawServer::start(vec![silent(), silent(), silent(), silent()]).await;
    assert!(matches!(*call(&server).await.error().kind, ErrorKind::Empty { .. }));
}
