//! The machine behind [`SafeText`](super::SafeText): one pass over the text, linear in its length.

use std::fmt::Write;

use super::hidden::{
    Class, TAG_BASE, TAG_FLAGS, class, hangul_part_is_honest, joiner_is_honest, prefix_is_honest, selector_is_honest,
};
use super::restart::Overwritten;
use super::width::cell_width;

/// Cells between tab stops.
const TAB: usize = 4;

/// Bytes of a line that can restart: no progress is longer, and each of its cells is kept track of. In longer ones a
/// carriage return is shown as a mark.
const LONGEST_RESTART: usize = 64 << 10;

/// Combining marks that one base keeps.
const MARKS: usize = 16;

/// What becomes of newlines, colours and carriage returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Lines; colours dropped; `\r` restarts its line.
    Block,
    /// Lines; everything shown.
    Raw,
    /// One line: newlines and lone `\r` become `⏎`; colours shown.
    Line,
}

/// ASCII without anything to replace: most text by far.
pub(super) fn is_clean(text: &str, style: Style) -> bool {
    let newline = if style == Style::Line { b' ' } else { b'\n' };
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') || byte == newline)
}

pub(super) struct Sanitizer<'a> {
    rest: &'a str,
    style: Style,
    out: String,
    /// Where the current line begins in `out`.
    line: usize,
    /// Where cells were last counted in `out`, and the column there.
    counted: (usize, usize),
    /// The last character that was written.
    before: Option<char>,
    /// Combining marks on the current base, and those beyond [`MARKS`].
    marks: (usize, usize),
    overwritten: Overwritten,
    /// Where stretches of the text went, if that is asked for.
    places: Option<Places>,
    length: usize,
    /// Bytes of `out` after which nothing more is read.
    most: usize,
}

/// Where the characters of a text are in its safe form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(usize, usize)>);

impl Places {
    /// Where the character that begins at byte `raw` begins in the safe text.
    pub fn of(&self, raw: usize) -> usize {
        let after = self.0.partition_point(|(from, _)| *from <= raw);
        // Within a stretch nothing was replaced.
        match after.checked_sub(1).and_then(|index| self.0.get(index)) {
            Some((from, to)) => to + (raw - from),
            None => raw,
        }
    }
}

impl<'a> Sanitizer<'a> {
    pub(super) fn new(raw: &'a str, style: Style) -> Self {
        Self {
            places: None,
            length: raw.len(),
            most: usize::MAX,
            rest: raw,
            style,
            out: String::with_capacity(raw.len() + raw.len() / 16),
            line: 0,
            counted: (0, 0),
            before: None,
            marks: (0, 0),
            overwritten: Overwritten::default(),
        }
    }

    /// As [`Sanitizer::run`], for a style that overwrites nothing.
    pub(super) fn run_placed(mut self) -> (String, Places) {
        self.places = Some(Places::default());
        self.work();
        self.note_place();
        (self.out, self.places.unwrap_or_default())
    }

    pub(super) fn run(mut self) -> String {
        self.work();
        self.out
    }

    /// As [`Sanitizer::run`], up to some `most` bytes of it; and what is left to read.
    pub(super) fn run_within(mut self, most: usize) -> (String, &'a str) {
        self.most = most;
        self.work();
        (self.out, self.rest)
    }

    /// What is read next is written here.
    fn note_place(&mut self) {
        let at = (self.length - self.rest.len(), self.out.len());
        if let Some(places) = &mut self.places {
            places.0.push(at);
        }
    }

    fn work(&mut self) {
        while self.out.len() < self.most {
            self.copy_ascii();
            self.note_place();
            let mut chars = self.rest.chars();
            let Some(c) = chars.next() else {
                break;
            };
            self.rest = chars.as_str();
            match c {
                '\n' => self.newline(),
                '\r' => self.carriage_return(),
                '\t' => self.tab(),
                '\u{1B}' if self.skip_colour("[") => {}
                '\u{9B}' if self.skip_colour("") => {}
                TAG_BASE => self.flag(),
                c => self.other(c),
            }
        }
        self.end_line();
    }

    /// Copies printable ASCII, the common case, as a whole.
    fn copy_ascii(&mut self) {
        let room = self.most.saturating_sub(self.out.len());
        let bytes = self.rest.bytes().take(room);
        let plain = bytes.take_while(|byte| matches!(byte, b' '..=b'~')).count();
        if let Some((head, tail)) = self.rest.split_at_checked(plain).filter(|_| plain > 0) {
            self.end_marks();
            self.note_place();
            self.out.push_str(head);
            self.before = head.chars().next_back();
            self.rest = tail;
        }
    }

    fn other(&mut self, c: char) {
        let class = class(c);
        if class == Class::Combining {
            return self.combining(c);
        }
        if self.marks.1 > 0 {
            self.end_marks();
        }
        let next = self.rest.chars().next();
        let honest = match class {
            Class::Plain | Class::Combining => true,
            Class::Hidden => false,
            Class::Joiner => joiner_is_honest(c, self.before, next.filter(|next| self.has_room_for(*next))),
            Class::Selector => selector_is_honest(c, self.before),
            Class::Prefix => prefix_is_honest(next),
            Class::HangulPart => hangul_part_is_honest(c, self.before),
        };
        if honest { self.put(c) } else { self.mark(c) }
    }

    fn put(&mut self, c: char) {
        if !matches!(class(c), Class::Joiner | Class::Selector) {
            self.end_marks();
        }
        self.out.push(c);
        self.before = Some(c);
    }

    fn mark(&mut self, c: char) {
        self.end_marks();
        match u32::from(c) {
            code @ 0..=0x1F => self.put(char::from_u32(0x2400 + code).unwrap_or('␦')),
            0x7F => self.put('␡'),
            code => {
                // Writing to a String cannot fail.
                let _ = write!(self.out, "‹U+{code:04X}›");
                self.before = Some('›');
            }
        }
    }

    /// A combining mark stays on its base, up to a number that no writing exceeds.
    fn combining(&mut self, c: char) {
        if self.before.is_none() {
            self.put('◌');
        }
        if self.marks.0 == MARKS {
            self.marks.1 += 1;
        } else {
            self.marks.0 += 1;
            self.out.push(c);
            self.before = Some(c);
        }
    }

    /// The character will be written as it is, not counted as a mark too many.
    fn has_room_for(&self, next: char) -> bool {
        self.marks.0 < MARKS || class(next) != Class::Combining
    }

    /// Names the marks that were too many.
    fn end_marks(&mut self) {
        let (_, beyond) = std::mem::take(&mut self.marks);
        if beyond > 0 {
            let _ = write!(self.out, "‹+{beyond}›");
            self.before = Some('›');
        }
    }

    /// Drops a complete SGR sequence whose introducer has been read up to `open`.
    fn skip_colour(&mut self, open: &str) -> bool {
        // A name, an id or a title has no colours, as a text that is shown raw has none: dropped, they would hide that they
        // are a part of it.
        if self.style != Style::Block {
            return false;
        }
        let Some(parameters) = self.rest.strip_prefix(open) else {
            return false;
        };
        let end = parameters.trim_start_matches(|c: char| matches!(c, '0'..=';'));
        match end.strip_prefix('m') {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn flag(&mut self) {
        self.put(TAG_BASE);
        if let Some(tags) = TAG_FLAGS.iter().find(|tags| self.rest.starts_with(**tags)) {
            self.out.push_str(tags);
            self.before = tags.chars().next_back();
            self.rest = self.rest.strip_prefix(tags).unwrap_or_default();
        }
    }

    fn tab(&mut self) {
        self.end_marks();
        let (from, column) = self.counted;
        let column = column + cell_width(self.out.get(from..).unwrap_or_default());
        let spaces = TAB - column % TAB;
        self.out.extend(std::iter::repeat_n(' ', spaces));
        self.counted = (self.out.len(), column + spaces);
        self.before = Some(' ');
    }

    fn newline(&mut self) {
        self.end_line();
        self.out.push(if self.style == Style::Line { '⏎' } else { '\n' });
        self.begin_line();
        self.before = (self.style == Style::Line).then_some('⏎');
    }

    fn carriage_return(&mut self) {
        if self.rest.starts_with('\n') {
            return;
        }
        match self.style {
            Style::Raw => return self.mark('\r'),
            // A name, an id or a title has no progress to show: what it overwrote would be hidden.
            Style::Line => return self.newline(),
            Style::Block => {}
        }
        let segment = self.out.get(self.line..).unwrap_or_default();
        if segment.len() > LONGEST_RESTART {
            return self.mark('\r');
        }
        self.end_marks();
        let segment = self.out.get(self.line..).unwrap_or_default();
        self.overwritten.write(segment);
        self.out.truncate(self.line);
        self.begin_line();
    }

    /// Settles what carriage returns left of the line.
    fn end_line(&mut self) {
        self.end_marks();
        if !self.overwritten.is_empty() {
            let segment = self.out.get(self.line..).unwrap_or_default();
            if self.overwritten.is_hidden_by(segment) {
                return self.overwritten.clear();
            }
            self.overwritten.write(segment);
            self.out.truncate(self.line);
            self.overwritten.finish(&mut self.out);
        }
    }

    fn begin_line(&mut self) {
        self.line = self.out.len();
        self.counted = (self.line, 0);
        self.before = None;
    }
}
