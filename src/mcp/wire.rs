//! Messages of JSON-RPC 2.0, as MCP uses them.

use serde_json::{Map, Value, json};

/// The longest message that is taken from a server, in bytes.
pub(super) const MESSAGE_LIMIT: usize = 16 << 20;
/// The version of the protocol that is offered.
pub(super) const VERSION: &str = "2025-06-18";
/// The versions that a server may answer with. What differs between them concerns nothing that is used here.
pub(super) const VERSIONS: [&str; 4] = [VERSION, "2025-11-25", "2025-03-26", "2024-11-05"];

/// Bytes of a server's own words that are sent back to it.
const ECHOED: usize = 200;
/// "Method not found".
const NO_METHOD: i64 = -32601;

/// An error of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
}

/// A message from a server.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// The answer to a request of ours.
    Answer(u64, Result<Value, RpcError>),
    /// A request of the server's own.
    Request(Value, String),
    /// Anything that wants no answer.
    Other,
}

/// A request.
pub(super) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A message that wants no answer.
pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The handshake's parameters: a client that offers nothing itself.
pub(super) fn hello() -> Value {
    json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "fast-rlm", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The answer to a server's own request: only "are you there" is answered, the rest is refused. An id that no client could
/// be meant to send back has none; of a method, its beginning is said.
pub(super) fn answer_to(id: &Value, method: &str) -> Option<Value> {
    if !(id.is_number() || id.as_str().is_some_and(|id| id.len() <= ECHOED)) {
        return None;
    }
    let method = method.get(..method.floor_char_boundary(ECHOED)).unwrap_or_default();
    Some(match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": NO_METHOD, "message": format!("this client does not offer {method}")},
        }),
    })
}

/// The messages in a line or event: one, or a list of them. `None` for what is no JSON.
pub(super) fn messages(bytes: &[u8]) -> Option<Vec<Incoming>> {
    match serde_json::from_slice(bytes).ok()? {
        Value::Array(items) => Some(items.into_iter().map(incoming).collect()),
        Value::Object(fields) => Some(vec![of_fields(fields)]),
        _ => None,
    }
}

fn incoming(value: Value) -> Incoming {
    match value {
        Value::Object(fields) => of_fields(fields),
        _ => Incoming::Other,
    }
}

fn of_fields(mut fields: Map<String, Value>) -> Incoming {
    let method = fields.get("method").and_then(Value::as_str).map(str::to_owned);
    match (fields.remove("id"), method) {
        (Some(id), Some(method)) if !id.is_null() => Incoming::Request(id, method),
        (_, Some(_)) => Incoming::Other,
        (Some(id), None) => match id.as_u64() {
            Some(id) => Incoming::Answer(id, outcome(&mut fields)),
            None => Incoming::Other,
        },
        (None, None) => Incoming::Other,
    }
}

fn outcome(fields: &mut Map<String, Value>) -> Result<Value, RpcError> {
    let Some(error) = fields.remove("error").filter(|error| !error.is_null()) else {
        return Ok(fields.remove("result").unwrap_or_default());
    };
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    Err(RpcError {
        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: text("message").map_or_else(|| error.to_string(), str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Incoming {
        messages(text.as_bytes()).unwrap().pop().unwrap()
    }

    #[test]
    fn answers_requests_and_the_rest_are_told_apart() {
        assert_eq!(one(r#"{"id": 3, "result": [1]}"#), Incoming::Answer(3, Ok(json!([1]))));
        let error = RpcError {
            code: -32602,
            message: "no".into(),
        };
        assert_eq!(
            one(r#"{"id": 3, "error": {"code": -32602, "message": "no"}}"#),
            Incoming::Answer(3, Err(error))
        );
        let asked = r#"{"id": "a", "method": "sampling/createMessage"}"#;
        assert_eq!(
            one(asked),
            Incoming::Request(json!("a"), "sampling/createMessage".into())
        );
        for other in [
            r#"{"method": "notifications/message"}"#,
            r#"{"id": "x", "result": 1}"#,
            "{}",
            "[7]",
        ] {
            assert_eq!(one(other), Incoming::Other, "{other}");
        }
        assert_eq!(messages(b"Listening on stdio"), None);
        assert_eq!(messages(b"[]"), Some(vec![]));
    }

    #[test]
    fn a_server_is_told_that_it_is_alone() {
        assert_eq!(answer_to(&json!(1), "ping").unwrap()["result"], json!({}));
        let refused = answer_to(&json!("a"), "elicitation/create").unwrap();
        assert_eq!(refused["error"]["code"], json!(-32601));
    }

    #[test]
    fn what_is_sent_back_is_short() {
        let refused = answer_to(&json!(1), &"é".repeat(1 << 20)).unwrap();
        assert!(refused.to_string().len() < 400, "{refused}");
        for id in [json!("x".repeat(201)), json!([1]), json!({})] {
            assert_eq!(answer_to(&id, "ping"), None);
        }
    }
}
