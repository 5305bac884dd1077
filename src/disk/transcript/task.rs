//! What an agent was given to do, from its probe: the step 0 that prints the context.
//!
//! Existing programs and our own engine print the context's type and length, then its text or the start of it, or, for a
//! dict, its keys each with a preview; a schema may stand before and the tools after. The first line of the context itself
//! tells the task.

/// Characters that are kept.
const TASK_CUT: usize = 200;
/// Labels before the text of the context, when it is printed whole or in part.
const CONTEXT_LABELS: [&str; 2] = ["Context:", "First 500 characters of str(context):"];
/// Keys of a dict under which the task itself stands: their names would tell nothing.
const TASK_KEYS: [&str; 8] = [
    "task",
    "query",
    "question",
    "instruction",
    "instructions",
    "prompt",
    "goal",
    "input",
];
/// What is printed about the context, or beside it.
const ABOUT: [&str; 7] = [
    "context: a ",
    "Context type",
    "Context length",
    "Keys (",
    "---",
    "[FULL OUTPUT SHOWN]",
    "[TRUNCATED",
];
/// Our engine's line before the text of a string, and its line before the start of a long one.
const STRING: &str = "context: a string of ";
const START: &str = "--- its first ";
/// Sections that end at the next rule.
const OTHER_SECTIONS: [&str; 3] = ["Required output schema", "Available tools", "SESSION MODE"];

/// The task in one line, cut at 200 characters; `None` when the probe shows nothing of it.
pub(super) fn task_of_probe(output: &str) -> Option<String> {
    let mut skipping = false;
    let mut lines = output.lines().peekable();
    let mut entries: Vec<String> = Vec::new();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        skipping = (skipping && trimmed != "---") || OTHER_SECTIONS.iter().any(|label| trimmed.starts_with(label));
        if skipping || trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with(STRING) {
            lines.next_if(|line| line.starts_with(START));
            return one_line(lines.take_while(|line| !ends_text(line)));
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

/// Whether a line of our engine's probe is behind the text of the context.
fn ends_text(line: &str) -> bool {
    line.starts_with("---") || OTHER_SECTIONS.iter().any(|label| line.starts_with(label))
}

/// `  ['guest'] (str, len=13): Goro Baptiste`, or `  'guest' (str, length 13): …`, as `guest: Goro Baptiste`; a task
/// without its key.
fn dict_entry(line: &str) -> Option<String> {
    let entry = line.strip_prefix("  ")?;
    let (key, rest) = match entry.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once("] (")?,
        None if entry.starts_with(['\'', '"']) => entry.split_once(" (")?,
        None => return None,
    };
    let (_, preview) = rest.split_once("): ")?;
    let key = key.trim_matches(['\'', '"']);
    let names_nothing = TASK_KEYS.iter().any(|known| known.eq_ignore_ascii_case(key));
    Some(match names_nothing {
        true => preview.to_owned(),
        false => format!("{key}: {preview}"),
    })
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
    fn a_key_that_says_task_is_left_out() {
        let probe = "Context type: dict\nKeys (2): ['task', 'file']\n---\n  ['task'] (str, len=9): Count it.\n  ['file'] (str, len=1): a\n---";
        assert_eq!(task_of_probe(probe).unwrap(), "Count it. · file: a");
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
    fn probes_of_our_own_engine_are_read_too() {
        let short = "context: a string of 9 characters\nDo\n\nthis!\n\nSESSION MODE: what you bind here is kept";
        assert_eq!(task_of_probe(short).unwrap(), "Do this!");
        let long = "context: a string of 5000 characters\n--- its first 500 characters:\nDo this\n--- its last 500 characters:\nx";
        assert_eq!(task_of_probe(long).unwrap(), "Do this");
        let dict = "Required output schema for FINAL (JSON Schema):\n{}\n---\ncontext: a dict with 2 keys\n  'task' (str, length 5): Do it\n  'n' (int): 3\n---\nTools (1), callable by name:\n  f()";
        assert_eq!(task_of_probe(dict).unwrap(), "Do it · n: 3");
        assert_eq!(task_of_probe("context: a string of 0 characters\n"), None);
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
