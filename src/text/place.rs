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
    fn a_fault_is_told_in_one_line_with_its_place() {
        let text = "a = 1\nb = [\n";
        let error = toml::from_str::<toml::Table>(text).unwrap_err();
        let told = toml_fault(text, &error);
        assert!(told.starts_with("line ") && told.lines().count() == 1, "{told}");
    }
}
