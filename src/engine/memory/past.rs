//! What a resumed agent is told: the preamble of earlier queries, and the inventory of what came back.

use super::SessionMemory;
use crate::engine::preamble::{Earlier, EarlierStep, Past};
use crate::engine::prompts::SESSION_HEADING;
use crate::engine::truncate::head;
use crate::repl::RestoreReport;
use serde_json::Value;

/// Characters of a preview in the inventory.
const PREVIEW_LEN: usize = 150;

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

    /// What came back and what did not, for the probe's output.
    pub(crate) fn inventory(&self, report: &RestoreReport) -> String {
        let mut lines = vec![format!(
            "{SESSION_HEADING} what you bind here is kept for later queries of this session."
        )];
        let restored = report.functions.len() + report.variables.len();
        if restored > 0 {
            lines.push(format!("Restored into this REPL ({restored}):"));
        }
        lines.extend(report.functions.iter().map(|name| self.function_line(name)));
        lines.extend(report.variables.iter().map(|name| self.variable_line(name, report)));
        let lost = report
            .failed
            .iter()
            .map(|failure| format!("  {}: not restored: {}", failure.name, failure.reason));
        let dropped = self
            .doc
            .dropped
            .iter()
            .map(|(name, reason)| format!("  {name}: was not saved: {reason}"));
        let missing: Vec<String> = lost.chain(dropped).collect();
        if !missing.is_empty() {
            lines.push(format!("Not there any more ({}):", missing.len()));
            lines.extend(missing);
        }
        lines.join("\n")
    }

    fn function_line(&self, name: &str) -> String {
        let source = self.doc.functions.get(name).map(String::as_str).unwrap_or_default();
        let first = source
            .lines()
            .find(|line| !line.trim_start().starts_with('@'))
            .unwrap_or_default();
        format!("  {name}: {}", head(first.trim(), PREVIEW_LEN).0)
    }

    fn variable_line(&self, name: &str, report: &RestoreReport) -> String {
        let saved_as = report
            .renamed
            .iter()
            .find(|(_, now)| now == name)
            .map_or(name, |(saved, _)| saved);
        let Some(row) = self.doc.variables.get(saved_as) else {
            return format!("  {name}");
        };
        let preview = row.text("preview").unwrap_or_default();
        let (preview, cut) = head(&preview, PREVIEW_LEN);
        let mark = if cut { "… [cut]" } else { "" };
        let comment = row
            .text("comment")
            .map(|comment| format!("  # {comment}"))
            .unwrap_or_default();
        let note = row
            .text("note")
            .map(|note| format!("  [note: {note}]"))
            .unwrap_or_default();
        format!(
            "  {name} ({}): {preview}{mark}{comment}{note}",
            row.text("type").unwrap_or_default()
        )
    }
}

/// A string is shown as its text, anything else as JSON.
fn shown(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}
