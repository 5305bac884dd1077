//! A conversation as one text, for programs that take a message and not a conversation.

use crate::provider::request::{Message, Role};

/// What an agent is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The system prompt, where it has a place of its own.
    pub(super) system: String,
    /// Everything else.
    pub(super) prompt: String,
}

/// The conversation as text; its system prompt apart where the agent takes one, else before it.
pub(super) fn of(messages: &[Message], takes_system: bool) -> Asked {
    let (system, turns): (Vec<_>, Vec<_>) = messages.iter().partition(|message| message.role == Role::System);
    let system = system
        .iter()
        .map(|message| &*message.content)
        .collect::<Vec<_>>()
        .join("\n\n");
    let talk = match turns.as_slice() {
        [only] => only.content.to_string(),
        turns => conversation(turns),
    };
    if takes_system || system.is_empty() {
        return Asked { system, prompt: talk };
    }
    let prompt = format!("{system}\n\n{talk}");
    Asked {
        system: String::new(),
        prompt,
    }
}

fn conversation(turns: &[&Message]) -> String {
    let mut text =
        String::from("This is the conversation so far. Write the assistant's next message, and nothing else.\n");
    for turn in turns {
        let who = match turn.role {
            Role::Assistant => "assistant",
            Role::System | Role::User => "user",
        };
        text.push_str(&format!("\n===== {who} =====\n{}\n", turn.content));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_message_is_given_as_it_is_and_a_conversation_with_its_speakers() {
        let mut messages = vec![Message::system("orders"), Message::user("task")];
        let asked = of(&messages, true);
        assert_eq!((asked.system.as_str(), asked.prompt.as_str()), ("orders", "task"));
        assert_eq!(of(&messages, false).prompt, "orders\n\ntask");
        messages.extend([Message::assistant("code"), Message::user("output")]);
        let prompt = of(&messages, true).prompt;
        let end = "===== user =====\ntask\n\n===== assistant =====\ncode\n\n===== user =====\noutput\n";
        assert!(prompt.ends_with(end), "{prompt}");
    }
}
