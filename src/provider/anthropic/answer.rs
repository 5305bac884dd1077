//! What the events of a message mean. Whatever a server may leave out is optional here.

use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::error::ErrorKind;
use crate::provider::http::{Dialect, Faults, object};
use crate::provider::reply::{Finish, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads one reply.
#[derive(Debug, Default)]
pub(super) struct MessageReply {
    counts: Counts,
    has_begun: bool,
    is_over: bool,
}

/// One event, or a whole message: which of the keys are there depends on its type.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    content_block: Option<Block>,
    #[serde(default)]
    delta: Option<Block>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Counts>,
}

/// A part of the content, the beginning of one, or a piece of one. Its type is in which text it has.
#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
}

/// Tokens so far. Later events repeat the counts that have grown.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Counts {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

impl Counts {
    fn update(&mut self, newer: Self) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens = newer.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = newer.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
    }

    /// `input_tokens` are those that were neither read from the cache nor written to it.
    fn usage(self) -> Usage {
        let cached_tokens = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let prompt_tokens = self
            .input_tokens
            .unwrap_or(0)
            .saturating_add(cached_tokens)
            .saturating_add(written);
        let completion_tokens = self.output_tokens.unwrap_or(0);
        Usage {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            cached_tokens,
            reported: true,
            ..Usage::default()
        }
    }
}

impl MessageReply {
    /// Prompt tokens that the server put into its cache.
    pub(super) fn cache_writes(&self) -> u64 {
        self.counts.cache_creation_input_tokens.unwrap_or(0)
    }

    fn count(&mut self, counts: Option<Counts>, collector: &mut Collector<'_>) {
        if let Some(counts) = counts {
            self.counts.update(counts);
            collector.usage(self.counts.usage());
        }
    }

    fn message(&mut self, message: Message, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        self.has_begun = true;
        collector.ending.id = message.id;
        collector.ending.served_by = message.model;
        self.count(message.usage, collector);
        message
            .content
            .into_iter()
            .try_for_each(|block| said(block, faults, collector))?;
        finish(message.stop_reason.as_deref(), collector);
        Ok(())
    }
}

fn said(block: Block, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
    collector.push(Delta::Reasoning(&block.thinking.unwrap_or_default()), faults.server())?;
    collector.push(Delta::Text(&block.text.unwrap_or_default()), faults.server())?;
    finish(block.stop_reason.as_deref(), collector);
    Ok(())
}

fn finish(word: Option<&str>, collector: &mut Collector<'_>) {
    if let Some(word) = word {
        collector.ending.finish = Some(Finish::from_word(word));
    }
}

impl Dialect for MessageReply {
    fn event(&mut self, data: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let event: Event = object(data, faults)?;
        if let Some(error) = event.error.as_ref().filter(|error| error.get() != "null") {
            return Err(faults.reported(error.get()));
        }
        if event.r#type.as_deref() == Some("message_stop") {
            self.is_over = true;
        }
        if let Some(message) = event.message {
            self.message(message, faults, collector)?;
        }
        for block in [event.content_block, event.delta].into_iter().flatten() {
            self.has_begun = true;
            said(block, faults, collector)?;
        }
        self.count(event.usage, collector);
        Ok(())
    }

    fn whole(&mut self, body: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let event: Event = object(body, faults)?;
        match event.r#type.as_deref() {
            Some("message") => self.message(object(body, faults)?, faults, collector)?,
            _ if event.error.is_some() || faults.has_message(body) => {
                return Err(faults.reported(event.error.as_deref().map_or(body, RawValue::get)));
            }
            _ => return Err(faults.empty()),
        }
        self.is_over = true;
        Ok(())
    }

    fn has_reply(&self) -> bool {
        self.has_begun
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
