//! Strings: past them, decoded, or as their JSON text.

use memchr::memchr2;

use super::clip::whole_characters_at_end;
use super::{Clip, Clipped, Fault, Input, Scanner};

/// What a lone surrogate becomes in JSON text.
const REPLACEMENT_ESCAPE: &[u8] = b"\\ufffd";

/// An escape, read.
enum Escape {
    Char(char),
    /// Not one of JSON's: the byte after the backslash.
    Unknown(u8),
}

impl<I: Input> Scanner<I> {
    /// Goes past a string; its length as JSON text, without quotes.
    pub(crate) fn skip_string(&mut self) -> Result<u64, Fault> {
        let start = self.position();
        self.string(|_| {}, |_, _| {})?;
        Ok(self.position().saturating_sub(start + 2))
    }

    /// Goes past a string; its length when it is decoded.
    pub(crate) fn decoded_length(&mut self) -> Result<usize, Fault> {
        let length = std::cell::Cell::new(0);
        self.decode(|bytes| length.set(length.get() + bytes.len()))?;
        Ok(length.get())
    }

    /// Decodes a string, piece by piece.
    pub(super) fn decode(&mut self, piece: impl Fn(&[u8])) -> Result<(), Fault> {
        self.string(&piece, |escape, _| escape.decoded(&piece))
    }

    /// Decodes a string into `clip`.
    pub(crate) fn string_into(&mut self, clip: &mut Clip) -> Result<(), Fault> {
        let clip = std::cell::RefCell::new(clip);
        self.decode(|bytes| clip.borrow_mut().push(bytes))
    }

    /// Decodes a string; at most `cap` bytes of it, then a mark.
    pub(crate) fn text(&mut self, cap: usize) -> Result<String, Fault> {
        let mut clip = Clip::head(cap);
        self.string_into(&mut clip)?;
        let Clipped { text, repaired, .. } = clip.into_text();
        self.repairs.utf8 |= repaired;
        Ok(text)
    }

    /// Decodes a string into the scratch buffer: its first `cap` bytes, and no half of a character.
    pub(super) fn text_into_scratch(&mut self, cap: usize) -> Result<(), Fault> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let (kept, cut) = (std::cell::RefCell::new(&mut scratch), std::cell::Cell::new(false));
        let push = |bytes: &[u8]| {
            let mut kept = kept.borrow_mut();
            let room = cap.saturating_sub(kept.len());
            cut.set(cut.get() || room < bytes.len());
            kept.extend(bytes.iter().take(room));
        };
        let done = self.decode(push);
        if cut.get() {
            scratch.truncate(whole_characters_at_end(&scratch).len());
        }
        self.scratch = scratch;
        done
    }

    /// The string's JSON text with its quotes, piece by piece; what is broken in it is repaired.
    pub(super) fn raw_string(&mut self, piece: impl Fn(&[u8])) -> Result<(), Fault> {
        piece(b"\"");
        self.string(&piece, |escape, broken| escape.encoded(broken, &piece))?;
        piece(b"\"");
        Ok(())
    }

    /// Reads a string: plain stretches and escapes, the latter with whether they were repaired.
    fn string(&mut self, plain: impl Fn(&[u8]), escaped: impl Fn(Escape, bool)) -> Result<(), Fault> {
        self.expect(b'"', "a string")?;
        loop {
            let window = self.input.window()?;
            if window.is_empty() {
                return Err(Fault::End { byte: self.position() });
            }
            let stop = memchr2(b'"', b'\\', window);
            let length = stop.unwrap_or(window.len());
            plain(window.get(..length).unwrap_or_default());
            let byte = window.get(length).copied();
            self.input.consume(length + usize::from(byte.is_some()));
            match byte {
                Some(b'"') => return Ok(()),
                Some(_) => self.escape(&escaped)?,
                None => {}
            }
        }
    }

    /// Reads what follows a backslash.
    #[inline]
    fn escape(&mut self, escaped: &impl Fn(Escape, bool)) -> Result<(), Fault> {
        let simple = match self.next_byte()? {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'u' => return self.unicode(escaped),
            other => {
                self.repairs.escape = true;
                escaped(Escape::Unknown(other), true);
                return Ok(());
            }
        };
        escaped(Escape::Char(simple), false);
        Ok(())
    }

    /// Reads what follows `\u`: a unit, and its other half where it is the first half of a pair.
    fn unicode(&mut self, escaped: &impl Fn(Escape, bool)) -> Result<(), Fault> {
        let mut unit = self.hex()?;
        while let 0xD800..=0xDBFF = unit {
            // A high half: only a low half may follow.
            if self.input.window()?.first() != Some(&b'\\') {
                break;
            }
            self.input.consume(1);
            if self.input.window()?.first() != Some(&b'u') {
                self.lone(escaped);
                return self.escape(escaped);
            }
            self.input.consume(1);
            let low = self.hex()?;
            if let 0xDC00..=0xDFFF = low {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                escaped(Escape::Char(char::from_u32(code).unwrap_or('\u{FFFD}')), false);
                return Ok(());
            }
            self.lone(escaped);
            unit = low;
        }
        match char::from_u32(unit) {
            Some(char) => escaped(Escape::Char(char), false),
            None => self.lone(escaped),
        }
        Ok(())
    }

    fn lone(&mut self, escaped: &impl Fn(Escape, bool)) {
        self.repairs.surrogate = true;
        escaped(Escape::Char('\u{FFFD}'), true);
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .input
                .window()?
                .first()
                .and_then(|byte| char::from(*byte).to_digit(16));
            let Some(digit) = digit else {
                let found = self.input.window()?.first().copied();
                return Err(self.unexpected(found, "four hexadecimal digits"));
            };
            self.input.consume(1);
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }
}

impl Escape {
    /// The text that it stands for; an unknown one stands for itself.
    fn decoded(self, piece: impl Fn(&[u8])) {
        match self {
            Self::Char(char) => piece(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Unknown(byte) => piece(&[b'\\', byte]),
        }
    }

    /// JSON text that stands for the same.
    fn encoded(self, broken: bool, piece: impl Fn(&[u8])) {
        match self {
            Self::Unknown(byte) => piece(&[b'\\', b'\\', byte]),
            Self::Char(_) if broken => piece(REPLACEMENT_ESCAPE),
            Self::Char('\n') => piece(b"\\n"),
            Self::Char('\r') => piece(b"\\r"),
            Self::Char('\t') => piece(b"\\t"),
            Self::Char('"') => piece(b"\\\""),
            Self::Char('\\') => piece(b"\\\\"),
            Self::Char(char) if char.is_ascii_control() => {
                piece(format!("\\u{:04x}", u32::from(char)).as_bytes());
            }
            Self::Char(char) => piece(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::json::{SliceInput, Value};

    #[test]
    fn what_is_cut_ends_with_a_whole_character_and_is_no_damage() {
        for json in ["\"ab😀cd\"", r#""ab\ud83d\ude00cd""#] {
            for (cap, expected) in [(1, "a"), (2, "ab"), (3, "ab"), (5, "ab"), (6, "ab😀"), (99, "ab😀cd")] {
                let mut scanner = Scanner::new(SliceInput::new(json.as_bytes(), 0));
                assert_eq!(scanner.value(cap).unwrap(), Value::Text(expected), "{cap}");
                assert!(scanner.repairs.is_empty(), "{cap}");
            }
        }
        let mut broken = Scanner::new(SliceInput::new(br#""a\ud83dz""#, 0));
        assert_eq!(broken.value(99).unwrap(), Value::Text("a\u{FFFD}z"));
        assert!(!broken.repairs.is_empty());
    }
}
