//! Reading an agent's answer: text, one JSON value, or a JSON object a line.

use super::spec::{AgentSpec, Output, Places};
use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::cost::parse_nano_dollars;
use crate::provider::counted::count_of;
use crate::provider::error::ErrorKind;
use crate::provider::reply::{CostSource, Usage};
use serde_json::Value;

/// Bytes that may be written for one of reply: JSON around it, and what the agent tells of itself.
const OVERHEAD: usize = 16;
/// Between parts of a reply.
const GAP: &str = "\n\n";

/// Takes bytes as they come.
pub(super) struct Reader<'a> {
    spec: &'a AgentSpec,
    agent: &'a str,
    /// What was not understood yet: an unfinished line, or all of it.
    rest: Vec<u8>,
    total: usize,
    usage: Usage,
    /// What was counted of the prompt and of the reply: nothing yet, so many, or unknown because a figure was no count.
    prompt: Option<Option<u64>>,
    completion: Option<Option<u64>>,
    error: Option<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(spec: &'a AgentSpec, agent: &'a str) -> Self {
        Self {
            spec,
            agent,
            rest: Vec::new(),
            total: 0,
            usage: Usage::default(),
            prompt: None,
            completion: None,
            error: None,
        }
    }

    /// What the agent said went wrong.
    pub(super) fn error(&mut self) -> Option<String> {
        self.error.take()
    }

    pub(super) fn push(&mut self, bytes: &[u8], limit: usize, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > limit.saturating_mul(OVERHEAD).saturating_add(1 << 20) {
            let server = self.agent.to_owned();
            return Err(ErrorKind::TooLarge { server, limit });
        }
        self.rest.extend_from_slice(bytes);
        if self.spec.output == Output::Lines {
            while let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                self.value(&line, collector)?;
            }
        }
        Ok(())
    }

    /// Takes the end of the output.
    pub(super) fn end(&mut self, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let rest = std::mem::take(&mut self.rest);
        match self.spec.output {
            Output::Text => {
                let text = String::from_utf8_lossy(&rest);
                collector.push(Delta::Text(text.trim_end_matches(['\n', '\r'])), self.agent)?;
            }
            Output::Json | Output::Lines => self.value(&rest, collector)?,
        }
        let (prompt, completion) = (self.prompt.flatten(), self.completion.flatten());
        if self.prompt.is_some() || self.completion.is_some() || self.usage.cost_nano.is_some() {
            collector.usage(Usage {
                prompt_tokens: prompt.unwrap_or_default(),
                completion_tokens: completion.unwrap_or_default(),
                reported: prompt.is_some() && completion.is_some(),
                ..self.usage
            });
        }
        Ok(())
    }

    /// What is no JSON is the agent's chatter.
    fn value(&mut self, text: &[u8], collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let Ok(value) = serde_json::from_slice::<Value>(text) else {
            return Ok(());
        };
        for reasoning in texts(&self.spec.reasoning, &value) {
            let gap = if collector.partial.reasoning.is_empty() {
                ""
            } else {
                GAP
            };
            collector.push(Delta::Reasoning(&format!("{gap}{reasoning}")), self.agent)?;
        }
        for reply in texts(&self.spec.reply, &value) {
            let gap = if collector.partial.text.is_empty() { "" } else { GAP };
            collector.push(Delta::Text(&format!("{gap}{reply}")), self.agent)?;
        }
        if let Some(error) = texts(&self.spec.error, &value).next() {
            self.error.get_or_insert_with(|| error.to_owned());
        }
        self.count(&value);
        Ok(())
    }

    fn count(&mut self, value: &Value) {
        let places = &self.spec.usage;
        add(&places.prompt, value, &mut self.prompt);
        add(&places.completion, value, &mut self.completion);
        let (mut cached, mut reasoning) = (None, None);
        add(&places.cached, value, &mut cached);
        add(&places.reasoning, value, &mut reasoning);
        let part = |sum: Option<Option<u64>>| sum.flatten().unwrap_or_default();
        self.usage.cached_tokens = self.usage.cached_tokens.saturating_add(part(cached));
        self.usage.reasoning_tokens = self.usage.reasoning_tokens.saturating_add(part(reasoning));
        let costs = places.cost.iter().flat_map(|places| places.all(value));
        for nano in costs.filter_map(|cost| parse_nano_dollars(&cost.to_string())) {
            self.usage.cost_nano = Some(self.usage.cost_nano.unwrap_or(0).saturating_add(nano));
            self.usage.cost_source = CostSource::Provider;
        }
    }
}

/// Adds the counts at `places`. One that is none makes the sum unknown.
fn add(places: &Places, value: &Value, sum: &mut Option<Option<u64>>) {
    for stated in places.all(value).filter(|stated| !stated.is_null()) {
        let before = sum.unwrap_or(Some(0));
        *sum = Some(
            before
                .zip(count_of(stated))
                .map(|(before, more)| before.saturating_add(more)),
        );
    }
}

fn texts<'a>(places: &'a Places, value: &'a Value) -> impl Iterator<Item = &'a str> {
    places
        .all(value)
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}
