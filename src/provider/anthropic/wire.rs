//! The JSON of the messages API.

use crate::provider::request::{Message, Request, Role};
use serde::Serialize;

/// The most tokens of a reply: the API wants a number, and refuses one that is above the model's own.
const MAX_TOKENS: u64 = 8_192;
const MAX_TOKENS_OF_CLAUDE_3: u64 = 4_096;
/// The models with the smaller limit.
const CLAUDE_3: [&str; 3] = ["claude-3-opus", "claude-3-sonnet", "claude-3-haiku"];
/// The API refuses a message without a text.
const NO_TEXT: &str = "(nothing)";

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    content: [Block<'a>; 1],
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// Everything up to here is kept for the next call of the conversation.
#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

pub(super) fn request_body(model: &str, request: &Request, stream: bool) -> Vec<u8> {
    let (system, turns): (Vec<_>, Vec<_>) = request
        .messages
        .iter()
        .partition(|message| message.role == Role::System);
    let (last_system, last_turn) = (system.len(), turns.len());
    let body = RequestBody {
        model,
        max_tokens: request
            .limits
            .max_completion_tokens
            .unwrap_or(u64::MAX)
            .min(most_tokens(model)),
        stream,
        system: (1..)
            .zip(system)
            .map(|(place, message)| block(message, place == last_system))
            .collect(),
        messages: (1..)
            .zip(turns)
            .map(|(place, message)| Turn {
                role: message.role,
                content: [block(message, place == last_turn)],
            })
            .collect(),
    };
    // Strings and numbers only: there is nothing in it that could fail to be written.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn block(message: &Message, is_breakpoint: bool) -> Block<'_> {
    let text = message.content.trim_end();
    Block {
        r#type: "text",
        text: if text.is_empty() { NO_TEXT } else { text },
        cache_control: is_breakpoint.then_some(CacheControl { r#type: "ephemeral" }),
    }
}

fn most_tokens(model: &str) -> u64 {
    if CLAUDE_3.iter().any(|name| model.starts_with(name)) {
        MAX_TOKENS_OF_CLAUDE_3
    } else {
        MAX_TOKENS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn body(request: &Request) -> Value {
        serde_json::from_slice(&request_body("claude-x", request, true)).unwrap()
    }

    #[test]
    fn the_system_prompt_and_the_last_message_are_breakpoints() {
        let messages = vec![
            Message::system("orders"),
            Message::user("task"),
            Message::assistant(""),
            Message::user("output\n"),
        ];
        let ephemeral = json!({"type": "ephemeral"});
        let expected = json!({
            "model": "claude-x",
            "max_tokens": 8192,
            "stream": true,
            "system": [{"type": "text", "text": "orders", "cache_control": ephemeral}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "task"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "(nothing)"}]},
                {"role": "user", "content": [{"type": "text", "text": "output", "cache_control": ephemeral}]},
            ],
        });
        assert_eq!(body(&Request::new("claude-x", messages)), expected);
    }

    #[test]
    fn a_smaller_limit_counts() {
        let mut request = Request::new("claude-x", vec![Message::user("task")]);
        request.limits.max_completion_tokens = Some(100);
        assert_eq!(body(&request)["max_tokens"], json!(100));
        assert_eq!(body(&request).get("system"), None);
        assert_eq!(most_tokens("claude-3-haiku-20240307"), 4_096);
        assert_eq!(most_tokens("claude-3-5-haiku-latest"), 8_192);
    }
}
