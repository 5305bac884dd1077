//! The model: its server echoes the key, and its code does what it can to leave the values behind.

use crate::KEY;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// A server whose replies also say the key. It answers the root by how far its query is, a sub-agent with its context;
/// the root's third query is refused.
pub(crate) fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(|stream| answer(stream.unwrap())));
    url
}

fn reply_to(request: &str) -> Option<String> {
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let said = body["messages"].as_array().unwrap().iter();
    let steps = said.filter(|message| message["role"] == "assistant").count();
    match () {
        () if request.contains("Again?") => None,
        () if request.contains("And now?") => Some("FINAL(1)".into()),
        () if request.contains("Tell me everything.") => attempts().into_iter().nth(steps),
        () => Some("import os\nprint(context, os.environ['SECRET'])\nFINAL([context, os.environ['SECRET']])".into()),
    }
}

fn answer(mut stream: TcpStream) {
    let request = request_of(&mut stream);
    assert!(request.contains(KEY), "the key went to its server");
    let (status, body) = match reply_to(&request) {
        Some(code) => (
            "200 OK",
            json!({
                "id": "x", "model": "m",
                "choices": [{"finish_reason": "stop", "message": {
                    "content": format!("Your key is {KEY}.\n```repl\n# {KEY}\n{code}\n```"),
                    "reasoning": format!("So the key is {KEY}, in base64 {}.", STANDARD.encode(KEY)),
                }}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.001},
            }),
        ),
        None => (
            "401 Unauthorized",
            json!({"error": {"message": format!("Bearer {KEY} is no good here"), "code": 401}}),
        ),
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-echo: {KEY}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// A whole request.
fn request_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65_536];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse::<usize>()
                .ok()
        });
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

/// What code does to leave the values behind, a step each.
fn attempts() -> Vec<String> {
    let steps = [
        // Plain, quoted, escaped, encoded, in every alignment.
        r#"import os, json, base64, urllib.parse as u
s, p = os.environ["SECRET"], int(os.environ["PIN"])
print(s, repr(s), json.dumps(s), ascii(s), u.quote(s), u.quote_plus(s), u.urlencode({"k": s}), p, [p], {s: p})
for i in range(3):
    print(base64.b64encode(b"ab"[:i] + s.encode()).decode(), base64.urlsafe_b64encode(b"ab"[:i] + s.encode() + b"tail").decode())"#,
        // Where output is cut.
        r#"print("x" * 4990 + s + "y" * 4990)
print(("z" * 997 + s) * 12)"#,
        // In exceptions, with notes, groups and causes.
        r#"error = ValueError(s)
error.add_note("note " + s)
raise ExceptionGroup(s, [error, KeyError(s), OSError(5, s, s)])"#,
        "raise SyntaxError(s, (s, 1, 1, s))",
        "exec(compile(s + ' = 1', s, 'exec'))",
        "told = tell()\nprint(told)",
        "fail()",
        // In names, values, code and comments that are kept.
        r#"class Holder:
    def __init__(self): self.held = s
    def __repr__(self): return "holder of " + s
held = Holder()
nested = {"a": [{"b": (s, {p})}]}
near = "n" * 70 + s
def keeps(x=s, y=p): return x
lambda_ = lambda x=s: x
globals()["name_" + str(p)] = 1
deep = list(range(5_000)) + [p]
exec("def function_" + str(p) + "(): return 1")
commit("near", note="it is " + s)
print(held, nested)"#,
        // In what sub-agents are told, and what they say.
        r#"child = await llm_query({"k": s, "n": p}, instruction="use " + s)
print(child)"#,
        r#"await llm_query(s, schema={"type": "object", "title": s, "required": [s]})"#,
        // In a question, which parks the query.
        r#"answer = await ask("Is it " + s + "?", options=["no", s])
print(answer)"#,
        r#"FINAL({"s": s, "p": p, "both": [s + str(p)]})"#,
    ];
    steps.iter().map(|step| (*step).to_owned()).collect()
}
