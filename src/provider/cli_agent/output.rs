//! Reading an agent's answer: text, one JSON value, or a JSON object a line.

use super::spec::{AgentSpec, Output, Places};
use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::cost::parse_nano_dollars;
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
        if self.usage.reported || self.usage.cost_nano.is_some() {
            self.usage.total_tokens = self.usage.prompt_tokens.saturating_add(self.usage.completion_tokens);
            collector.usage(self.usage);
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
        let mut add = |places: &Places, sum: &mut u64| {
            for tokens in places.all(value).filter_map(Value::as_u64) {
                *sum = sum.saturating_add(tokens);
                self.usage.reported = true;
            }
        };
        let (mut prompt, mut cached, mut completion, mut reasoning) = (0, 0, 0, 0);
        add(&places.prompt, &mut prompt);
        add(&places.cached, &mut cached);
        add(&places.completion, &mut completion);
        add(&places.reasoning, &mut reasoning);
        self.usage.prompt_tokens = self.usage.prompt_tokens.saturating_add(prompt);
        self.usage.cached_tokens = self.usage.cached_tokens.saturating_add(cached);
        self.usage.completion_tokens = self.usage.completion_tokens.saturating_add(completion);
        self.usage.reasoning_tokens = self.usage.reasoning_tokens.saturating_add(reasoning);
        let costs = places.cost.iter().flat_map(|places| places.all(value));
        for nano in costs.filter_map(|cost| parse_nano_dollars(&cost.to_string())) {
            self.usage.cost_nano = Some(self.usage.cost_nano.unwrap_or(0).saturating_add(nano));
            self.usage.cost_source = CostSource::Provider;
        }
    }
}

fn texts<'a>(places: &'a Places, value: &'a Value) -> impl Iterator<Item = &'a str> {
    places
        .all(value)
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}
