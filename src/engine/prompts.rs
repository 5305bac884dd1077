//! What the model is told: system prompts, the first message, and the message after each step. The texts are files
//! under `assets/prompts/`; what is put together here is marked by headings that scripted model servers key on.

use super::truncate::shown_output;
use serde_json::Value;

const ROOT: &str = include_str!("../../assets/prompts/root.md");
const LEAF: &str = include_str!("../../assets/prompts/leaf.md");
const SESSION: &str = include_str!("../../assets/prompts/session.md");
const GUARD: &str = include_str!("../../assets/prompts/guard.md");
const GUARD_BATCH: &str = include_str!("../../assets/prompts/guard_batch.md");

/// Stands before the caller's instruction at the end of the system prompt.
const INSTRUCTION_HEADING: &str = "Here is the user's instructions - you must follow it closely:";
/// Starts the part of the first message that is about the session.
pub(super) const SESSION_HEADING: &str = "SESSION MODE:";

/// What the prompts say of structured inputs and of schemas, and what they say where neither counts.
const STRUCTURED: [(&str, &str); 5] = [
    (
        "A string, or a dict or list when the input is structured. Look at its type and size",
        "A string, JSON text when the input is structured. Look at its size",
    ),
    (
        "A string, or a dict or list when it is structured.",
        "A string, JSON text when it is structured.",
    ),
    ("schema=None, ", ""),
    ("(any JSON-like value)", "(a string; any other value becomes JSON text)"),
    (
        " With `schema` (a JSON Schema as a dict) the value is checked against it.",
        "",
    ),
];

/// The system prompt of an agent.
pub(super) fn system_prompt(leaf: bool, session: bool, structured: bool, instruction: Option<&str>) -> String {
    let mut prompt = if leaf { LEAF } else { ROOT }.trim_end().to_owned();
    if !structured {
        prompt = STRUCTURED
            .iter()
            .fold(prompt, |prompt, (said, plain)| prompt.replace(said, plain));
    }
    if session {
        prompt.push_str("\n\n");
        prompt.push_str(SESSION.trim_end());
    }
    if let Some(instruction) = instruction {
        prompt.push_str(&format!("\n\n{INSTRUCTION_HEADING}\n{instruction}"));
    }
    prompt
}

/// The first user message: what earlier queries left, then the probe's code and its output.
pub(super) fn first_message(preamble: Option<&str>, probe_code: &str, probe_output: &str) -> String {
    let preamble = preamble.map(|text| format!("{text}\n\n")).unwrap_or_default();
    format!(
        "{preamble}A first step has run already, to show you what you have:\n```repl\n{}\n```\n\nOutput:\n\
         {probe_output}",
        probe_code.trim()
    )
}

/// The heading of the output schema in the probe's output.
pub(super) fn schema_notice(schema: &Value) -> String {
    let pretty = serde_json::to_string_pretty(schema).unwrap_or_else(|_| schema.to_string());
    format!("Required output schema for FINAL (JSON Schema):\n{pretty}\n---\n")
}

/// How many of an agent's steps are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepsLeft {
    /// Steps taken.
    pub(super) taken: u64,
    /// Steps allowed.
    pub(super) allowed: u64,
}

impl StepsLeft {
    /// The line that starts a message from half of the step budget on.
    fn banner(self) -> String {
        let left = self.allowed.saturating_sub(self.taken);
        if self.taken.saturating_mul(2) < self.allowed {
            return String::new();
        }
        match left {
            1 => format!("[1 step left of {}: call FINAL in it.]\n", self.allowed),
            _ => format!("[{left} steps left of {}.]\n", self.allowed),
        }
    }
}

/// The message after a step that ran.
pub(super) fn step_message(left: StepsLeft, output: &str, truncate_len: usize) -> String {
    format!("{}Output:\n{}", left.banner(), shown_output(output, truncate_len))
}

/// The message after a reply without code.
pub(super) fn no_code_message(left: StepsLeft) -> String {
    format!(
        "{}Your reply had no ```repl block, so nothing ran. Write the code of the next step in a ```repl block; when \
         you know the answer, call FINAL(value) in one.",
        left.banner()
    )
}

/// What the model sees when FINAL's value does not fit the schema; the REPL keeps its state.
pub(super) fn schema_rejection(errors: &[String]) -> String {
    let list: String = errors.iter().map(|error| format!("  - {error}\n")).collect();
    format!(
        "FINAL was not accepted: its value does not fit the required output schema.\n{list}Your variables are as they \
         were. Mend the value and call FINAL again."
    )
}

/// The question of the compression guard: `count` sub-agents, the largest of which would get `child` of `parent`
/// characters.
pub(super) fn guard_question(count: usize, child: usize, parent: usize) -> String {
    let share = child.saturating_mul(100).checked_div(parent).unwrap_or(100);
    let template = if count == 1 { GUARD } else { GUARD_BATCH };
    template
        .trim_end()
        .replace("{count}", &count.to_string())
        .replace("{share}", &share.to_string())
        .replace("{child}", &child.to_string())
        .replace("{parent}", &parent.to_string())
}

/// Whether the reviewer refuses: its first word is NO.
pub(super) fn guard_refuses(reply: &str) -> bool {
    let first = reply
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty());
    first.is_some_and(|word| word.eq_ignore_ascii_case("no"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_comes_last() {
        let prompt = system_prompt(false, true, true, Some("Be brief."));
        assert!(prompt.ends_with("closely:\nBe brief."));
        assert!(prompt.contains("# This session"));
        assert!(!system_prompt(true, false, true, None).contains("batch_llm_query("));
    }

    #[test]
    fn without_structured_inputs_nothing_is_said_of_them() {
        for (said, _) in STRUCTURED {
            assert!(ROOT.contains(said) || LEAF.contains(said), "{said}");
        }
        for leaf in [false, true] {
            let prompt = system_prompt(leaf, false, false, None);
            assert!(!prompt.contains("schema") && !prompt.contains("dict or list when"));
        }
    }

    #[test]
    fn steps_left_are_told_from_half_on() {
        let at = |taken| step_message(StepsLeft { taken, allowed: 10 }, "x", 10);
        assert_eq!(at(4), "Output:\n[FULL OUTPUT SHOWN]... x");
        assert_eq!(at(5), "[5 steps left of 10.]\nOutput:\n[FULL OUTPUT SHOWN]... x");
        assert!(at(9).starts_with("[1 step left of 10: call FINAL in it.]\n"));
    }

    #[test]
    fn only_a_first_word_no_refuses() {
        assert!(guard_refuses("NO - too much"));
        assert!(guard_refuses("  **No**, because"));
        assert!(!guard_refuses("YES, no doubt"));
        assert!(!guard_refuses("Not sure"));
        assert!(!guard_refuses("Nothing"));
        assert!(!guard_refuses(""));
    }

    #[test]
    fn the_guard_says_what_is_at_stake() {
        let question = guard_question(1, 8_000, 10_000);
        assert!(question.contains("80%") && question.contains("8000 of 10000"));
        assert!(guard_question(3, 1, 0).contains("100%"));
    }
}
