//! What model servers answer, and what is said of it.

use super::{Book, Program, Ran};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers every connection with these bytes; with `silent`, keeps it open after them.
fn serve(bytes: Vec<u8>, silent: bool) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 65_536]);
            let _ = stream.write_all(&bytes);
            if silent {
                kept.push(stream);
            }
        }
    });
    url
}

fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn json(status: &str, body: &str) -> Vec<u8> {
    answer(status, "application/json", body)
}

/// A stream of events that is not closed by its end mark.
fn events(body: &[u8]) -> Vec<u8> {
    [
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        body,
    ]
    .concat()
}

fn asks(book: &Book, url: &str) -> Ran {
    let program = Program::asks(book.dir.path(), "go").option("--primary-agent", "some/model");
    let program = program.option("--config", "quick.yaml").option("--max-calls", "1");
    program
        .env("RLM_MODEL_BASE_URL", url)
        .env("RLM_MODEL_API_KEY", "sk-or-0123456789")
        .run()
}

/// Tries once, and not for long.
fn book() -> Book {
    let book = Book::new();
    book.put("quick.yaml", "api_max_retries: 0\napi_timeout_ms: 1500\n");
    book
}

#[test]
fn statuses() {
    let mut book = book();
    let told = r#"{"error": {"message": "What the server says.", "code": 1}}"#;
    for status in [
        "400 Bad Request",
        "401 Unauthorized",
        "402 Payment Required",
        "403 Forbidden",
        "404 Not Found",
        "408 Request Timeout",
        "413 Payload Too Large",
        "422 Unprocessable Entity",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "503 Service Unavailable",
        "529 Overloaded",
    ] {
        let ran = asks(&book, &serve(json(status, told), false));
        book.met(status, &ran);
    }
    let ran = asks(
        &book,
        &serve(
            answer("502 Bad Gateway", "text/html", "<html>\u{1b}[31mno</html>"),
            false,
        ),
    );
    book.met("502 with a page", &ran);
    let ran = asks(&book, &serve(json("500 Internal Server Error", ""), false));
    book.met("500 without a word", &ran);
    let ran = asks(
        &book,
        &serve(
            b"HTTP/1.1 302 Found\r\nlocation: https://elsewhere.example/v1\r\ncontent-length: 0\r\n\r\n".to_vec(),
            false,
        ),
    );
    book.met("a redirect", &ran);
    for (what, status, location) in [
        (
            "a redirect to itself, again and again",
            "307 Temporary Redirect",
            "location: /v1/chat/completions\r\n",
        ),
        ("a redirect within the server", "302 Found", "location: /log-in\r\n"),
        ("a redirect to nowhere", "302 Found", ""),
    ] {
        let head = format!("HTTP/1.1 {status}\r\n{location}content-length: 0\r\nconnection: close\r\n\r\n");
        book.met(what, &asks(&book, &serve(head.into_bytes(), false)));
    }
    book.close("statuses");
}

#[test]
fn replies_that_are_none() {
    let mut book = book();
    for (what, bytes) in [
        ("a web page", answer("200 OK", "text/html", "<html>Welcome</html>")),
        (
            "an error in a good answer",
            json("200 OK", r#"{"error": {"message": "out of credits", "code": 402}}"#),
        ),
        ("no choices", json("200 OK", r#"{"choices": []}"#)),
        ("JSON that is cut", json("200 OK", r#"{"choices": [{"mess"#)),
        ("no HTTP", b"hello\r\n\r\n".to_vec()),
        ("nothing", Vec::new()),
        (
            "a stream that breaks off",
            events(b"data: {\"choices\": [{\"delta\": {\"content\": \"half\"}}]}\n\n"),
        ),
        ("a stream of nonsense", events(b"data: {nonsense\n\n")),
        ("a stream that is no UTF-8", events(b"data: \xff\xfe\n\n")),
        (
            "an error in a stream",
            events(b"data: {\"error\": {\"message\": \"\x07broke\", \"code\": 500}}\n\n"),
        ),
        ("a stream without choices", events(b"data: [DONE]\n\n")),
    ] {
        let ran = asks(&book, &serve(bytes, false));
        book.met(what, &ran);
    }
    for (what, bytes) in [("silence", Vec::new()), ("silence in a stream", events(b": wait\n\n"))] {
        let ran = asks(&book, &serve(bytes, true));
        book.met(what, &ran);
    }
    book.close("replies");
}

#[test]
fn servers_that_are_not_there() {
    let mut book = book();
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    for (what, url) in [
        ("nobody listens", format!("http://{free}/v1")),
        ("no such name", "http://no-such-host.invalid/v1".to_owned()),
        ("no TLS", serve(b"hello".to_vec(), false).replace("http:", "https:")),
    ] {
        let ran = asks(&book, &url);
        book.met(what, &ran);
    }
    book.close("unreachable");
}
