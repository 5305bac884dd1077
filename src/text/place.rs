//! Places in a file, as editors name them.

/// Line and column, both from 1 and in characters, of a byte of a text; a byte behind its end is its end.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let byte = (0..=byte.min(text.len()))
        .rev()
        .find(|byte| text.is_char_boundary(*byte));
    let before = text.get(..byte.unwrap_or(0)).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// What is wrong with a TOML text and where, in one line.
pub fn toml_fault(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    match error.span() {
        Some(span) => {
            let (line, column) = line_and_column(text, span.start);
            format!("line {line}, column {column}: {message}")
        }
        None => message,
    }
}

/// What is wrong and where, of a message that goes on with a picture of the place.
pub fn without_picture(message: &str) -> &str {
    let first = message.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first)
}

/// What is wrong of JSON or YAML, in words of the text and not of its reader: that it nests deeper than is read.
pub fn parse_fault(message: &str) -> String {
    const YAML: &str = "budget breached: Depth { depth: ";
    let told = |levels: usize| format!("it nests more than {levels} levels deep (flatten it)");
    if let Some((before, rest)) = message.split_once(YAML)
        && let Some((depth, after)) = rest.split_once(" }")
        && let Ok(depth) = depth.parse::<usize>()
    {
        return format!("{before}{}{after}", told(depth.saturating_sub(1)));
    }
    // serde_json takes 128 levels, the value within them being one.
    message.replacen("recursion limit exceeded", &told(127), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_by_characters() {
        let text = "one\nzwö|\nend";
        let places = [0, 3, 4, 8, 9, 99].map(|byte| line_and_column(text, byte));
        assert_eq!(places, [(1, 1), (1, 4), (2, 1), (2, 4), (2, 5), (3, 4)]);
        assert_eq!(line_and_column(text, 7), (2, 3), "inside a character");
    }

    #[test]
    fn too_deep_a_text_is_told_in_its_own_words() {
        for depth in [127, 128] {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            let json =
                serde_json::from_str::<serde_json::Value>(&text).map_err(|error| parse_fault(&error.to_string()));
            match json {
                Ok(_) => assert_eq!(depth, 127),
                Err(told) => {
                    let wanted = "it nests more than 127 levels deep (flatten it) at line 1 column 128";
                    assert_eq!((depth, told.as_str()), (128, wanted));
                }
            }
        }
        let yaml = "line 1 column 65: budget breached: Depth { depth: 65 }";
        let wanted = "line 1 column 65: it nests more than 64 levels deep (flatten it)";
        assert_eq!(parse_fault(yaml), wanted);
        assert_eq!(parse_fault("expected value at line 1"), "expected value at line 1");
    }

    #[test]
    fn a_fault_is_told_in_one_line_with_its_place() {
        let text = "a = 1\nb = [\n";
        let error = toml::from_str::<toml::Table>(text).unwrap_err();
        let told = toml_fault(text, &error);
        assert!(told.starts_with("line ") && told.lines().count() == 1, "{told}");
    }
}
