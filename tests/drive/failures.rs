//! Model servers that misbehave: the run ends with a clear error, the session stays usable, the terminal, too.

use crate::desk::{Desk, ask, quit};
use crate::server::{Act, RawServer, data, events, send, stop, text};
use serde_json::json;
use std::time::Duration;

const OVERLOADED: &[u8] = b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 43\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"no such key was found\"}}";

fn reply(code: &str) -> Vec<Act> {
    let code = format!("```repl\n{code}\n```");
    vec![events(), text(&code), stop(), data("[DONE]")]
}

fn with_server(scripts: Vec<Vec<Act>>, body: impl FnOnce(&Desk, crate::pty::Pty)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(RawServer::start(scripts));
    let desk = Desk::new();
    let pty = desk.open(
        &["--primary-agent", "some/model"],
        &[("RLM_MODEL_BASE_URL", &server.base_url)],
    );
    body(&desk, pty);
}

#[test]
fn a_refused_key_is_said_and_the_next_question_works() {
    with_server(
        vec![vec![send(OVERLOADED)], reply("FINAL('now it works')")],
        |desk, mut pty| {
            ask(&mut pty, "first try");
            pty.wait_for("failed:");
            assert_eq!(desk.last_outcome(), json!("error"));
            pty.send("\x1b");
            pty.wait_for("a ask");
            ask(&mut pty, "second try");
            pty.wait_for("now it works");
            pty.wait_for("Q2");
            quit(pty);
        },
    );
}

#[test]
fn a_silent_server_is_cancelled_at_once() {
    let silent = vec![events(), text("I am about to say"), Act::Hang];
    with_server(vec![silent], |desk, mut pty| {
        ask(&mut pty, "hello?");
        pty.wait_for("I am about to say");
        pty.send("\x03");
        pty.wait_for("cancelled:");
        assert_eq!(desk.last_outcome(), json!("cancelled"));
        quit(pty);
    });
}

#[test]
fn a_stream_that_breaks_off_is_an_error_and_hides_nothing() {
    let broken = || {
        vec![
            events(),
            text("half a sen"),
            Act::Pause(Duration::from_millis(50)),
            Act::Reset,
        ]
    };
    with_server(
        vec![broken(), broken(), broken(), broken(), broken()],
        |desk, mut pty| {
            ask(&mut pty, "hello?");
            pty.wait_for("failed:");
            assert_eq!(desk.last_outcome(), json!("error"));
            quit(pty);
        },
    );
}
