//! Where the scanner's bytes come from.

use std::fs::File;
use std::io;

use crate::disk::files::read_at;

/// Bytes of a file that are held at a time.
const WINDOW: usize = 256 << 10;

/// Bytes that come window by window.
pub(crate) trait Input {
    /// Bytes at hand; none at the end only.
    fn window(&mut self) -> io::Result<&[u8]>;

    /// Goes past `n` bytes of the window.
    fn consume(&mut self, n: usize);

    /// Offset of the window's first byte.
    fn position(&self) -> u64;
}

/// A slice, as one window.
pub(crate) struct SliceInput<'a> {
    rest: &'a [u8],
    position: u64,
}

impl<'a> SliceInput<'a> {
    /// `position` is the offset of the slice's first byte in its file.
    pub(crate) fn new(bytes: &'a [u8], position: u64) -> Self {
        Self { rest: bytes, position }
    }
}

impl Input for SliceInput<'_> {
    fn window(&mut self) -> io::Result<&[u8]> {
        Ok(self.rest)
    }

    fn consume(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
        self.position += n as u64;
    }

    fn position(&self) -> u64 {
        self.position
    }
}

/// A part of a file, read as it is needed; up to a newline, or to its end.
pub(crate) struct FileInput<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    start: usize,
    /// Offset of what follows the buffer.
    next: u64,
    end: u64,
    one_line: bool,
}

impl<'a> FileInput<'a> {
    /// Bytes `from..to` of a file.
    pub(crate) fn new(file: &'a File, from: u64, to: u64) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            start: 0,
            next: from,
            end: to,
            one_line: false,
        }
    }

    /// The rest of the line at `from`, without its newline.
    pub(crate) fn line(file: &'a File, from: u64, to: u64) -> Self {
        Self {
            one_line: true,
            ..Self::new(file, from, to)
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let size = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(usize::MAX);
        self.buffer.resize(size.min(WINDOW), 0);
        self.start = 0;
        let read = read_at(self.file, &mut self.buffer, self.next)?;
        self.buffer.truncate(read);
        self.next += read as u64;
        if read == 0 {
            self.end = self.next;
        }
        self.cut_at_newline();
        Ok(())
    }

    fn cut_at_newline(&mut self) {
        if !self.one_line {
            return;
        }
        if let Some(newline) = memchr::memchr(b'\n', &self.buffer) {
            self.next -= (self.buffer.len() - newline) as u64;
            self.end = self.next;
            self.buffer.truncate(newline);
        }
    }
}

impl Input for FileInput<'_> {
    fn window(&mut self) -> io::Result<&[u8]> {
        if self.start >= self.buffer.len() && self.next < self.end {
            self.fill()?;
        }
        Ok(self.buffer.get(self.start..).unwrap_or_default())
    }

    fn consume(&mut self, n: usize) {
        self.start += n;
    }

    fn position(&self) -> u64 {
        self.next - self.buffer.len().saturating_sub(self.start) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_line_ends_at_its_newline_and_tells_where() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\nthree").unwrap();
        let mut input = FileInput::line(&file, 4, 13);
        assert_eq!(input.window().unwrap(), b"two");
        input.consume(3);
        assert_eq!(input.window().unwrap(), b"");
        assert_eq!(input.position(), 7);
        let mut last = FileInput::line(&file, 8, 13);
        assert_eq!(last.window().unwrap(), b"three");
    }

    #[test]
    fn a_file_that_shrank_just_ends() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        let mut input = FileInput::new(&file, 1, 100);
        assert_eq!(input.window().unwrap(), b"bc");
        input.consume(2);
        assert_eq!(input.window().unwrap(), b"");
        assert_eq!(input.position(), 3);
    }
}
