//! The scanner: whitespace, objects, arrays, and what it had to repair.

use std::io;

use super::Input;

/// Bytes of a key that are kept; longer ones are not keys of ours, but may be names in memory.
const KEY_CAP: usize = 64 << 10;

/// Why the scanner cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The text ended inside a value.
    #[error("it ends in the middle of a value (byte {byte})")]
    End {
        /// Where it ended.
        byte: u64,
    },
    /// Something else than what JSON asks for.
    #[error("expected {expected} at byte {byte}")]
    Unexpected {
        /// What JSON asks for there.
        expected: &'static str,
        /// Where.
        byte: u64,
    },
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The caller has seen enough.
    #[error("enough was read")]
    Enough,
}

/// What was repaired on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repairs {
    /// A surrogate escape without its other half.
    pub(crate) surrogate: bool,
    /// An escape that JSON does not know.
    pub(crate) escape: bool,
    /// Bytes that are not UTF-8.
    pub(crate) utf8: bool,
}

impl Repairs {
    /// Nothing was.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// What was repaired, in words.
    pub(crate) fn describe(self) -> String {
        let parts = [
            (self.surrogate, "half of a surrogate pair"),
            (self.escape, "an unknown escape"),
            (self.utf8, "bytes that are not UTF-8"),
        ];
        let named: Vec<&str> = parts.iter().filter(|(was, _)| *was).map(|(_, name)| *name).collect();
        named.join(", ")
    }
}

/// Reads JSON from an input, forwards only.
pub(crate) struct Scanner<I> {
    pub(super) input: I,
    /// What was repaired so far.
    pub(crate) repairs: Repairs,
    pub(super) scratch: Vec<u8>,
    spare_keys: Vec<String>,
}

impl<I: Input> Scanner<I> {
    pub(crate) fn new(input: I) -> Self {
        Self {
            input,
            repairs: Repairs::default(),
            scratch: Vec::new(),
            spare_keys: Vec::new(),
        }
    }

    /// Offset of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.input.position()
    }

    /// The next byte that is not whitespace, without going past it; `None` at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            let window = self.input.window()?;
            if window.is_empty() {
                return Ok(None);
            }
            match window.iter().position(|byte| !is_space(*byte)) {
                Some(at) => {
                    let byte = window.get(at).copied();
                    self.input.consume(at);
                    return Ok(byte);
                }
                None => {
                    let all = window.len();
                    self.input.consume(all);
                }
            }
        }
    }

    /// The next byte as it is, and past it.
    pub(super) fn next_byte(&mut self) -> Result<u8, Fault> {
        let byte = self.input.window()?.first().copied();
        let byte = byte.ok_or(Fault::End { byte: self.position() })?;
        self.input.consume(1);
        Ok(byte)
    }

    /// Goes past `byte`, after whitespace.
    pub(crate) fn expect(&mut self, byte: u8, name: &'static str) -> Result<(), Fault> {
        match self.peek()? {
            Some(found) if found == byte => {
                self.input.consume(1);
                Ok(())
            }
            found => Err(self.unexpected(found, name)),
        }
    }

    pub(super) fn unexpected(&self, found: Option<u8>, expected: &'static str) -> Fault {
        let byte = self.position();
        match found {
            None => Fault::End { byte },
            Some(_) => Fault::Unexpected { expected, byte },
        }
    }

    /// An object: `each` gets every key and must go past its value.
    pub(crate) fn object(&mut self, mut each: impl FnMut(&mut Self, &str) -> Result<(), Fault>) -> Result<(), Fault> {
        self.expect(b'{', "an object")?;
        if self.peek()? == Some(b'}') {
            self.input.consume(1);
            return Ok(());
        }
        let mut key = self.spare_keys.pop().unwrap_or_default();
        loop {
            self.key(&mut key)?;
            self.expect(b':', "a colon")?;
            each(self, &key)?;
            if !self.more(b'}', "a comma or the object's end")? {
                self.spare_keys.push(key);
                return Ok(());
            }
        }
    }

    /// An array: `each` is called before every element and must go past it.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.expect(b'[', "an array")?;
        if self.peek()? == Some(b']') {
            self.input.consume(1);
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.more(b']', "a comma or the array's end")? {
                return Ok(());
            }
        }
    }

    fn more(&mut self, end: u8, expected: &'static str) -> Result<bool, Fault> {
        match self.peek()? {
            Some(b',') => {
                self.input.consume(1);
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.input.consume(1);
                Ok(false)
            }
            found => Err(self.unexpected(found, expected)),
        }
    }

    fn key(&mut self, key: &mut String) -> Result<(), Fault> {
        let found = self.peek()?;
        if found != Some(b'"') {
            return Err(self.unexpected(found, "a key"));
        }
        self.text_into_scratch(KEY_CAP)?;
        key.clear();
        match std::str::from_utf8(&self.scratch) {
            Ok(text) => key.push_str(text),
            Err(_) => {
                self.repairs.utf8 = true;
                key.push_str(&String::from_utf8_lossy(&self.scratch));
            }
        }
        Ok(())
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
