//! Python code as logical lines of tokens: enough to find what a statement binds, forgiving with code that is no
//! Python. Nothing recurses: f-strings nest on a stack.

/// A token; whitespace and comments are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Identifiers and keywords.
    Name(&'a str),
    /// Operators and delimiters.
    Op(&'a str),
    /// A string with its prefix and quotes.
    Text(&'a str),
    /// A number.
    Number(&'a str),
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Name(text) | Self::Op(text) if *text == word)
    }
}

/// One logical line: what brackets and backslashes join is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogicalLine<'a> {
    /// Column of its first token; tabs go to columns of 8.
    pub(super) indent: usize,
    pub(super) tokens: Vec<Token<'a>>,
}

/// Operators of more than one character that matter here: those with `=`, and `:=`.
const LONG_OPS: [&str; 20] = [
    "**=", "//=", ">>=", "<<=", "...", ":=", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "@=",
];

/// Iterates over the logical lines of a text of code.
pub(super) struct LogicalLines<'a> {
    rest: &'a str,
}

impl<'a> LogicalLines<'a> {
    pub(super) fn new(code: &'a str) -> Self {
        Self { rest: code }
    }

    /// Splits off the first `bytes` bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = tail;
        head
    }

    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(|c| !accepts(c)).unwrap_or(self.rest.len()))
    }

    fn indent(&mut self) -> usize {
        let blank = self.take_while(|c| matches!(c, ' ' | '\t' | '\u{C}'));
        blank.chars().fold(0, |column, c| match c {
            '\t' => (column / 8 + 1) * 8,
            '\u{C}' => 0,
            _ => column + 1,
        })
    }

    fn token(&mut self, first: char) -> Token<'a> {
        if let Some(len) = string_len(self.rest) {
            return Token::Text(self.take(len));
        }
        if first.is_ascii_digit() {
            return Token::Number(self.take_while(|c| is_name_char(c) || c == '.'));
        }
        if is_name_char(first) {
            return Token::Name(self.take_while(is_name_char));
        }
        let long = LONG_OPS.iter().find(|op| self.rest.starts_with(**op));
        Token::Op(self.take(long.map_or(first.len_utf8(), |op| op.len())))
    }
}

impl<'a> Iterator for LogicalLines<'a> {
    type Item = LogicalLine<'a>;

    fn next(&mut self) -> Option<LogicalLine<'a>> {
        let mut line = LogicalLine {
            indent: self.indent(),
            tokens: Vec::new(),
        };
        let mut open = 0_usize;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\n' | '\r' => {
                    self.take(1);
                    if open == 0 && !line.tokens.is_empty() {
                        return Some(line);
                    }
                    if line.tokens.is_empty() {
                        line.indent = self.indent();
                    }
                }
                '#' => {
                    self.take_while(|c| c != '\n');
                }
                '\\' => {
                    self.take(1);
                    self.take_while(|c| c == '\r');
                    self.rest = self.rest.strip_prefix('\n').unwrap_or(self.rest);
                }
                c if c.is_whitespace() => {
                    self.take(c.len_utf8());
                }
                c => {
                    match c {
                        '(' | '[' | '{' => open += 1,
                        ')' | ']' | '}' => open = open.saturating_sub(1),
                        _ => {}
                    }
                    let token = self.token(c);
                    line.tokens.push(token);
                }
            }
        }
        (!line.tokens.is_empty()).then_some(line)
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && !c.is_whitespace())
}

/// Where a scan of a string is.
enum Inside {
    /// Its text.
    Text { quote: &'static str, fields: bool },
    /// A replacement field of an f-string, with brackets open in it.
    Field(usize),
    /// The format of a field, where quotes are plain characters.
    Format,
}

/// Bytes of the string literal that `code` begins with, if it does. One that never ends reaches to the end of its
/// line, or, in triple quotes, of the code.
fn string_len(code: &str) -> Option<usize> {
    let (opening, string) = opening(code)?;
    let mut stack = vec![string];
    let mut at = opening;
    while let Some(inside) = stack.last_mut() {
        let rest = code.get(at..).unwrap_or_default();
        let Some(c) = rest.chars().next() else {
            break;
        };
        let mut step = c.len_utf8();
        match inside {
            Inside::Text { quote, .. } if rest.starts_with(*quote) => {
                step = quote.len();
                stack.pop();
            }
            Inside::Text { quote, .. } if c == '\n' && quote.len() == 1 => break,
            Inside::Text { .. } if c == '\\' => step += rest.chars().nth(1).map_or(0, char::len_utf8),
            Inside::Text { fields: true, .. } if rest.starts_with("{{") => step = 2,
            Inside::Text { fields: true, .. } if c == '{' => stack.push(Inside::Field(0)),
            Inside::Text { .. } => {}
            Inside::Format if c == '{' => stack.push(Inside::Field(0)),
            Inside::Format if c == '}' => drop(stack.pop()),
            Inside::Format => {}
            Inside::Field(open) => match c {
                '(' | '[' | '{' => *open += 1,
                '}' if *open == 0 => drop(stack.pop()),
                ')' | ']' | '}' => *open = open.saturating_sub(1),
                ':' if *open == 0 => *inside = Inside::Format,
                _ => {
                    if let Some((len, string)) = self::opening(rest) {
                        step = len;
                        stack.push(string);
                    }
                }
            },
        }
        at += step;
    }
    Some(at)
}

/// The prefix and quotes that a string begins with: their length, and what they open.
fn opening(code: &str) -> Option<(usize, Inside)> {
    let prefix = code.bytes().take(3).take_while(u8::is_ascii_alphabetic).count();
    let (letters, rest) = code.split_at_checked(prefix)?;
    let has = |wanted: char| letters.chars().any(|c| c.eq_ignore_ascii_case(&wanted));
    if !letters.bytes().all(|byte| b"rRbBfFuUtT".contains(&byte)) {
        return None;
    }
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| rest.starts_with(quote))?;
    let fields = has('f') || has('t');
    Some((prefix + quote.len(), Inside::Text { quote, fields }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(code: &str) -> Vec<(usize, usize)> {
        LogicalLines::new(code)
            .map(|line| (line.indent, line.tokens.len()))
            .collect()
    }

    #[test]
    fn strings_are_one_token() {
        for text in [
            "'a # b'",
            "r'\\'' ",
            "\"\"\"a\n'''\n\"b\"\"\"",
            "f\"{d['k']} {{ } {x!r:'>{width}} {f'{1}'}\"",
            "f\"{d[\"k\"]}\"",
            "rb'x'",
        ] {
            let text = text.trim();
            assert_eq!(string_len(text), Some(text.len()), "{text}");
        }
        assert_eq!(string_len("'open\nx = 1"), Some(5));
        assert_eq!(string_len("name"), None);
    }

    #[test]
    fn brackets_and_backslashes_join_lines() {
        assert_eq!(
            shape("x = [1,\n  2]\n\ny = \\\n  3\n  # note\n\tz"),
            [(0, 7), (0, 3), (8, 1)]
        );
    }
}
