//! The body of a 200 answer as it comes in: a stream of events, or one JSON object from a server that does not stream,
//! told apart by how it begins and not by what the server calls it. What the events mean is the API's [`Dialect`].

use super::fault::Faults;
use super::tidy::{read, whole_characters};
use crate::provider::collect::Collector;
use crate::provider::error::ErrorKind;
use crate::provider::sse::{SseDecoder, SseError};

/// How much of the wire may be spent on one byte of reply: a token of one letter comes in some 300 bytes of JSON.
const OVERHEAD: usize = 512;

/// How an API writes a reply.
pub(in crate::provider) trait Dialect: Send {
    /// Takes the data of one event, which is not empty and has no space around it.
    fn event(&mut self, data: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind>;

    /// Takes a whole reply that was not streamed.
    fn whole(&mut self, body: &str, faults: &Faults, collector: &mut Collector<'_>) -> Result<(), ErrorKind>;

    /// Whether anything of a reply has come.
    fn has_reply(&self) -> bool;

    /// Whether the stream's end mark has come.
    fn is_over(&self) -> bool;
}

enum Form {
    Unknown,
    Events(SseDecoder),
    Json(Vec<u8>),
}

/// Reads one answer.
pub(super) struct Answer<'a, D> {
    faults: &'a Faults,
    dialect: &'a mut D,
    content_type: String,
    form: Form,
    /// How many more bytes are accepted.
    room: usize,
    max_event: usize,
}

impl<'a, D: Dialect> Answer<'a, D> {
    pub(super) fn new(faults: &'a Faults, dialect: &'a mut D, content_type: String, max_reply: usize) -> Self {
        Self {
            faults,
            dialect,
            content_type,
            form: Form::Unknown,
            room: max_reply.saturating_mul(OVERHEAD).saturating_add(1 << 20),
            // JSON escapes can make six bytes of one, but never do for the whole of a reply that is worth reading.
            max_event: max_reply.saturating_mul(2).saturating_add(64 << 10),
        }
    }

    /// Whether the end mark has come.
    pub(super) fn is_over(&self) -> bool {
        self.dialect.is_over()
    }

    /// Whether all of the reply's text is there.
    pub(super) fn is_complete(&self, collector: &Collector<'_>) -> bool {
        collector.ending.finish.is_some() || self.dialect.is_over() && self.dialect.has_reply()
    }

    /// Takes the next bytes; whether they show that the server is alive.
    pub(super) fn push(&mut self, bytes: &[u8], collector: &mut Collector<'_>) -> Result<bool, ErrorKind> {
        self.room = self
            .room
            .checked_sub(bytes.len())
            .ok_or_else(|| self.faults.too_large(self.max_event))?;
        if matches!(self.form, Form::Unknown) {
            self.form = self.recognise(bytes)?;
        }
        match &mut self.form {
            Form::Unknown => Ok(false),
            Form::Json(body) => {
                if body.len() + bytes.len() > self.max_event {
                    return Err(self.faults.too_large(self.max_event));
                }
                body.extend_from_slice(bytes);
                Ok(true)
            }
            Form::Events(decoder) => {
                let mut events = Vec::new();
                let lines = decoder.push(bytes, &mut events);
                events.iter().try_for_each(|event| self.event(event, collector))?;
                match lines {
                    Ok(lines) => Ok(lines > 0),
                    Err(SseError::TooLong(limit)) => Err(self.faults.too_large(limit)),
                    Err(SseError::Utf8) => Err(self.faults.broken("it is not valid UTF-8")),
                }
            }
        }
    }

    /// Takes the end of the body.
    pub(super) fn end(&mut self, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        if let Form::Json(body) = &mut self.form {
            let body = std::mem::take(body);
            return self.whole(&body, collector);
        }
        if self.dialect.is_over() && !self.dialect.has_reply() {
            return Err(self.faults.empty());
        }
        if self.is_complete(collector) {
            return Ok(());
        }
        Err(self.faults.broken("the connection closed before the end"))
    }

    fn recognise(&self, bytes: &[u8]) -> Result<Form, ErrorKind> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Ok(Form::Unknown),
            Some(b'{' | b'[') => Ok(Form::Json(Vec::new())),
            Some(b'<') => Err(self.faults.not_an_api(&self.content_type)),
            Some(_) => Ok(Form::Events(SseDecoder::new(self.max_event))),
        }
    }

    fn whole(&mut self, body: &[u8], collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let text = std::str::from_utf8(body).map_err(|_| self.faults.broken("it is not valid UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        // Some servers wrap an error in a list of one.
        let text = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .unwrap_or(text);
        self.dialect.whole(&whole_characters(text), self.faults, collector)?;
        if self.dialect.has_reply() {
            Ok(())
        } else {
            Err(self.faults.empty())
        }
    }

    fn event(&mut self, data: &str, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let data = data.trim();
        if data.is_empty() || self.dialect.is_over() {
            return Ok(());
        }
        self.dialect.event(&whole_characters(data), self.faults, collector)
    }
}

/// Reads a part that is an object, if it is one. A list is none, though serde would take its items for fields.
pub(in crate::provider) fn fields<T: serde::de::DeserializeOwned>(raw: &serde_json::value::RawValue) -> Option<T> {
    read(raw.get()).ok().filter(|_| raw.get().starts_with('{'))
}

/// Reads an event's JSON object.
pub(in crate::provider) fn object<T: serde::de::DeserializeOwned>(data: &str, faults: &Faults) -> Result<T, ErrorKind> {
    let unexpected = |what: &str| faults.broken(&format!("an event is not as expected: {what}"));
    if !data.starts_with('{') {
        return Err(unexpected("it is no JSON object"));
    }
    read(data).map_err(|error| unexpected(&error.to_string()))
}
