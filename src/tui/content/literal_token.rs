//! Tokens of Python literals, as `repr` writes them.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `(`, `[` or `{`.
    Open(u8),
    /// `)`, `]` or `}`.
    Close(u8),
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `=`
    Equals,
    /// `-`, `+`, `|`, `~`.
    Operator,
    /// A string or bytes, with prefix and quotes.
    String,
    /// A number.
    Number,
    /// A name, dotted or not, and `...`.
    Name,
    /// `<…>`: the repr of an object that is no literal.
    Object,
}

/// Tokens with their places, and whether the text ends inside the last one.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<(Token, Range<usize>)>,
    pub(super) torn: bool,
}

/// Splits `text` into tokens; `None` when something in it is no part of any literal.
pub(super) fn tokenize(text: &str) -> Option<Tokens> {
    let bytes = text.as_bytes();
    let mut tokens = Tokens::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let (token, len, torn) = next(rest)?;
        tokens.list.push((token, at..at + len));
        tokens.torn = torn;
        at += len;
    }
    Some(tokens)
}

/// The token at the start of `rest`, its length, and whether the text ended inside it.
fn next(rest: &[u8]) -> Option<(Token, usize, bool)> {
    let one = |token| Some((token, 1, false));
    match *rest.first()? {
        open @ (b'(' | b'[' | b'{') => one(Token::Open(open)),
        close @ (b')' | b']' | b'}') => one(Token::Close(close)),
        b',' => one(Token::Comma),
        b':' => one(Token::Colon),
        b'=' => one(Token::Equals),
        b'-' | b'+' | b'|' | b'~' => one(Token::Operator),
        b'<' => Some(object(rest)),
        b'.' if rest.starts_with(b"...") => Some((Token::Name, 3, false)),
        b'0'..=b'9' | b'.' => Some((Token::Number, number_len(rest), false)),
        b'\'' | b'"' => Some(string(rest, 0)),
        _ => word(rest),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80
}

/// A name, or a string with a prefix (`b'…'`).
fn word(rest: &[u8]) -> Option<(Token, usize, bool)> {
    let len = rest.iter().take_while(|&&byte| is_word(byte)).count();
    let prefixed = len <= 2 && matches!(rest.get(len), Some(b'\'' | b'"'));
    if prefixed {
        return Some(string(rest, len));
    }
    (len > 0).then_some((Token::Name, len, false))
}

/// A string that opens after `prefix` bytes.
fn string(rest: &[u8], prefix: usize) -> (Token, usize, bool) {
    let quote = rest.get(prefix).copied();
    let mut at = prefix + 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if Some(byte) == quote => return (Token::String, at + 1, false),
            _ => at += 1,
        }
    }
    (Token::String, rest.len(), true)
}

/// Digits, letters (hex, exponents, `j`), and the sign of an exponent.
fn number_len(rest: &[u8]) -> usize {
    let hex = rest.starts_with(b"0x") || rest.starts_with(b"0X");
    let mut len = 0;
    while let Some(&byte) = rest.get(len) {
        let after_e = len > 0 && !hex && matches!(rest.get(len - 1), Some(b'e' | b'E'));
        if is_word(byte) || (after_e && matches!(byte, b'+' | b'-')) {
            len += 1;
        } else {
            break;
        }
    }
    len
}

/// `<…>` with nested pairs. A `>` inside quotes inside it is rare and only ends it early.
fn object(rest: &[u8]) -> (Token, usize, bool) {
    let mut depth = 0usize;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 1 => return (Token::Object, at + 1, false),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    (Token::Object, rest.len(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(Token, &str)> {
        let tokens = tokenize(text).unwrap();
        tokens
            .list
            .iter()
            .map(|(token, at)| (*token, text.get(at.clone()).unwrap()))
            .collect()
    }

    #[test]
    fn reads_what_repr_writes() {
        use Token::*;
        assert_eq!(
            words("b'\\'' 1e-5 -0x1f"),
            [(String, "b'\\''"), (Number, "1e-5"), (Operator, "-"), (Number, "0x1f"),]
        );
        assert_eq!(
            words("[<f at <x>>, ...]"),
            [
                (Open(b'['), "["),
                (Object, "<f at <x>>"),
                (Comma, ","),
                (Name, "..."),
                (Close(b']'), "]"),
            ]
        );
    }

    #[test]
    fn ends_inside_a_string_or_object_are_torn() {
        assert!(tokenize("['abc").unwrap().torn);
        assert!(tokenize("['abc\\").unwrap().torn);
        assert!(tokenize("[<gener").unwrap().torn);
        assert!(!tokenize("['abc'").unwrap().torn);
    }

    #[test]
    fn other_signs_are_no_literal() {
        assert!(tokenize("a ? b").is_none());
        assert!(tokenize("5 * 5").is_none());
    }
}
