//! Values of unknown shape: past them, small ones as they are, others as compact JSON text. Depth costs a bit a level.

use std::cell::RefCell;

use super::{Clip, Clipped, Fault, Input, Scanner};

/// Levels that may be open at a time: a bit each.
const DEEPEST: usize = 1 << 28;
/// Levels that programs which read the text as JSON can take.
const READABLE_DEPTH: usize = 120;
/// Bytes of a number or word that are kept.
const WORD_CAP: usize = 4096;

/// A value as far as headers need it; texts last until the scanner goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Anything else without quotes; a number, when all is well.
    Number(&'a str),
    /// A decoded string.
    Text(&'a str),
    /// An array or object; it was skipped.
    Nested,
}

/// A value's text, as compact JSON.
#[derive(Debug)]
pub(crate) struct Captured {
    /// Its text; cut with a mark where it was too long.
    pub(crate) text: String,
    /// It is whole, valid JSON, and not too deep for others to read.
    pub(crate) sound: bool,
}

/// Which brackets are open, a bit each.
#[derive(Default)]
struct Open {
    bits: Vec<u64>,
    depth: usize,
    deepest: usize,
}

impl Open {
    fn push(&mut self, object: bool) -> bool {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if self.bits.len() <= word {
            self.bits.push(0);
        }
        if let Some(bits) = self.bits.get_mut(word) {
            *bits = (*bits & !(1 << bit)) | (u64::from(object) << bit);
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.depth < DEEPEST
    }

    /// Closes the innermost bracket, if it is one of that kind.
    fn pop(&mut self, object: bool) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else {
            return false;
        };
        self.depth = depth;
        let bits = self.bits.get(depth / 64).copied().unwrap_or_default();
        (bits >> (depth % 64)) & 1 == u64::from(object)
    }
}

impl<I: Input> Scanner<I> {
    /// Goes past a value of any shape.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        if self.peek()? == Some(b'"') {
            return self.skip_string().map(drop);
        }
        self.walk(|_| {}).map(drop)
    }

    /// Goes past a value of any shape, and hands out its text: of a string decoded, else as compact JSON.
    pub(crate) fn pieces(&mut self, piece: impl Fn(&[u8])) -> Result<(), Fault> {
        match self.peek()? {
            Some(b'"') => self.decode(piece),
            _ => self.walk(piece).map(drop),
        }
    }

    /// A value of any shape as compact JSON; at most `cap` bytes of it, then a mark.
    pub(crate) fn capture(&mut self, cap: usize) -> Result<Captured, Fault> {
        let clip = RefCell::new(Clip::head(cap));
        let deepest = self.walk(|piece| clip.borrow_mut().push(piece))?;
        let clip = clip.into_inner();
        let Clipped { text, repaired, cut } = clip.into_text();
        self.repairs.utf8 |= repaired;
        let valid = || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        let sound = !cut && deepest <= READABLE_DEPTH && valid();
        Ok(Captured { text, sound })
    }

    /// A small value; strings are cut at `cap` bytes, arrays and objects are skipped.
    pub(crate) fn value(&mut self, cap: usize) -> Result<Value<'_>, Fault> {
        match self.peek()? {
            None => Err(self.unexpected(None, "a value")),
            Some(b'"') => {
                self.text_into_scratch(cap)?;
                Ok(Value::Text(self.scratch_text()))
            }
            Some(b'{' | b'[') => {
                self.walk(|_| {})?;
                Ok(Value::Nested)
            }
            Some(_) => {
                self.word()?;
                Ok(match self.scratch_text() {
                    "null" => Value::Null,
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    other => Value::Number(other),
                })
            }
        }
    }

    fn scratch_text(&mut self) -> &str {
        if std::str::from_utf8(&self.scratch).is_err() {
            self.repairs.utf8 = true;
            self.scratch = String::from_utf8_lossy(&self.scratch).into_owned().into_bytes();
        }
        std::str::from_utf8(&self.scratch).unwrap_or_default()
    }

    /// A number or word into the scratch buffer.
    fn word(&mut self) -> Result<(), Fault> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let start = self.position();
        loop {
            let window = self.input.window()?;
            let end = window.iter().position(|byte| !is_word(*byte));
            let length = end.unwrap_or(window.len());
            let room = WORD_CAP.saturating_sub(scratch.len());
            scratch.extend(window.iter().take(length.min(room)));
            let last = end.is_some() || window.is_empty();
            self.input.consume(length);
            if last {
                break;
            }
        }
        self.scratch = scratch;
        if self.position() == start {
            return Err(self.unexpected(Some(0), "a value"));
        }
        Ok(())
    }

    /// Goes past a value, token by token, and hands out its text without whitespace; how deep it nests.
    fn walk(&mut self, piece: impl Fn(&[u8])) -> Result<usize, Fault> {
        let mut open = Open::default();
        loop {
            let byte = self.peek()?;
            match byte {
                Some(b'"') => self.raw_string(&piece)?,
                Some(bracket @ (b'{' | b'[')) => {
                    self.input.consume(1);
                    piece(&[bracket]);
                    if !open.push(bracket == b'{') {
                        return Err(self.unexpected(byte, "less nesting"));
                    }
                }
                Some(bracket @ (b'}' | b']')) => {
                    if !open.pop(bracket == b'}') {
                        return Err(self.unexpected(byte, "the bracket that is open"));
                    }
                    self.input.consume(1);
                    piece(&[bracket]);
                }
                Some(mark @ (b',' | b':')) if open.depth > 0 => {
                    self.input.consume(1);
                    piece(&[mark]);
                }
                Some(_) => {
                    self.word()?;
                    piece(&self.scratch);
                }
                None => return Err(self.unexpected(None, "a value")),
            }
            if open.depth == 0 {
                return Ok(open.deepest);
            }
        }
    }
}

/// Bytes of numbers, of `true`, `false`, `null`, and of what other writers put there (`NaN`, `-Infinity`).
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_') || byte >= 0x80
}
