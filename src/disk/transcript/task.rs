//! What an agent was given to do, from its probe: the step 0 that prints the context.
//!
//! Writers print the context's type and length, then its text or the start of it, or, for a dict, its keys each with
//! a preview; a schema may stand before and the tools after. The first line of the context itself tells the task.

/// Characters that are kept.
const TASK_CUT: usize = 200;
/// Labels before the text of the context, when it is printed whole or in part.
const CONTEXT_LABELS: [&str; 2] = ["Context:", "First 500 characters of str(context):"];
/// What is printed about the context, or beside it.
const ABOUT: [&str; 6] = [
    "Context type",
    "Context length",
    "Keys (",
    "---",
    "[FULL OUTPUT SHOWN]",
    "[TRUNCATED",
];
/// Sections that end at the next rule.
const OTHER_SECTIONS: [&str; 3] = ["Required output schema", "Available tools", "SESSION MODE"];

/// The task in one line, cut at 200 characters; `None` when the probe shows nothing of it.
pub(super) fn task_of_probe(output: &str) -> Option<String> {
    if let Some(task) = task_of_own_probe(output) {
        return Some(task);
    }
    let mut skipping = false;
    let mut lines = output.lines().peekable();
    let mut entries: Vec<String> = Vec::new();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        skipping = (skipping && trimmed != "---") || OTHER_SECTIONS.iter().any(|label| trimmed.starts_with(label));
        if skipping || trimmed.is_empty() {
            continue;
        }
        if let Some(text) = CONTEXT_LABELS.iter().find_map(|label| trimmed.strip_prefix(label)) {
            let rest = lines.take_while(|line| line.trim() != "---");
            return one_line(std::iter::once(text).chain(rest));
        }
        if let Some(entry) = dict_entry(line) {
            entries.push(entry);
        } else if entries.is_empty() && !ABOUT.iter().any(|label| trimmed.starts_with(label)) {
            return one_line(std::iter::once(trimmed));
        }
    }
    one_line(
        entries
            .iter()
            .map(String::as_str)
            .take(1)
            .chain(entries.iter().skip(1).flat_map(|entry| ["·", entry])),
    )
}

/// The same of a probe as this program's engine writes it.
fn task_of_own_probe(output: &str) -> Option<String> {
    if let Some(rest) = output.strip_prefix("context: a string of ") {
        let (length, text) = rest.split_once(" characters\n")?;
        let text = text.strip_prefix("--- its first 500 characters:\n").unwrap_or(text);
        let length = length.parse::<usize>().ok()?.min(500);
        let end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
        return one_line(text.get(..end)?.lines());
    }
    let (_, rest) = output.strip_prefix("context: a dict with ")?.split_once(" keys\n")?;
    let entries: Vec<String> = rest.lines().map_while(own_dict_entry).collect();
    let separated = entries.iter().skip(1).flat_map(|entry| ["·", entry.as_str()]);
    one_line(entries.iter().map(String::as_str).take(1).chain(separated))
}

/// `  'guest' (str, length 13): Goro Baptiste` as `guest: Goro Baptiste`.
fn own_dict_entry(line: &str) -> Option<String> {
    let (key, rest) = line.strip_prefix("  ")?.split_once(" (")?;
    let (_, preview) = rest.split_once("): ")?;
    Some(format!("{}: {preview}", key.trim_matches(['\'', '"'])))
}

/// `  ['guest'] (str, len=13): Goro Baptiste` as `guest: Goro Baptiste`.
fn dict_entry(line: &str) -> Option<String> {
    let (key, rest) = line.strip_prefix("  [")?.split_once("] (")?;
    let (_, preview) = rest.split_once("): ")?;
    Some(format!("{}: {preview}", key.trim_matches(['\'', '"'])))
}

/// Words of all lines with single spaces between them, cut.
fn one_line<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut task = String::new();
    let mut length = 0;
    for word in lines.flat_map(str::split_whitespace) {
        if length > 0 {
            task.push(' ');
            length += 1;
        }
        for char in word.chars() {
            if length == TASK_CUT {
                return Some(task);
            }
            task.push(char);
            length += 1;
        }
        if length >= TASK_CUT {
            break;
        }
    }
    (!task.is_empty()).then_some(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_context_is_the_task() {
        let probe = "Context type:  <class 'str'>\nContext length: 21\nContext:  go as deep\nas you can\n---\nAvailable tools: (none)";
        assert_eq!(task_of_probe(probe).unwrap(), "go as deep as you can");
    }

    #[test]
    fn a_schema_before_it_is_passed_over() {
        let probe = "Required output schema for FINAL (JSON Schema):\n{\n  \"type\": \"object\"\n}\n---\nContext type: dict\nKeys (2): ['guest', 'n']\n---\n  ['guest'] (str, len=13): Goro Baptiste\n  ['n'] (int): 3\n---\nAvailable tools: (none)";
        assert_eq!(task_of_probe(probe).unwrap(), "guest: Goro Baptiste · n: 3");
    }

    #[test]
    fn a_long_context_is_cut_and_an_unlabelled_one_is_found() {
        let probe = format!(
            "Context type:  <class 'str'>\nContext length: 9000\n{}",
            "ä".repeat(900)
        );
        assert_eq!(task_of_probe(&probe).unwrap().chars().count(), TASK_CUT);
        let part = "Context type:  <class 'str'>\nFirst 500 characters of str(context):  Find it.\n\nmore";
        assert_eq!(task_of_probe(part).unwrap(), "Find it. more");
    }

    #[test]
    fn a_probe_of_our_own_tells_the_context_alone() {
        let told = |probe: &str| task_of_probe(probe).unwrap();
        assert_eq!(
            told("context: a string of 18 characters\nlook under\nthe one\nTools: none"),
            "look under the one"
        );
        let long = format!(
            "context: a string of 2000 characters\n--- its first 500 characters:\n{}\n--- its last 500 characters:\nx",
            "ä".repeat(500)
        );
        assert_eq!(told(&long).chars().count(), TASK_CUT);
        let dict = "context: a dict with 2 keys\n  'task' (str, length 4): read\n  'n' (int): 3\nTools: none";
        assert_eq!(told(dict), "task: read · n: 3");
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(task_of_probe(""), None);
        assert_eq!(
            task_of_probe("Context type: str\nContext length: 0\nContext:  \n---\nAvailable tools: x"),
            None
        );
    }
}
