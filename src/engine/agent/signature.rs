//! A tool's signature as a prompt shows it: a default that is a large value would stand whole in every prompt.

use crate::engine::truncate::head;

/// Characters of a default.
const MOST_OF_DEFAULT: usize = 80;
/// Characters of all of it, whatever it is made of.
const MOST: usize = 4_000;

/// The signature with long defaults cut.
pub(super) fn shown(signature: &str) -> String {
    let mut shown = Shown::default();
    signature.chars().for_each(|c| shown.take(c));
    match head(&shown.text, MOST) {
        (_, false) => shown.text,
        (text, true) => format!("{text}…"),
    }
}

/// What is shown so far, and where in Python's notation it stands.
#[derive(Default)]
struct Shown {
    text: String,
    depth: u32,
    quote: Option<char>,
    is_escaped: bool,
    /// In a default: its characters so far.
    default: Option<usize>,
}

impl Shown {
    fn take(&mut self, c: char) {
        let in_text = self.quote.is_some();
        self.text_goes_on(c);
        if !in_text {
            self.nest(c);
        }
        match &mut self.default {
            None => self.text.push(c),
            Some(length) => {
                *length += 1;
                match *length {
                    ..=MOST_OF_DEFAULT => self.text.push(c),
                    length if length == MOST_OF_DEFAULT + 1 => self.text.push('…'),
                    _ => {}
                }
            }
        }
        if !in_text && c == '=' && self.depth == 1 && self.default.is_none() {
            self.default = Some(0);
        }
    }

    /// Whether a string begins or ends here.
    fn text_goes_on(&mut self, c: char) {
        match self.quote {
            _ if self.is_escaped => self.is_escaped = false,
            Some(_) if c == '\\' => self.is_escaped = true,
            Some(quote) if c == quote => self.quote = None,
            None if matches!(c, '\'' | '"') => self.quote = Some(c),
            _ => {}
        }
    }

    /// A default ends with the comma or bracket that is not its own.
    fn nest(&mut self, c: char) {
        match c {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth == 0 || (self.depth == 1 && c == ',') {
            self.default = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_defaults_are_cut_each_for_itself() {
        let list = format!("[{}]", vec!["1"; 100_000].join(", "));
        let told = shown(&format!("(x={list}, y: int = 5, z={list}) -> str"));
        let kept: String = list.chars().take(80).collect();
        assert_eq!(told, format!("(x={kept}…, y: int = 5, z={kept}…) -> str"));
        let text = format!("'a, b) \\' {}'", "x".repeat(500));
        let kept: String = text.chars().take(80).collect();
        assert_eq!(
            shown(&format!("(x={text}, *, y=None)")),
            format!("(x={kept}…, *, y=None)")
        );
    }

    #[test]
    fn short_ones_are_shown_whole() {
        for signature in [
            "(city: str, day: str = \"today\", *, n=(1, 2), m={'a': [1]}) -> dict[str, int]",
            "()",
            "(...)",
            "(x=<object object at 0x7f>, /, y=')')",
        ] {
            assert_eq!(shown(signature), signature);
        }
        assert!(shown(&"x".repeat(100_000)).chars().count() <= MOST + 1);
    }
}
