//! What can be wrong with a stream.

use crate::server::{Act, RawServer, data, events, head, ok, send, stop, text};
use crate::{call, call_on, request, request_with, settings};
use fast_rlm::provider::{CostSource, ErrorKind, Finish, Limits, OpenAi};
use std::time::Duration;

/// A good stream with everything that may be in one.
const STREAM: &str = concat!(
    ": OPENROUTER PROCESSING\r\n\r\n",
    "data: {\"id\": \"gen-1\", \"model\": \"served\", \"choices\": [{\"delta\": {\"role\": \"assistant\", \"content\": \"\"}}]}\r\n\r\n",
    "data: {\"choices\": [{\"index\": 0, \"delta\": {\"reasoning\": \"hmm é\"}}]}\n\n",
    "data: {\"choices\": [{\"index\": 0, \"delta\": {\"reasoning_content\": \"…\"}}]}\n\n",
    "event: message\nid: 3\ndata: {\"choices\": [{\"index\": 0,\ndata: \"delta\": {\"content\": \"héllo\"}}]}\n\n",
    "data: {\"choices\": [{\"index\": 1, \"delta\": {\"content\": \"not this choice\"}}]}\n\n",
    "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \" 👍\"}, \"finish_reason\": null}]}\r\r",
    "data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n",
    "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": 4, \"total_tokens\": 13, \"cost\": 0.0000378,",
    " \"prompt_tokens_details\": {\"cached_tokens\": 5}, \"completion_tokens_details\": {\"reasoning_tokens\": 2}}}\n\n",
    "data: [DONE]\n\n",
);

fn once() -> Limits {
    Limits {
        max_retries: 0,
        ..Limits::default()
    }
}

fn chunked(stream: &str, size: usize) -> Vec<u8> {
    let mut body = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for piece in stream.as_bytes().chunks(size) {
        body.extend(format!("{:x}\r\n", piece.len()).bytes());
        body.extend(piece);
        body.extend(b"\r\n");
    }
    body.extend(b"0\r\n\r\n");
    body
}

#[tokio::test]
async fn a_good_stream_gives_everything_also_byte_by_byte() {
    let server = RawServer::start(vec![vec![events(), send(STREAM)], vec![send(chunked(STREAM, 1))]]).await;
    for _ in 0..2 {
        let outcome = call(&server.base_url, &request()).await;
        let reply = outcome.reply();
        assert_eq!(
            (outcome.text.as_str(), outcome.reasoning.as_str()),
            ("héllo 👍", "hmm é…")
        );
        assert_eq!((&reply.finish, reply.attempts), (&Finish::Stop, 1));
        assert_eq!(
            (reply.id.as_deref(), reply.served_by.as_deref()),
            (Some("gen-1"), Some("served"))
        );
        let usage = reply.usage;
        assert_eq!(
            (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens),
            (9, 4, 13)
        );
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (5, 2));
        assert_eq!(
            (usage.cost_nano, usage.cost_source),
            (Some(37_800), CostSource::Provider)
        );
        assert_eq!(reply.request_hash, request().hash());
        assert!(reply.timings.first_delta.unwrap() <= reply.timings.total && reply.timings.started_unix_ms > 0);
    }
}

/// Wherever the connection ends: either the whole text, or an error that says so. Never a part of it as if it were all.
/// `stopped_at` is the byte where the stream says that the model stopped.
async fn end_after_every_byte(bytes: &[u8], before: &[Act], stopped_at: usize) {
    let scripts = (0..=bytes.len())
        .map(|cut| [before, &[send(&bytes[..cut])]].concat())
        .collect();
    let server = RawServer::start(scripts).await;
    let provider = OpenAi::new(&settings(&server.base_url)).unwrap();
    let whole = "héllo 👍";
    for cut in 0..=bytes.len() {
        let outcome = call_on(&provider, &request_with(once())).await;
        match &outcome.result {
            Ok(reply) => assert!(reply.text == whole && cut > stopped_at, "cut at {cut}: {reply:?}"),
            Err(error) => {
                let broken = matches!(*error.kind, ErrorKind::Broken { .. } | ErrorKind::Transport { .. });
                assert!(
                    broken && whole.starts_with(&error.partial.text),
                    "cut at {cut}: {error:?}"
                );
                assert!(cut <= stopped_at + 60, "cut at {cut}: {error:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_after_any_byte_is_whole_or_an_error() {
    let stopped_at = STREAM.find("\"stop\"").unwrap();
    end_after_every_byte(STREAM.as_bytes(), &[events()], stopped_at).await;
}

#[tokio::test]
async fn a_chunked_stream_that_ends_after_any_byte_is_whole_or_an_error() {
    let at = STREAM.find("\"stop\"").unwrap();
    let (head, chunk) = (
        chunked("", 16).len() - b"0\r\n\r\n".len(),
        b"10\r\n0123456789abcdef\r\n".len(),
    );
    end_after_every_byte(&chunked(STREAM, 16), &[], head + at / 16 * chunk).await;
}

#[tokio::test]
async fn a_reply_without_an_end_mark_is_complete_when_the_model_stopped() {
    let server = RawServer::start(vec![
        vec![events(), text("all"), stop()],
        vec![events(), text("all"), stop(), Act::Reset],
        vec![events(), text("all"), data("[DONE]")],
    ])
    .await;
    for finish in [Finish::Stop, Finish::Stop, Finish::Unstated] {
        let outcome = call(&server.base_url, &request_with(once())).await;
        assert_eq!(
            (outcome.reply().text.as_str(), &outcome.reply().finish),
            ("all", &finish)
        );
        assert!(!outcome.reply().usage.reported && outcome.reply().usage.cost_nano.is_none());
    }
}

#[tokio::test]
async fn what_breaks_before_any_output_is_tried_again() {
    let broken: Vec<Vec<Act>> = vec![
        vec![],
        vec![Act::Reset],
        vec![send("SSH-2.0-OpenSSH_9.9\r\n")],
        vec![events()],
        vec![events(), Act::Reset],
        vec![events(), send("data: {\"choices\": [\n\n")],
        vec![events(), send("data: hello\n\n")],
        vec![events(), data("[1, 2]")],
        vec![events(), data("[DONE]")],
        vec![
            events(),
            send(b"data: {\"choices\": [{\"delta\": {\"content\": \"\xff\"}}]}\n\n"),
        ],
        vec![
            events(),
            data(
                r#"{"error": {"code": 502, "message": "upstream"}, "choices": [{"delta": {}, "finish_reason": "error"}]}"#,
            ),
        ],
        vec![
            events(),
            data(r#"{"error": {"type": "overloaded_error", "message": "busy"}}"#),
        ],
        vec![events(), data(r#"{"object": "error", "message": "engine died"}"#)],
        vec![
            events(),
            data(r#"{"choices": [{"delta": {}, "finish_reason": "error"}]}"#),
        ],
        vec![head("application/json"), send("{\"choices\": []}")],
        vec![
            head("application/json"),
            send("{\"choices\": [{\"message\": {\"content\": \"half"),
        ],
        vec![send("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [")],
    ];
    let scripts = broken.into_iter().flat_map(|script| [script, ok()]).collect::<Vec<_>>();
    let count = scripts.len() / 2;
    let server = RawServer::start(scripts).await;
    for number in 0..count {
        let outcome = call(&server.base_url, &request()).await;
        assert_eq!(
            (outcome.reply().text.as_str(), outcome.reply().attempts),
            ("ok", 2),
            "script {number}"
        );
    }
}

#[tokio::test]
async fn what_breaks_after_output_is_an_error_with_what_was_said() {
    let server = RawServer::start(vec![
        vec![
            events(),
            text("half"),
            data(r#"{"error": {"code": 502, "message": "upstream died"}}"#),
        ],
        vec![events(), text("half"), send("data: {{{\n\n")],
        vec![events(), text("half"), send("data: \u{0}\n\n"), Act::Reset],
        vec![events(), text("half"), Act::Reset],
    ])
    .await;
    for expected in [
        "reported an error 502: upstream died",
        "not as expected",
        "not as expected",
        "broke off",
    ] {
        let outcome = call(&server.base_url, &request()).await;
        let error = outcome.error();
        assert_eq!((error.partial.text.as_str(), error.attempts), ("half", 1));
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn silence_is_noticed_wherever_it_begins() {
    let drip = vec![vec![send("data: {"), Act::Pause(Duration::from_millis(30))]; 20].concat();
    let server = RawServer::start(vec![
        vec![events(), text("one"), Act::Hang],
        [vec![events()], drip, vec![Act::Hang]].concat(),
        ok(),
        vec![Act::Hang],
    ])
    .await;
    let idle = Limits {
        idle_timeout: Duration::from_millis(100),
        ..Limits::default()
    };

    let after_output = call(&server.base_url, &request_with(idle.clone())).await;
    assert!(
        matches!(*after_output.error().kind, ErrorKind::Silent { .. }),
        "{:?}",
        after_output.error()
    );
    assert_eq!(after_output.error().partial.text, "one");

    // Bytes that never become a line are no sign of life; nothing was said, so it is tried again.
    let before_output = call(&server.base_url, &request_with(idle)).await;
    assert_eq!(before_output.reply().attempts, 2);

    let brief = Limits {
        timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let no_answer = call(&server.base_url, &request_with(brief)).await;
    assert_eq!(
        no_answer.error().to_string(),
        "no complete reply within 0.1 s; a slow model needs a larger api_timeout_ms"
    );
}

#[tokio::test]
async fn a_reply_without_end_is_stopped_at_the_limit() {
    let event = "data: {\"choices\": [{\"delta\": {\"content\": \"0123456789\"}}]}\n\n";
    let server = RawServer::start(vec![
        vec![events(), Act::Flood(event.into())],
        vec![events(), Act::Flood(b"data: 0123456789".to_vec())],
        vec![events(), Act::Flood(b"data: 0123456789\n".to_vec())],
        vec![events(), Act::Flood(b": waiting\n\n".to_vec())],
        vec![
            head("application/json"),
            Act::Flood(b"{\"a\": [0, 1, 2, 3]}, ".to_vec()),
        ],
    ])
    .await;
    for number in 0..5 {
        let outcome = call(
            &server.base_url,
            &request_with(Limits {
                max_reply_bytes: 1000,
                ..Limits::default()
            }),
        )
        .await;
        assert!(
            matches!(*outcome.error().kind, ErrorKind::TooLarge { .. }),
            "script {number}: {:?}",
            outcome.error()
        );
        assert!(outcome.text.len() <= 1000);
    }
}

#[tokio::test]
async fn the_body_says_what_it_is_whatever_the_header_says() {
    let json = r#"{"id": "x", "choices": [{"message": {"content": "hi", "reasoning": "r"}, "finish_reason": "length"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#;
    let server = RawServer::start(vec![
        vec![head("application/json"), send(json)],
        vec![head("text/event-stream"), send(format!(" \n{json}\n"))],
        vec![head("text/plain"), data(json)],
        vec![send(format!("HTTP/1.1 200 OK\r\n\r\n{json}"))],
    ])
    .await;
    for number in 0..4 {
        let outcome = call(&server.base_url, &request_with(once())).await;
        let reply = outcome.reply();
        assert_eq!(
            (reply.text.as_str(), reply.reasoning.as_str()),
            ("hi", "r"),
            "script {number}"
        );
        assert_eq!((&reply.finish, reply.usage.prompt_tokens), (&Finish::Length, 3));
    }
}

#[tokio::test]
async fn half_characters_and_repeated_keys_fail_no_call() {
    let odd = concat!(
        r#"data: {"choices": [{"delta": {"content": "a \ud83d"}}], "id": "1", "id": "2"}"#,
        "\n\n",
        r#"data: {"choices": [{"delta": {"content": "\ude00 b \ud83d\ude00"}, "finish_reason": "stop"}]}"#,
        "\n\n",
        r#"data: {"choices": [], "usage": {"prompt_tokens": 1, "prompt_tokens": 9, "completion_tokens": 1, "cost": 7, "cost": 0.0000378}}"#,
        "\n\ndata: [DONE]\n\n",
    );
    let server = RawServer::start(vec![vec![events(), send(odd)]]).await;
    let outcome = call(&server.base_url, &request()).await;
    assert_eq!(outcome.text, "a \u{fffd}\u{fffd} b 😀");
    let reply = outcome.reply();
    assert_eq!(reply.id.as_deref(), Some("2"));
    assert_eq!((reply.usage.prompt_tokens, reply.usage.cost_nano), (9, Some(37_800)));
}

/// Usage, and then the connection ends without a reply.
fn billed_for_nothing() -> Vec<Act> {
    let usage =
        r#"{"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.001}}"#;
    vec![events(), data(usage)]
}

#[tokio::test]
async fn attempts_that_were_billed_and_gave_nothing_are_counted() {
    let mut last = billed_for_nothing();
    last.extend([text("ok"), stop(), data("[DONE]")]);
    let server = RawServer::start(vec![billed_for_nothing(), billed_for_nothing(), last]).await;
    let outcome = call(&server.base_url, &request()).await;
    let usage = outcome.reply().usage;
    assert_eq!(outcome.reply().attempts, 3);
    assert_eq!(
        (usage.prompt_tokens, usage.completion_tokens, usage.cost_nano),
        (30, 15, Some(3_000_000))
    );

    let server = RawServer::start(vec![billed_for_nothing(), billed_for_nothing()]).await;
    let limits = Limits {
        max_retries: 1,
        ..Limits::default()
    };
    let outcome = call(&server.base_url, &request_with(limits)).await;
    let used = outcome.error().used().unwrap();
    assert_eq!((used.total_tokens, used.cost_nano), (30, Some(2_000_000)));
}

#[tokio::test]
async fn a_model_that_is_given_up_while_it_works_has_an_unknown_cost() {
    let server = RawServer::start(vec![vec![events(), send(": still thinking\n\n"), Act::Hang]]).await;
    let limits = Limits {
        timeout: Duration::from_millis(300),
        ..once()
    };
    let outcome = call(&server.base_url, &request_with(limits)).await;
    assert!(
        matches!(*outcome.error().kind, ErrorKind::TimedOut { .. }),
        "{:?}",
        outcome.error()
    );
    let used = outcome.error().used().unwrap();
    assert_eq!((used.reported, used.cost_nano), (false, None));
}
