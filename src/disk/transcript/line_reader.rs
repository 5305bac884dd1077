//! Lines of a part of a file, without keeping more than a chunk; lines that are too long for that are left in the
//! file.

use std::fs::File;
use std::io;

use crate::disk::files::read_at;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;
/// Lines up to this length are read whole.
const LONGEST: usize = 8 << 20;

/// A line, without its newline.
pub(crate) enum RawLine<'a> {
    /// Its bytes, and whether its newline is there.
    Whole { offset: u64, bytes: &'a [u8], ended: bool },
    /// It is longer than lines are kept; it starts here.
    Long { offset: u64 },
}

/// Reads the lines of a file one after another.
pub(crate) struct LineReader<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// Unread part of the buffer.
    start: usize,
    filled: usize,
    /// Offset of the buffer's first byte.
    base: u64,
    /// Size of the file, as far as it is to be read.
    size: u64,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(file: &'a File, from: u64, size: u64) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            start: 0,
            filled: 0,
            base: from,
            size,
        }
    }

    /// Offset of the next line.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Goes on at another offset, further down.
    pub(crate) fn seek(&mut self, offset: u64) {
        (self.start, self.filled, self.base) = (0, 0, offset);
    }

    /// Goes past the line that `position` lies in.
    pub(crate) fn skip_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(newline) = memchr::memchr(b'\n', self.unread()) {
                self.start += newline + 1;
                return Ok(());
            }
            let after = self.base + self.filled as u64;
            self.seek(after);
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        let mut searched = 0;
        let newline = loop {
            let unread = self.unread();
            if let Some(at) = memchr::memchr(b'\n', unread.get(searched..).unwrap_or_default()) {
                break Some(searched + at);
            }
            searched = unread.len();
            if searched > LONGEST {
                return Ok(Some(RawLine::Long {
                    offset: self.position(),
                }));
            }
            if !self.fill()? {
                break None;
            }
        };
        let (offset, start) = (self.position(), self.start);
        let length = newline.unwrap_or(searched);
        self.start += length + usize::from(newline.is_some());
        if length == 0 && newline.is_none() {
            return Ok(None);
        }
        let bytes = self.buffer.get(start..start + length).unwrap_or_default();
        Ok(Some(RawLine::Whole {
            offset,
            bytes,
            ended: newline.is_some(),
        }))
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.filled).unwrap_or_default()
    }

    /// Reads another chunk behind what is unread; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let next = self.base + self.filled as u64;
        let left = usize::try_from(self.size.saturating_sub(next)).unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.base += self.start as u64;
            self.filled -= self.start;
            self.start = 0;
        }
        let wanted = self.filled + left.min(CHUNK);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let room = self.buffer.get_mut(self.filled..wanted).unwrap_or_default();
        let read = read_at(self.file, room, next)?;
        self.filled += read;
        if read == 0 {
            self.size = next;
        }
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(text: &[u8], from: u64) -> Vec<(u64, usize, bool)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let mut reader = LineReader::new(&file, from, text.len() as u64);
        let mut all = Vec::new();
        loop {
            let (offset, length, ended) = match reader.next_line().unwrap() {
                None => return all,
                Some(RawLine::Whole { offset, bytes, ended }) => (offset, bytes.len(), ended),
                Some(RawLine::Long { offset }) => (offset, usize::MAX, false),
            };
            if length == usize::MAX {
                reader.skip_line().unwrap();
            }
            all.push((offset, length, ended));
        }
    }

    #[test]
    fn lines_with_their_offsets() {
        assert_eq!(lines(b"ab\n\nc", 0), [(0, 2, true), (3, 0, true), (4, 1, false)]);
        assert_eq!(lines(b"ab\ncd\n", 3), [(3, 2, true)]);
        assert_eq!(lines(b"", 0), []);
    }

    #[test]
    fn lines_over_chunks_and_over_the_limit() {
        let long = "x".repeat(CHUNK + 5);
        let longest = "y".repeat(LONGEST + CHUNK + 1);
        let text = format!("{long}\n{longest}\nz\n");
        let after = (long.len() + 1) as u64;
        let last = after + longest.len() as u64 + 1;
        assert_eq!(
            lines(text.as_bytes(), 0),
            [(0, long.len(), true), (after, usize::MAX, false), (last, 1, true)]
        );
    }
}
