//! Whether tokens make a Python literal, and which brackets belong together.

use super::literal_token::{Token, Tokens};

/// What a token is for in the literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Its own kind says it.
    Itself,
    /// The key of a mapping, or the name of an argument.
    Key,
    /// The name of what is called.
    Callee,
}

/// Tokens that make a literal.
#[derive(Debug)]
pub(super) struct Literal {
    /// One for each token.
    pub(super) parts: Vec<Part>,
    /// For each opening bracket the index of its closing one; `None` for others and where the text ended before.
    pub(super) closes: Vec<Option<usize>>,
    /// The text ends inside the literal.
    pub(super) torn: bool,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Frame {
    at: usize,
    bracket: u8,
    call: bool,
    /// The item already has its `:` or `=`.
    named: bool,
    /// Token at which the item starts.
    item: usize,
}

struct Check<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    frames: Vec<Frame>,
    after_value: bool,
    parts: Vec<Part>,
    closes: Vec<Option<usize>>,
}

/// Checks the tokens; `None` when they make no literal. Text that ends early is `torn`, not refused.
pub(super) fn check(text: &str, tokens: &Tokens) -> Option<Literal> {
    let count = tokens.list.len();
    let mut check = Check {
        text,
        tokens,
        frames: Vec::new(),
        after_value: false,
        parts: vec![Part::Itself; count],
        closes: vec![None; count],
    };
    for at in 0..count {
        check.token(at)?;
    }
    let torn = tokens.torn || !check.frames.is_empty() || !check.after_value;
    Some(Literal {
        parts: check.parts,
        closes: check.closes,
        torn,
    })
}

/// Names that are values.
pub(super) fn is_constant(name: &str) -> bool {
    matches!(
        name,
        "None" | "True" | "False" | "Ellipsis" | "NotImplemented" | "nan" | "inf" | "..."
    )
}

impl Check<'_> {
    fn kind(&self, at: usize) -> Option<Token> {
        self.tokens.list.get(at).map(|(token, _)| *token)
    }

    fn previous(&self, at: usize) -> Option<Token> {
        self.kind(at.checked_sub(1)?)
    }

    fn set_part(&mut self, at: usize, part: Part) {
        if let Some(slot) = self.parts.get_mut(at) {
            *slot = part;
        }
    }

    fn token(&mut self, at: usize) -> Option<()> {
        match (self.kind(at)?, self.after_value) {
            (Token::Close(close), after) => self.close(at, close, after),
            (Token::Open(bracket), false) => self.open(at, bracket, false),
            (Token::Open(bracket @ (b'(' | b'[')), true) => {
                (self.previous(at) == Some(Token::Name)).then_some(())?;
                self.set_part(at.checked_sub(1)?, Part::Callee);
                self.open(at, bracket, true)
            }
            (Token::Name, false) => self.name(at),
            (Token::String | Token::Number, false) => self.value(),
            (Token::Object, false) => (!self.frames.is_empty()).then(|| self.after_value = true),
            (Token::String, true) => (self.previous(at) == Some(Token::String)).then_some(()),
            (Token::Operator, binary) => {
                self.after_value = false;
                (!binary || !self.frames.is_empty()).then_some(())
            }
            (Token::Comma, true) => self.comma(at),
            (Token::Colon, true) => self.name_item(at, b'{'),
            (Token::Equals, true) => self.name_item(at, b'('),
            _ => None,
        }
    }

    /// A name by itself is prose, unless it is a constant or is called.
    fn name(&mut self, at: usize) -> Option<()> {
        let called = matches!(self.kind(at + 1), Some(Token::Open(b'(' | b'[')));
        let (_, bytes) = self.tokens.list.get(at)?;
        let constant = self.text.get(bytes.clone()).is_some_and(is_constant);
        (called || constant || !self.frames.is_empty()).then_some(())?;
        self.value()
    }

    fn value(&mut self) -> Option<()> {
        self.after_value = true;
        Some(())
    }

    fn open(&mut self, at: usize, bracket: u8, call: bool) -> Option<()> {
        self.frames.push(Frame {
            at,
            bracket,
            call,
            named: false,
            item: at + 1,
        });
        self.after_value = false;
        Some(())
    }

    /// A bracket closes after a value, after a comma, or directly after it opened.
    fn close(&mut self, at: usize, close: u8, after: bool) -> Option<()> {
        let frame = self.frames.pop()?;
        let fits = matches!((frame.bracket, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'));
        let previous = self.previous(at);
        let empty = matches!(previous, Some(Token::Open(_) | Token::Comma));
        (fits && (after || empty)).then_some(())?;
        if let Some(slot) = self.closes.get_mut(frame.at) {
            *slot = Some(at);
        }
        self.value()
    }

    fn comma(&mut self, at: usize) -> Option<()> {
        let frame = self.frames.last_mut()?;
        (frame.named, frame.item) = (false, at + 1);
        self.after_value = false;
        Some(())
    }

    /// `key:` in braces, `name=` in a call.
    fn name_item(&mut self, at: usize, bracket: u8) -> Option<()> {
        let frame = self.frames.last_mut()?;
        let allowed = frame.bracket == bracket && !frame.named && (bracket == b'{' || frame.call);
        allowed.then_some(())?;
        frame.named = true;
        let item = frame.item;
        if item + 1 == at {
            self.set_part(item, Part::Key);
        }
        self.after_value = false;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::literal_token::tokenize;
    use super::*;

    fn checked(text: &str) -> Option<bool> {
        check(text, &tokenize(text)?).map(|literal| literal.torn)
    }

    #[test]
    fn takes_literals_whole() {
        for text in [
            "{'a': [1, -2.5, (3,)], 'b': {1, 2}, None: set()}",
            "datetime.date(2020, 1, 1)",
            "Point(x=1, y={'a': 2})",
            "defaultdict(<class 'int'>, {'a': 1})",
            "'a' 'b'",
            "(1+2j)",
            "re.compile('x', re.I|re.M)",
            "array([1, 2], dtype=int8)",
            "[[...], {}]",
            "dict[str, int]",
        ] {
            assert_eq!(checked(text), Some(false), "{text}");
        }
    }

    #[test]
    fn what_ends_early_is_torn() {
        for text in ["{'a': 1", "{'a':", "[1, ", "{'a': 'b", "-"] {
            assert_eq!(checked(text), Some(true), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_literal() {
        for text in [
            "EpisodeRef(ep01, Chen Petrov)",
            "[1 2]",
            "(1]",
            "1, 2",
            "<class 'x'>",
            "{1: 2: 3}",
            "a: 1",
            "]",
            "hello",
            "- item",
            "1 - 2",
        ] {
            assert_eq!(checked(text), None, "{text}");
        }
    }
}
