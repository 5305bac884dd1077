//! What a resumed agent is told of its REPL: what came back, and what did not.

use super::SessionMemory;
use crate::engine::prompts::SESSION_HEADING;
use crate::engine::truncate::head;
use crate::repl::RestoreReport;
use crate::text::count;

/// Characters of a preview; shorter where there is much to tell of, and none where even that is too much.
const PREVIEW_LENS: [usize; 3] = [150, 40, 0];
/// Characters of a comment, a note or a reason: one must not take the room of all other names.
const SAID_LEN: usize = 500;
/// Characters of what came back, and as many of what did not.
const LISTED_LEN: usize = 20_000;

impl SessionMemory {
    /// What came back and what did not, for the probe's output. However much that is, what is told of it has a budget.
    pub(crate) fn inventory(&self, report: &RestoreReport) -> String {
        let mut lines = vec![format!(
            "{SESSION_HEADING} what you bind here is kept for later queries of this session."
        )];
        let restored = report.functions.len() + report.variables.len();
        if restored > 0 {
            lines.push(format!("Restored into this REPL ({restored}):"));
        }
        lines.extend(self.restored_lines(report));
        let missing = self.missing_lines(report);
        if !missing.is_empty() {
            lines.push(format!("Not there any more ({}):", missing.len()));
            lines.extend(within_budget(missing));
        }
        lines.join("\n")
    }

    fn restored_lines(&self, report: &RestoreReport) -> Vec<String> {
        let mut lines = Vec::new();
        for preview in PREVIEW_LENS {
            let functions = report.functions.iter().map(|name| self.function_line(name, preview));
            let variables = report
                .variables
                .iter()
                .map(|name| self.variable_line(name, report, preview));
            lines = functions.chain(variables).collect();
            if characters(&lines) <= LISTED_LEN {
                break;
            }
        }
        within_budget(lines)
    }

    fn missing_lines(&self, report: &RestoreReport) -> Vec<String> {
        let lost = report
            .failed
            .iter()
            .map(|failure| format!("  {}: not restored: {}", failure.name, short(&failure.reason)));
        let dropped = self
            .doc
            .dropped
            .iter()
            .map(|(name, reason)| format!("  {name}: was not saved: {}", short(reason)));
        lost.chain(dropped).collect()
    }

    fn function_line(&self, name: &str, preview: usize) -> String {
        let source = self.doc.functions.get(name).map(String::as_str).unwrap_or_default();
        let first = source
            .lines()
            .find(|line| !line.trim_start().starts_with('@'))
            .unwrap_or_default();
        format!("  {name}: {}", head(first.trim(), preview).0)
    }

    fn variable_line(&self, name: &str, report: &RestoreReport, preview: usize) -> String {
        let saved_as = report
            .renamed
            .iter()
            .find(|(_, now)| now == name)
            .map_or(name, |(saved, _)| saved);
        let Some(row) = self.doc.variables.get(saved_as) else {
            return format!("  {name}");
        };
        let whole = row.text("preview").unwrap_or_default();
        let (shown, cut) = head(&whole, preview);
        let mark = if cut { "… [cut]" } else { "" };
        let comment = row
            .text("comment")
            .map(|comment| format!("  # {}", short(&comment)))
            .unwrap_or_default();
        let note = row
            .text("note")
            .map(|note| format!("  [note: {}]", short(&note)))
            .unwrap_or_default();
        format!(
            "  {name} ({}): {shown}{mark}{comment}{note}",
            row.text("type").unwrap_or_default()
        )
    }
}

/// A text that somebody wrote, cut where it is long.
fn short(text: &str) -> String {
    match head(text, SAID_LEN) {
        (shown, true) => format!("{shown}… [cut]"),
        (shown, false) => shown.to_owned(),
    }
}

fn characters(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count() + 1).sum()
}

/// The first lines that fit, and how many more there are.
fn within_budget(mut lines: Vec<String>) -> Vec<String> {
    let mut room = LISTED_LEN;
    let fit = lines.iter().take_while(|line| {
        let left = room.checked_sub(line.chars().count() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    });
    let (fit, all) = (fit.count(), lines.len());
    if fit < all {
        lines.truncate(fit);
        lines.push(format!("  … and {} more", count((all - fit) as u128)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::state_doc::StateDoc;
    use serde_json::json;

    fn told(names: usize) -> String {
        let preview = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]";
        let row = json!({"pickle_b64": "", "type": "list", "preview": preview});
        let rows: serde_json::Map<_, _> = (0..names).map(|n| (format!("name_{n}"), row.clone())).collect();
        let state = json!({"version": 2, "queries": [], "variables": rows}).to_string();
        let memory = SessionMemory::of_doc(StateDoc::parse(state.as_bytes()).unwrap());
        let report = RestoreReport {
            variables: (0..names).map(|n| format!("name_{n}")).collect(),
            ..RestoreReport::default()
        };
        memory.inventory(&report)
    }

    #[test]
    fn what_came_back_is_told_in_as_many_words_as_there_is_room_for() {
        let few = told(100);
        assert!(
            few.contains("name_99 (list): [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]")
                && !few.contains("[cut]")
        );
        assert!(told(280).contains("name_279 (list): [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … [cut]"));
        assert!(told(700).ends_with("  name_699 (list): … [cut]"));
    }

    #[test]
    fn one_long_note_does_not_take_the_place_of_other_names() {
        let row = |note: String| json!({"pickle_b64": "", "type": "int", "preview": "1", "note": note});
        let rows = json!({"a": row("x".repeat(50_000)), "b": row("short".into())});
        let state = json!({"version": 2, "queries": [], "variables": rows}).to_string();
        let memory = SessionMemory::of_doc(StateDoc::parse(state.as_bytes()).unwrap());
        let report = RestoreReport {
            variables: vec!["a".into(), "b".into()],
            ..RestoreReport::default()
        };
        let told = memory.inventory(&report);
        assert!(told.contains("xxx… [cut]]\n  b (int): 1  [note: short]"), "{told}");
    }

    #[test]
    fn however_much_came_back_its_list_keeps_to_its_budget() {
        let many = told(50_000);
        assert!(many.contains("Restored into this REPL (50000):"));
        assert!(many.ends_with(" more") && many.contains("\n  … and 49,"), "{many}");
        assert!(many.chars().count() < LISTED_LEN + 1_000);
    }
}
