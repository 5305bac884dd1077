//! What a resumed agent is told of earlier queries.

use super::SessionMemory;
use crate::engine::preamble::{Earlier, EarlierStep, Past};
use serde_json::Value;

impl SessionMemory {
    /// The preamble, or `None` in a new session. To be called before the next query begins.
    pub(crate) fn preamble(&self, with_code: bool) -> Option<String> {
        let queries = self.doc.queries.iter().map(|row| Earlier {
            query: row.query(),
            result: row.result().map(|raw| shown(raw.get())),
        });
        let steps = self.doc.code_log.iter().filter(|_| with_code);
        let past = Past {
            queries: queries.collect(),
            interrupted: self
                .doc
                .pending_query
                .as_ref()
                .map(|query| (query.clone(), self.pending_steps())),
            steps: steps
                .map(|row| EarlierStep {
                    ok: row.ok(),
                    code: row.code(),
                })
                .collect(),
        };
        past.preamble()
    }

    /// The interrupted run, where one of its steps names it.
    pub(super) fn pending_run(&self) -> Option<String> {
        let last = self.doc.code_log.last().filter(|_| self.pending_steps() > 0)?;
        last.run_id()
    }

    /// Steps of the interrupted run: the last rows of its `q` whose numbers rise.
    fn pending_steps(&self) -> usize {
        let q = self.doc.queries.len() as u64;
        let mut steps = 0;
        let mut next = u64::MAX;
        for row in self.doc.code_log.iter().rev().take_while(|row| row.q() == q) {
            if row.step() >= next {
                break;
            }
            next = row.step();
            steps += 1;
        }
        steps
    }
}

/// A string is shown as its text, anything else as JSON.
fn shown(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}
