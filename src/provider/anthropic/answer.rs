//! What the events of a message mean. Whatever a server may leave out is optional here.

use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::counted::count;
use crate::provider::error::ErrorKind;
use crate::provider::http::{Dialect, Faults, fields, object};
use crate::provider::reply::{Finish, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads one reply.
#[derive(Debug, Default)]
pub(super) struct MessageReply {
    counts: Counts,
    has_begun: bool,
    is_over: bool,
    /// The server has said what the whole reply used, or that it is whole.
    is_settled: bool,
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
    usage: Option<Box<RawValue>>,
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
    usage: Option<Box<RawValue>>,
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

/// Tokens, each as it was written: one that makes no sense spoils no other, and nothing else of the reply.
#[derive(Deserialize)]
struct Stated {
    #[serde(default)]
    input_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    cache_read_input_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    output_tokens: Option<Box<RawValue>>,
}

/// One count so far. Later events repeat the counts that have grown.
#[derive(Clone, Copy, Debug, Default)]
enum Count {
    #[default]
    Unstated,
    Tokens(u64),
    /// It makes no sense, so that what it was before is not what it is now.
    Senseless,
}

impl Count {
    fn update(&mut self, stated: Option<&RawValue>) {
        if stated.is_some() {
            *self = count(stated).map_or(Self::Senseless, Self::Tokens);
        }
    }

    /// `None` where it is not known; `unstated` where nobody said it.
    fn or(self, unstated: Option<u64>) -> Option<u64> {
        match self {
            Self::Unstated => unstated,
            Self::Tokens(tokens) => Some(tokens),
            Self::Senseless => None,
        }
    }
}

/// Tokens so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    input: Count,
    written: Count,
    read: Count,
    output: Count,
}

impl Counts {
    fn update(&mut self, newer: &Stated) {
        self.input.update(newer.input_tokens.as_deref());
        self.written.update(newer.cache_creation_input_tokens.as_deref());
        self.read.update(newer.cache_read_input_tokens.as_deref());
        self.output.update(newer.output_tokens.as_deref());
    }

    /// Those of the prompt: `input_tokens` are those that were neither read from the cache nor written to it.
    fn prompt(self) -> Option<u64> {
        let (input, read, written) = (self.input.or(None)?, self.read.or(Some(0))?, self.written.or(Some(0))?);
        Some(input.saturating_add(read).saturating_add(written))
    }

    /// Before the reply is settled what it has of output is what it began with.
    fn usage(self, is_settled: bool) -> Usage {
        let (prompt, completion) = (self.prompt(), self.output.or(None).filter(|_| is_settled));
        Usage {
            prompt_tokens: prompt.unwrap_or_default(),
            completion_tokens: completion.unwrap_or_default(),
            cached_tokens: self.read.or(Some(0)).unwrap_or_default(),
            reported: prompt.is_some() && completion.is_some(),
            ..Usage::default()
        }
    }
}

impl MessageReply {
    /// Prompt tokens that the server put into its cache.
    pub(super) fn cache_writes(&self) -> u64 {
        self.counts.written.or(Some(0)).unwrap_or_default()
    }

    /// What is no object says nothing.
    fn count(&mut self, usage: Option<&RawValue>, collector: &mut Collector<'_>) {
        if let Some(stated) = usage.and_then(fields) {
            self.counts.update(&stated);
            collector.usage(self.counts.usage(self.is_settled));
        }
    }

    /// What it used is known from here on, as far as it was said.
    fn settle(&mut self, collector: &mut Collector<'_>) {
        if !std::mem::replace(&mut self.is_settled, true) && self.has_begun {
            collector.usage(self.counts.usage(true));
        }
    }

    fn message(&mut self, message: Message, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        self.has_begun = true;
        collector.ending.id = message.id;
        collector.ending.served_by = message.model;
        self.count(message.usage.as_deref(), collector);
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
            self.settle(collector);
        }
        if let Some(message) = event.message {
            self.message(message, faults, collector)?;
        }
        for block in [event.content_block, event.delta].into_iter().flatten() {
            self.has_begun = true;
            said(block, faults, collector)?;
        }
        self.is_settled |= event.usage.is_some();
        self.count(event.usage.as_deref(), collector);
        Ok(())
    }

    fn whole(&mut self, body: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        self.is_settled = true;
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
