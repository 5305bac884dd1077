//! Strings and comments of Python, line by line: the linear scan behind the highlighter.
//!
//! Knows just enough to tell what lies inside strings, so that long lines can be squeezed before the highlighter
//! sees them and text beyond its budget still gets its most telling colours.

use std::ops::Range;

use crate::tui::theme::Role;

/// What a line starts inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Inside {
    /// Code.
    #[default]
    Code,
    /// A triple-quoted string with this quote.
    Triple(u8),
}

impl Inside {
    /// The quotes that open, or close, what it is inside of.
    pub(super) fn quotes(self) -> &'static str {
        match self {
            Inside::Code => "",
            Inside::Triple(b'"') => "\"\"\"",
            Inside::Triple(_) => "'''",
        }
    }
}

/// A stretch of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) bytes: Range<usize>,
    /// [`Role::CodeString`], [`Role::CodeComment`] or [`Role::Text`].
    pub(super) role: Role,
}

/// Splits a line into strings, comments and code; what the next line starts inside of.
pub(super) fn scan(line: &str, inside: Inside) -> (Vec<Stretch>, Inside) {
    let mut stretches = Vec::new();
    let after = each(line, inside, |stretch| stretches.push(stretch));
    (stretches, after)
}

/// What the line after this one starts inside of.
pub(super) fn after(line: &str, inside: Inside) -> Inside {
    each(line, inside, drop)
}

fn each(line: &str, mut inside: Inside, mut take: impl FnMut(Stretch)) -> Inside {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (end, role) = match inside {
            Inside::Triple(quote) => {
                let (end, closed) = triple_end(bytes, at, quote);
                inside = if closed { Inside::Code } else { inside };
                (end, Role::CodeString)
            }
            Inside::Code => match bytes.get(at) {
                Some(b'#') => (bytes.len(), Role::CodeComment),
                Some(&quote @ (b'\'' | b'"')) if bytes.get(at..at + 3) == Some(&[quote; 3]) => {
                    let (end, closed) = triple_end(bytes, at + 3, quote);
                    inside = if closed { inside } else { Inside::Triple(quote) };
                    (end, Role::CodeString)
                }
                Some(&quote @ (b'\'' | b'"')) => (string_end(bytes, at + 1, quote), Role::CodeString),
                _ => (code_end(bytes, at), Role::Text),
            },
        };
        take(Stretch { bytes: at..end, role });
        at = end;
    }
    inside
}

fn code_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + memchr::memchr3(b'#', b'\'', b'"', rest).unwrap_or(rest.len())
}

fn string_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(found) = memchr::memchr2(quote, b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&quote) {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Where a triple-quoted string ends in this line, and whether it does.
fn triple_end(bytes: &[u8], mut at: usize, quote: u8) -> (usize, bool) {
    while let Some(found) = memchr::memchr2(quote, b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'\\') {
            at += 2;
        } else if bytes.get(at..at + 3) == Some(&[quote; 3]) {
            return (at + 3, true);
        } else {
            at += 1;
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(line: &str, inside: Inside) -> (Vec<(&str, Role)>, Inside) {
        let (stretches, after) = scan(line, inside);
        (
            stretches
                .into_iter()
                .map(|s| (line.get(s.bytes).unwrap(), s.role))
                .collect(),
            after,
        )
    }

    #[test]
    fn strings_and_comments_are_told_apart() {
        let (parts, after) = split("x = 'a#\\'' # 'c", Inside::Code);
        assert_eq!(
            parts,
            [
                ("x = ", Role::Text),
                ("'a#\\''", Role::CodeString),
                (" ", Role::Text),
                ("# 'c", Role::CodeComment),
            ]
        );
        assert_eq!(after, Inside::Code);
    }

    #[test]
    fn triple_quotes_reach_over_lines() {
        let (_, inside) = split("x = '''a", Inside::Code);
        assert_eq!(inside, Inside::Triple(b'\''));
        let (parts, after) = split("b \"\"\" ''' + 1", inside);
        assert_eq!(parts, [("b \"\"\" '''", Role::CodeString), (" + 1", Role::Text)]);
        assert_eq!(after, Inside::Code);
    }

    proptest! {
        #[test]
        fn covers_every_line(line in "[a'\"#\\\\é ]{0,30}") {
            for inside in [Inside::Code, Inside::Triple(b'"')] {
                let (stretches, _) = scan(&line, inside);
                let joined: String = stretches.iter().map(|s| line.get(s.bytes.clone()).unwrap()).collect();
                prop_assert_eq!(joined, line.clone());
            }
        }
    }
}
