//! Error statuses, errors in good answers, answers of things that are no model API, redirects, and who can be reached.

use crate::answers::{Answer, Answers};
use crate::{KEY, call, request, request_with, settings};
use fast_rlm::provider::{CostSource, ErrorKind, Limits, Message, Request};
use serde_json::{Value, json};
use std::time::Duration;

fn reply(text: &str) -> Answer {
    Answer::new(200).json(&json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
}

/// A server that gives `first` once and then a reply that says `ok`.
async fn once_then_ok(first: Answer) -> Answers {
    Answers::start(move |before, _| if before == 0 { first.clone() } else { reply("ok") }).await
}

#[tokio::test]
async fn the_request_is_what_the_api_documents() {
    let server = Answers::always(reply("hi")).await;
    let limits = Limits {
        max_completion_tokens: Some(77),
        ..Limits::default()
    };
    for base in ["/v1", "/v1/", "/v1/chat/completions"] {
        let outcome = call(&format!("{}{base}", server.uri()), &request_with(limits.clone())).await;
        assert_eq!(outcome.reply().text, "hi");
    }
    let documented = json!({
        "model": "test/model",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Say héllo 👍"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 77,
    });
    let received = server.received();
    assert_eq!(received.len(), 3);
    for request in received {
        assert_eq!(request.asks(), "POST /v1/chat/completions");
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(serde_json::from_str::<Value>(&request.body).unwrap(), documented);
    }
}

#[tokio::test]
async fn busy_and_broken_servers_are_asked_again() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let server = once_then_ok(Answer::new(status).text("wait")).await;
        let outcome = call(server.uri(), &request()).await;
        assert_eq!(
            (outcome.reply().text.as_str(), outcome.reply().attempts),
            ("ok", 2),
            "{status}"
        );
    }
}

#[tokio::test]
async fn our_own_mistakes_are_not_repeated() {
    for (status, hint) in [
        (400, "no such thing"),
        (402, "credit"),
        (404, "RLM_MODEL_BASE_URL"),
        (413, ""),
        (422, ""),
    ] {
        let server = Answers::always(Answer::new(status).json(&json!({"error": {"message": "no such thing"}}))).await;
        let outcome = call(server.uri(), &request()).await;
        let message = outcome.error().to_string();
        assert!(
            message.contains(&format!("answered {status}: no such thing")) && message.contains(hint),
            "{message}"
        );
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn retries_end_and_the_error_counts_them() {
    let server = Answers::always(Answer::new(500).text("<html>oops</html>")).await;
    let outcome = call(
        server.uri(),
        &request_with(Limits {
            max_retries: 2,
            ..Limits::default()
        }),
    )
    .await;
    assert_eq!(server.received().len(), 3);
    let host = server.uri().replace("http://", "");
    assert_eq!(
        outcome.error().to_string(),
        format!("{host} answered 500 (its own trouble: try again later, or take another model) (after 3 attempts)")
    );
}

#[tokio::test]
async fn retry_after_is_honoured_as_seconds_and_as_a_date() {
    let server = once_then_ok(Answer::new(429).header("retry-after", "0.05")).await;
    let outcome = call(server.uri(), &request()).await;
    assert!(outcome.reply().timings.waited >= Duration::from_millis(50));

    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    let server = once_then_ok(Answer::new(503).header("retry-after", past)).await;
    assert_eq!(call(server.uri(), &request()).await.reply().attempts, 2);

    // Waiting past the time limit could not help: the server's answer is told at once.
    let future = "Fri, 31 Dec 2100 23:59:59 GMT";
    let server = Answers::always(Answer::new(429).header("retry-after", future)).await;
    let outcome = call(server.uri(), &request()).await;
    assert!(matches!(
        *outcome.error().kind,
        ErrorKind::Status {
            status: 429,
            retry_after: Some(_),
            ..
        }
    ));
    assert_eq!(outcome.error().attempts, 1);
    let server = Answers::always(Answer::new(429).header("retry-after", "3600")).await;
    let told = call(server.uri(), &request()).await.error().to_string();
    assert!(
        told.contains("it asks to wait 1h 00m, longer than the call may take"),
        "{told}"
    );
}

#[tokio::test]
async fn an_error_in_a_good_answer_is_an_error() {
    let busy = json!({"error": {"code": 429, "message": "slow down"}});
    let server = once_then_ok(Answer::new(200).json(&busy)).await;
    assert_eq!(call(server.uri(), &request()).await.reply().attempts, 2);

    for body in [
        json!({"error": {"code": 400, "message": "bad model"}}),
        json!([{"error": {"code": 400, "message": "bad model"}}]),
        json!({"object": "error", "code": 400, "message": "bad model"}),
    ] {
        let server = Answers::always(Answer::new(200).json(&body)).await;
        let outcome = call(server.uri(), &request()).await;
        assert!(
            outcome.error().to_string().contains("reported an error 400: bad model"),
            "{body}: {}",
            outcome.error()
        );
        assert_eq!(outcome.error().attempts, 1);
    }

    let server = Answers::always(Answer::new(200).json(&json!({"choices": []}))).await;
    let outcome = call(server.uri(), &request()).await;
    assert!(matches!(*outcome.error().kind, ErrorKind::Empty { .. }));
    assert_eq!(outcome.error().attempts, 4);
}

#[tokio::test]
async fn a_web_page_is_no_model() {
    let page = Answer::new(200)
        .header("content-type", "text/html; charset=utf-8")
        .text("<!DOCTYPE html><p>Log in");
    let server = Answers::always(page).await;
    let outcome = call(server.uri(), &request()).await;
    let message = outcome.error().to_string();
    assert!(
        message.contains("text/html") && message.contains("RLM_MODEL_BASE_URL"),
        "{message}"
    );
    assert_eq!(outcome.error().attempts, 1);
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    let other = Answers::always(reply("stolen")).await;
    for status in [301, 302, 303, 307, 308] {
        let server = Answers::always(Answer::new(status).header("location", format!("{}/v1", other.uri()))).await;
        let outcome = call(server.uri(), &request()).await;
        let ErrorKind::Redirected { target, .. } = &*outcome.error().kind else {
            panic!("{status}: {}", outcome.error());
        };
        // The port is the whole difference.
        assert_eq!(format!("http://{target}"), other.uri(), "{status}");
    }
    assert_eq!(other.received().len(), 0);

    let server = Answers::start(|_, request| match request.asks() {
        "POST /chat/completions" => Answer::new(307).header("location", "/moved"),
        "POST /moved" => reply("here"),
        _ => Answer::new(404),
    })
    .await;
    assert_eq!(call(server.uri(), &request()).await.reply().text, "here");

    let endless = Answers::always(Answer::new(307).header("location", "/again")).await;
    let outcome = call(endless.uri(), &request()).await;
    assert!(
        matches!(*outcome.error().kind, ErrorKind::Redirected { .. }),
        "{}",
        outcome.error()
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let outcome = call(&format!("http://127.0.0.1:{port}/v1"), &request()).await;
    let message = outcome.error().to_string();
    assert!(
        message.starts_with(&format!("cannot reach 127.0.0.1:{port}: ")) && message.contains("(after 4 attempts)"),
        "{message}"
    );
}

#[tokio::test]
async fn a_giant_error_is_cut() {
    let server = Answers::always(Answer::new(400).text("x".repeat(3 << 20))).await;
    let message = call(server.uri(), &request()).await.error().to_string();
    assert!(message.len() < 600, "{}", message.len());
}

#[tokio::test]
async fn costs_come_from_the_price_table_when_the_server_states_none() {
    let usage =
        json!({"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 200}});
    let body = json!({"choices": [{"message": {"content": "x"}}], "usage": usage});
    let server = Answers::always(Answer::new(200).json(&body)).await;
    let cost = async |model: &str| {
        let outcome = call(server.uri(), &Request::new(model, vec![Message::user("x")])).await;
        (outcome.reply().usage.cost_nano, outcome.reply().usage.cost_source)
    };
    // 800 × 150 + 200 × 75 + 100 × 600 nano-dollars.
    assert_eq!(cost("openai/gpt-4o-mini").await, (Some(195_000), CostSource::Table));
    assert_eq!(cost("nobody/knows").await, (None, CostSource::Unknown));
}

#[tokio::test]
async fn a_server_of_ones_own_needs_no_key() {
    let server = Answers::always(reply("hi")).await;
    let mut settings = settings(server.uri());
    settings.api_key = None;
    let provider = fast_rlm::provider::open("llama3:8b", &settings).unwrap();
    let cancel = fast_rlm::provider::Cancel::new();
    let reply = provider
        .call(&request(), &mut fast_rlm::provider::Discard, &cancel)
        .await
        .unwrap();
    assert_eq!(reply.text, "hi");
    assert_eq!(server.received()[0].header("authorization"), None);
}
