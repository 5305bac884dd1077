//! Whether a FINAL or an output is JSON, Markdown or plain text. Conservative: plain text taken for Markdown loses
//! its layout, Markdown taken for plain text loses nothing.

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A JSON object or array.
    Json,
    /// Markdown.
    Markdown,
    /// Anything else.
    Plain,
}

/// Longer texts are not checked for JSON.
const MAX_JSON: usize = 16 * 1024 * 1024;
/// Longer texts are shown plain.
const MAX_MARKDOWN: usize = 512 * 1024;
/// Lines that are looked at for signs of Markdown.
const MAX_LINES: usize = 400;

/// The form of a text.
pub fn form_of(text: &str) -> Form {
    if is_json(text) {
        Form::Json
    } else if text.len() <= MAX_MARKDOWN && is_markdown(text) {
        Form::Markdown
    } else {
        Form::Plain
    }
}

/// An object or an array, whole; numbers and strings gain nothing from a tree. `RawValue` checks without recursion.
fn is_json(text: &str) -> bool {
    let trimmed = text.trim();
    let brackets = (trimmed.bytes().next(), trimmed.bytes().last());
    matches!(brackets, (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
        && trimmed.len() > 2
        && trimmed.len() <= MAX_JSON
        && serde_json::from_str::<&serde_json::value::RawValue>(trimmed).is_ok()
}

/// Signs of Markdown that were seen.
#[derive(Default)]
struct Signs {
    headings: usize,
    fences: usize,
    items: usize,
    rules: usize,
    strong: usize,
    links: usize,
    tables: usize,
    /// Lines that no one writes in Markdown: prompts, tracebacks, columns of figures.
    against: usize,
}

fn is_markdown(text: &str) -> bool {
    let mut signs = Signs::default();
    let mut blank_before = true;
    for line in text.lines().take(MAX_LINES) {
        signs.line(line, blank_before);
        blank_before = line.trim().is_empty();
    }
    signs.say_so()
}

impl Signs {
    fn line(&mut self, line: &str, blank_before: bool) {
        let trimmed = line.trim();
        self.headings += usize::from(blank_before && is_heading(line));
        self.fences += usize::from(trimmed.starts_with("```"));
        self.items += usize::from(is_item(trimmed));
        self.rules += usize::from(blank_before && matches!(trimmed, "---" | "***" | "___"));
        self.strong += usize::from(has_strong(trimmed));
        self.links += usize::from(trimmed.contains("](http"));
        self.tables += usize::from(is_table_rule(trimmed));
        let foreign =
            trimmed.starts_with("Traceback (") || trimmed.starts_with(">>> ") || trimmed.starts_with("File \"");
        self.against += usize::from(foreign);
    }

    /// One strong sign (a closed fence, a table, two headings), or two different weak ones.
    fn say_so(&self) -> bool {
        let sure = self.fences >= 2 || self.tables > 0 || self.headings >= 2;
        let weak = [
            self.headings > 0,
            self.items >= 2,
            self.strong > 0,
            self.links > 0,
            self.rules > 0,
        ];
        self.against == 0 && (sure || weak.into_iter().filter(|seen| *seen).count() >= 2)
    }
}

/// `## Text`: up to six signs, one space, a letter or a digit or emphasis; not `#!` or `# ----`.
fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let text = rest.strip_prefix(' ').and_then(|text| text.chars().next());
    (1..=6).contains(&level) && text.is_some_and(|c| c.is_alphanumeric() || matches!(c, '*' | '`' | '"'))
}

/// `- text`, `* text`, `1. text`.
fn is_item(line: &str) -> bool {
    let bullet = line.strip_prefix("- ").or(line.strip_prefix("* "));
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (number.len() < line.len()).then(|| number.strip_prefix(". ")).flatten();
    bullet
        .or(numbered)
        .is_some_and(|text| text.starts_with(|c: char| !c.is_whitespace() && c != '-'))
}

/// `**words**` that hug their signs.
fn has_strong(line: &str) -> bool {
    let mut parts = line.split("**").skip(1);
    let inner = parts.next().unwrap_or_default();
    parts.next().is_some() && !inner.is_empty() && inner.trim() == inner && inner.contains(char::is_alphabetic)
}

/// `|---|:--|`: the line below a table's header.
fn is_table_rule(line: &str) -> bool {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    line.starts_with('|')
        && !cells.is_empty()
        && cells
            .iter()
            .all(|cell| cell.contains("--") && cell.chars().all(|c| matches!(c, '-' | ':')))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::object(r#"{"a": 1}"#, Form::Json)]
    #[case::spaced(" [1, 2]\n", Form::Json)]
    #[case::torn(r#"{"a": 1"#, Form::Plain)]
    #[case::python("{'a': 1}", Form::Plain)]
    #[case::empty("{}", Form::Plain)]
    #[case::number("42", Form::Plain)]
    #[case::headings("# Result\n\ntext\n\n## More\n", Form::Markdown)]
    #[case::list_and_strong("**Answer**\n\n- one\n- two\n", Form::Markdown)]
    #[case::fence("Look:\n```python\nx = 1\n```\n", Form::Markdown)]
    #[case::table("| a | b |\n|---|---|\n| 1 | 2 |", Form::Markdown)]
    #[case::prose("7 guests expect it sooner.\n- Mira: sooner\n- Tala: later", Form::Plain)]
    #[case::comments("# x\nprint(1)\n# y", Form::Plain)]
    #[case::powers("2**3 and 4**5 = 6", Form::Plain)]
    #[case::traceback("# A\n\n# B\nTraceback (most recent call last):", Form::Plain)]
    #[case::dashes("a\n-----\nb", Form::Plain)]
    fn tells_forms_apart(#[case] text: &str, #[case] form: Form) {
        assert_eq!(form_of(text), form);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(form_of(&deep), Form::Json);
    }
}
