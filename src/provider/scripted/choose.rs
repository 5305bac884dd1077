//! Which reply a request gets.

use super::Scripted;
use super::file::{AtEnd, Rule, Written};
use crate::provider::request::{Message, Request, Role};
use std::sync::atomic::Ordering;

impl Scripted {
    /// The reply for a request, or why there is none. The first rule that matches answers by the conversation alone, so
    /// that agents which run at the same time do not disturb one another; else the replies in order answer.
    pub(super) fn choose(&self, request: &Request) -> Result<&Written, String> {
        if let Some((index, rule)) = self.rule(request, &request.messages) {
            // How often this rule has answered in this conversation already.
            let answered =
                earlier(request).filter(|messages| self.rule(request, messages).is_some_and(|(i, _)| i == index));
            return reply_of(rule, answered.count()).ok_or_else(|| self.used_up(index, rule, request));
        }
        let given = self.given.fetch_add(1, Ordering::Relaxed);
        self.script
            .content
            .replies
            .get(given)
            .ok_or_else(|| self.nothing_left(request))
    }

    fn rule(&self, request: &Request, messages: &[Message]) -> Option<(usize, &Rule)> {
        self.script
            .content
            .rules
            .iter()
            .enumerate()
            .find(|(_, rule)| rule.when.matches(request, messages))
    }

    fn used_up(&self, index: usize, rule: &Rule, request: &Request) -> String {
        let name = rule
            .name
            .as_ref()
            .map_or_else(|| format!("number {}", index + 1), |name| format!("“{name}”"));
        let count = rule.replies.len();
        format!(
            "the script {} has no more replies: its rule {name} has {count}, and {}",
            self.script.name,
            asked(request)
        )
    }

    fn nothing_left(&self, request: &Request) -> String {
        let used = match self.script.content.replies.len() {
            0 => "it has no replies in order".to_owned(),
            1 => "its one reply in order is used up".into(),
            count => format!("its {count} replies in order are used up"),
        };
        format!(
            "the script {} has no reply: no rule matches, {used}, and {}",
            self.script.name,
            asked(request)
        )
    }
}

fn reply_of(rule: &Rule, number: usize) -> Option<&Written> {
    match rule.at_end {
        AtEnd::Fail => rule.replies.get(number),
        AtEnd::Last => rule.replies.get(number).or(rule.replies.last()),
        AtEnd::Again => rule.replies.get(number.checked_rem(rule.replies.len())?),
    }
}

/// The conversation as it was before each of the model's replies.
fn earlier(request: &Request) -> impl Iterator<Item = &[Message]> {
    let replies = request
        .messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == Role::Assistant);
    replies.filter_map(|(at, _)| request.messages.get(..at))
}

/// What was asked, in short: what one needs to write the missing rule.
fn asked(request: &Request) -> String {
    let last = request.messages.iter().rev().find(|message| message.role == Role::User);
    let begin: String = last
        .map(|message| message.content.chars().take(80).collect())
        .unwrap_or_default();
    format!(
        "turn {} at depth {} asks {begin:?}",
        earlier(request).count(),
        request.depth
    )
}
