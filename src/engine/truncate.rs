//! What a model sees of a step's output: the last characters, marked full, truncated or empty.

/// Mark of an output that is shown whole. The wording is the transcripts' (session-format, compatibility).
pub(super) const FULL: &str = "[FULL OUTPUT SHOWN]... ";
/// Mark of a step that printed nothing.
pub(super) const EMPTY: &str = "[EMPTY OUTPUT]";

/// Numbers of characters to which texts are cut before anybody looks for secrets in them: previews and comments, which
/// the REPL cuts, and tasks and heads of results.
pub(super) const CUTS: [usize; 3] = [2_000, 500, 200];

/// `output` as the next message and the transcript show it: marked, and cut to its last `limit` characters.
pub(super) fn shown_output(output: &str, limit: usize) -> String {
    if output.is_empty() {
        return EMPTY.to_owned();
    }
    match tail(output, limit) {
        None => format!("{FULL}{output}"),
        Some(tail) => format!("[TRUNCATED: Last {limit} chars shown].. {tail}"),
    }
}

/// The last `limit` characters, or `None` when there are no more than that.
fn tail(text: &str, limit: usize) -> Option<&str> {
    // Bytes are never fewer than characters: most outputs are settled without counting.
    if text.len() <= limit {
        return None;
    }
    let Some(start) = limit.checked_sub(1) else {
        return Some("");
    };
    let (at, _) = text.char_indices().rev().nth(start)?;
    (at > 0).then(|| text.get(at..)).flatten()
}

/// The first `limit` characters of `text`, and whether anything was cut.
pub(super) fn head(text: &str, limit: usize) -> (&str, bool) {
    match text.char_indices().nth(limit) {
        None => (text, false),
        Some((at, _)) => (text.get(..at).unwrap_or(text), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_say_what_is_shown() {
        assert_eq!(shown_output("", 5), "[EMPTY OUTPUT]");
        assert_eq!(shown_output("12345", 5), "[FULL OUTPUT SHOWN]... 12345");
        assert_eq!(shown_output("123456", 5), "[TRUNCATED: Last 5 chars shown].. 23456");
    }

    #[test]
    fn characters_count_not_bytes() {
        assert_eq!(shown_output("日本語", 3), "[FULL OUTPUT SHOWN]... 日本語");
        assert_eq!(shown_output("日本語", 2), "[TRUNCATED: Last 2 chars shown].. 本語");
        assert_eq!(shown_output("日", 0), "[TRUNCATED: Last 0 chars shown].. ");
    }

    #[test]
    fn heads() {
        assert_eq!(head("日本語", 2), ("日本", true));
        assert_eq!(head("ab", 2), ("ab", false));
    }
}
