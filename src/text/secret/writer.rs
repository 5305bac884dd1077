//! Redacting bytes on their way into a file. What is not UTF-8 is kept as it is: no form of a secret has such bytes.

use super::{LiveRedactor, Secrets};
use std::io::{self, Write};

/// So many bytes are looked at together.
const TOGETHER: usize = 1 << 18;

/// Writes what it is given without secrets. [`RedactingWriter::finish`] writes what it still holds.
#[derive(Debug)]
pub struct RedactingWriter<W> {
    live: LiveRedactor,
    pending: Vec<u8>,
    to: W,
}

impl<W: Write> RedactingWriter<W> {
    /// At the beginning of a file.
    #[must_use]
    pub fn new(secrets: Secrets, to: W) -> Self {
        Self {
            live: LiveRedactor::new(secrets),
            pending: Vec::new(),
            to,
        }
    }

    /// Writes the rest; whether a secret was taken out anywhere.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn finish(mut self) -> io::Result<(W, bool)> {
        self.pass()?;
        let cut = std::mem::take(&mut self.pending);
        self.put_bytes(&cut)?;
        let rest = self.live.finish();
        self.to.write_all(rest.as_bytes())?;
        Ok((self.to, self.live.has_hidden()))
    }

    /// Writes what is known, and keeps the beginning of a character.
    fn pass(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.pending);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let text = self.live.push(chunk.valid());
            self.to.write_all(text.as_bytes())?;
            let invalid = chunk.invalid();
            match chunks.peek().is_none() && begins_character(invalid) {
                true => self.pending.extend_from_slice(invalid),
                false => self.put_bytes(invalid)?,
            }
        }
        Ok(())
    }

    /// Bytes that are no text, in which no secret goes on.
    fn put_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let before = self.live.finish();
        self.to.write_all(before.as_bytes())?;
        self.to.write_all(bytes)
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= TOGETHER {
            self.pass()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Whether more bytes could make a character of these.
fn begins_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let secrets = Secrets::default();
        secrets.register("KEY", "hunter2-hünter2").unwrap();
        secrets
    }

    /// What pieces come to, and whether a secret was in them.
    fn written(pieces: &[&[u8]]) -> (Vec<u8>, bool) {
        let mut writer = RedactingWriter::new(secrets(), Vec::new());
        for piece in pieces {
            writer.write_all(piece).unwrap();
            writer.pass().unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn a_secret_is_taken_out_wherever_the_bytes_are_cut() {
        let text = "ü hunter2-hünter2 ü".as_bytes();
        for at in 0..=text.len() {
            let (before, after) = text.split_at(at);
            let wanted = ("ü [secret KEY] ü".into(), true);
            assert_eq!(written(&[before, after]), wanted, "cut at {at}");
        }
    }

    #[test]
    fn what_is_no_text_and_holds_no_secret_is_kept_to_the_byte() {
        let odd: &[&[u8]] = &[
            b"\xff\xfe",
            b"hunter2-",
            b"\xffh\xc3",
            b"\xc3",
            b"a\xe2\x82",
            b"",
            b"\xe2\x82",
        ];
        assert_eq!(written(odd), (odd.concat(), false));
        let long = "hunter2-h".repeat(TOGETHER).into_bytes();
        assert_eq!(written(&[&long]), (long, false));
    }

    #[test]
    fn text_around_bytes_that_are_none_is_looked_at() {
        let (text, hidden) = written(&["\u{1}".as_bytes(), b"\xff", "hunter2-hünter2".as_bytes(), b"\xc3"]);
        assert_eq!((text, hidden), (b"\x01\xff[secret KEY]\xc3".to_vec(), true));
    }
}
