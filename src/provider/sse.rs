//! Server-sent events from bytes, as the HTML standard defines them, with a bound on the size of one event.
//!
//! Takes the bytes in whatever pieces the network delivers: cuts inside a character, a line end or an event change
//! nothing. Only the data of an event is kept; its name, id and retry time mean nothing to model servers.

use memchr::memchr2;

/// Why the bytes are not events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line is not UTF-8.
    #[error("invalid UTF-8 in the event stream")]
    Utf8,
    /// One event (or one line) is longer than the bound.
    #[error("one event is longer than {0} bytes")]
    TooLong(usize),
}

/// Splits a byte stream into the data of its events.
#[derive(Debug)]
pub struct SseDecoder {
    /// The line that has begun but not ended.
    line: Vec<u8>,
    /// The data lines of the event that has begun but not ended.
    data: String,
    has_data: bool,
    /// The last line ended in CR: an LF that comes now belongs to it.
    after_cr: bool,
    at_start: bool,
    max_event: usize,
}

impl SseDecoder {
    /// A decoder that accepts events of at most `max_event` bytes.
    #[must_use]
    pub fn new(max_event: usize) -> Self {
        Self {
            line: Vec::new(),
            data: String::new(),
            has_data: false,
            after_cr: false,
            at_start: true,
            max_event,
        }
    }

    /// Takes the next bytes and appends the data of every event they complete to `events`.
    ///
    /// Returns how many lines they completed: comments too, so that a caller can tell a live server from a dead one.
    ///
    /// # Errors
    ///
    /// [`SseError`]; the stream cannot be read on after it. Events before the fault have been appended.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<String>) -> Result<usize, SseError> {
        let mut lines = 0;
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
                continue;
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let (piece, rest) = bytes
                .split_at_checked(end.unwrap_or(bytes.len()))
                .unwrap_or((bytes, &[]));
            if self.line.len() + self.data.len() + piece.len() > self.max_event {
                return Err(SseError::TooLong(self.max_event));
            }
            self.line.extend_from_slice(piece);
            let Some((end, rest)) = rest.split_first() else { break };
            self.after_cr = *end == b'\r';
            bytes = rest;
            lines += 1;
            self.end_line(events)?;
        }
        Ok(lines)
    }

    fn end_line(&mut self, events: &mut Vec<String>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&line).map_err(|_| SseError::Utf8)?;
        let line = if std::mem::take(&mut self.at_start) {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                events.push(std::mem::take(&mut self.data));
            }
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push('\n');
            }
            self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<String>, SseError> {
        let mut decoder = SseDecoder::new(1000);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece, &mut events)?;
        }
        Ok(events)
    }

    #[test]
    fn the_standards_fields_comments_and_line_ends() {
        let stream = "\u{feff}: hello\ndata: a\n\ndata:b\r\ndata:  c\r\n\r\nevent: x\rid: 1\rdata\r\rretry: 5\n\nother: z\ndata: é👍\n\n";
        assert_eq!(decode(&[stream.as_bytes()]).unwrap(), ["a", "b\n c", "", "é👍"]);
    }

    #[test]
    fn an_event_without_its_empty_line_is_not_delivered() {
        assert_eq!(decode(&[b"data: a\n\ndata: b\n"]).unwrap(), ["a"]);
    }

    #[test]
    fn a_cut_at_every_byte_changes_nothing() {
        let stream = "\u{feff}: c\r\n\r\ndata: é\r\ndata: 👍🏽\r\n\r\nid: 7\n: x\ndata: {\"a\": 1}\n\ndata: [DONE]\r\r";
        let whole = decode(&[stream.as_bytes()]).unwrap();
        assert_eq!(whole, ["é\n👍🏽", "{\"a\": 1}", "[DONE]"]);
        for cut in 0..=stream.len() {
            let (head, tail) = stream.as_bytes().split_at(cut);
            assert_eq!(decode(&[head, tail]).unwrap(), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(decode(&bytes).unwrap(), whole);
    }

    #[test]
    fn bad_bytes_and_endless_events_are_errors() {
        assert_eq!(decode(&[b"data: \xff\n\n"]), Err(SseError::Utf8));
        assert_eq!(decode(&[b"data: \xf0\x9f\n\n"]), Err(SseError::Utf8));
        assert_eq!(decode(&[&[b'a'; 1001]]), Err(SseError::TooLong(1000)));
        let lines = b"data: aaaaaaaaaaaaaaaaaaaa\n".repeat(60);
        assert_eq!(decode(&[&lines]), Err(SseError::TooLong(1000)));
        // Comments are not kept, however many there are.
        assert_eq!(decode(&[&b": waiting\n\n".repeat(1000)]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn lines_show_that_the_server_is_alive_and_bytes_do_not() {
        let mut decoder = SseDecoder::new(100);
        let mut events = Vec::new();
        assert_eq!(decoder.push(b": waiting\r", &mut events), Ok(1));
        assert_eq!(decoder.push(b"\n\r\n", &mut events), Ok(1));
        assert_eq!(decoder.push(b"data: x", &mut events), Ok(0));
        assert_eq!(decoder.push(b"y\n\n", &mut events), Ok(2));
        assert_eq!(events, ["xy"]);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_mean_the_same(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            cut in 0usize..200,
        ) {
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(decode(&[&bytes]), decode(&[head, tail]));
        }
    }
}
