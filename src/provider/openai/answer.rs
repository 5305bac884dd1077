//! What the events of a chat completion mean.

use super::wire::{self, Chunk};
use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::error::ErrorKind;
use crate::provider::http::{Dialect, Faults, object};
use crate::provider::reply::Finish;

/// The data of the event that ends a stream.
const END_MARK: &str = "[DONE]";

/// Reads one completion.
#[derive(Debug, Default)]
pub(super) struct Completion {
    has_choice: bool,
    is_over: bool,
}

impl Dialect for Completion {
    fn event(&mut self, data: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        if data == END_MARK {
            self.is_over = true;
            return Ok(());
        }
        let chunk: Chunk = object(data, faults)?;
        if let Some(error) = chunk.error.as_ref().filter(|error| error.get() != "null") {
            return Err(faults.reported(error.get()));
        }
        if let Some(usage) = chunk.usage.as_deref().and_then(wire::usage) {
            collector.usage(usage);
        }
        collector.ending.served_by = chunk.model.or(collector.ending.served_by.take());
        collector.ending.id = chunk.id.or(collector.ending.id.take());
        let Some(choices) = chunk.choices else {
            // Neither a reply nor an error as most servers write them: some put the message where a reply would be.
            return if chunk.usage.is_none() && faults.has_message(data) {
                Err(faults.reported(data))
            } else {
                Ok(())
            };
        };
        if let Some(choice) = choices.iter().find(|choice| choice.index.unwrap_or(0) == 0) {
            self.choice(choice, faults, collector)?;
        }
        Ok(())
    }

    fn whole(&mut self, body: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        self.event(body, faults, collector)?;
        self.is_over = self.has_choice;
        Ok(())
    }

    fn has_reply(&self) -> bool {
        self.has_choice
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Completion {
    fn choice(
        &mut self,
        choice: &wire::Choice,
        faults: &Faults,
        collector: &mut Collector<'_>,
    ) -> Result<(), ErrorKind> {
        self.has_choice = true;
        if let Some(said) = choice.said() {
            collector.push(Delta::Reasoning(&said.reasoning()), faults.server())?;
            collector.push(Delta::Text(&said.text()), faults.server())?;
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error") => return Err(faults.reported(r#"{"code": "error"}"#)),
            Some(word) => collector.ending.finish = Some(Finish::from_word(word)),
        }
        Ok(())
    }
}
