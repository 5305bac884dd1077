//! Finding the ends of JSON values in text that may be huge or nested very deep: iterative, and without keeping
//! anything. Accepts whatever has matching brackets; whether text is JSON at all is asked elsewhere.

use std::ops::Range;

/// A member of an object or an item of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Bytes of its key with quotes.
    pub(super) key: Option<Range<usize>>,
    /// Bytes of its value.
    pub(super) value: Range<usize>,
    /// Members of the value itself, when it is a container.
    pub(super) members: usize,
}

/// Walks the members of the container that starts at `at`.
pub(super) struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    object: bool,
}

impl<'a> Members<'a> {
    /// Of the container whose opening bracket is at `open`.
    pub(super) fn new(text: &'a str, open: usize) -> Self {
        let bytes = text.as_bytes();
        Self {
            bytes,
            at: open + 1,
            object: bytes.get(open) == Some(&b'{'),
        }
    }

    /// Goes on from a place that [`Members::position`] told.
    pub(super) fn resume(text: &'a str, at: usize, object: bool) -> Self {
        Self {
            bytes: text.as_bytes(),
            at,
            object,
        }
    }

    /// Where the next member starts.
    pub(super) fn position(&self) -> usize {
        self.at
    }
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let mut at = skip_space(self.bytes, self.at, b",");
        if matches!(self.bytes.get(at), None | Some(b'}' | b']')) {
            return None;
        }
        let key = self.object.then(|| at..value_end(self.bytes, at).0);
        if let Some(key) = &key {
            at = skip_space(self.bytes, key.end, b":");
        }
        let (end, members) = value_end(self.bytes, at);
        self.at = end;
        Some(Member {
            key,
            value: at..end,
            members,
        })
    }
}

/// First place from `at` on that is neither white space nor one of `also`.
pub(super) fn skip_space(bytes: &[u8], at: usize, also: &[u8]) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace() || also.contains(byte))
        .count()
}

/// End of the value that starts at `at`, and its number of members.
pub(super) fn value_end(bytes: &[u8], at: usize) -> (usize, usize) {
    match bytes.get(at) {
        Some(b'"') => (string_end(bytes, at), 0),
        Some(b'{' | b'[') => container_end(bytes, at),
        Some(_) => (scalar_end(bytes, at), 0),
        None => (at, 0),
    }
}

fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"');
    // At least one byte, so that damaged text cannot stop the walk.
    at + rest
        .iter()
        .take_while(|byte| !ends(byte))
        .count()
        .max(usize::from(!rest.is_empty()))
}

fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn container_end(bytes: &[u8], open: usize) -> (usize, usize) {
    let (mut at, mut depth, mut commas, mut any) = (open, 0usize, 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                any |= depth > 0;
                depth += 1;
            }
            b'}' | b']' if depth == 1 => return (at + 1, commas + usize::from(any)),
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => commas += 1,
            b'"' => {
                any = true;
                at = string_end(bytes, at);
                continue;
            }
            byte if !byte.is_ascii_whitespace() => any = true,
            _ => {}
        }
        at += 1;
    }
    (bytes.len(), commas + usize::from(any))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<(Option<&str>, &str, usize)> {
        Members::new(text, 0)
            .map(|m| {
                (
                    m.key.and_then(|key| text.get(key)),
                    text.get(m.value).unwrap(),
                    m.members,
                )
            })
            .collect()
    }

    #[test]
    fn walks_members() {
        assert_eq!(
            values(r#"{"a": [1, {"x": 2}], "b,}": "\"]", "c": {} }"#),
            [
                (Some("\"a\""), r#"[1, {"x": 2}]"#, 2),
                (Some("\"b,}\""), r#""\"]""#, 0),
                (Some("\"c\""), "{}", 0),
            ]
        );
        assert_eq!(
            values("[1,[[2]],null]"),
            [(None, "1", 0), (None, "[[2]]", 1), (None, "null", 0)]
        );
    }

    #[test]
    fn depth_is_no_danger() {
        let text = "[".repeat(200_000);
        assert_eq!(Members::new(&text, 0).count(), 1);
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "[\\[\\]{}\",:a\\\\ ]{0,40}") {
            prop_assert!(Members::new(&text, 0).count() <= text.len());
        }
    }
}
