//! Lays the tokens of a literal out in lines: a bracket that fits stays on one line, another one puts each item on
//! its own; short plain items share lines.

use std::ops::Range;

use super::literal_grammar::{Literal, Part, is_constant};
use super::literal_token::{Token, Tokens};
use super::rendered::Builder;
use crate::text::{cell_width, wrap_line};
use crate::tui::theme::Role;

const INDENT: usize = 2;
/// Items up to this width share lines when none of their brackets holds another.
const SHORT_ITEM: usize = 24;

/// A bracket that is open while printing.
#[derive(Clone, Copy)]
enum Frame {
    /// On one line.
    Flat,
    /// Each item on its own line.
    Block,
    /// Items fill lines.
    Fill,
}

pub(super) struct Layout<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    literal: &'a Literal,
    width: usize,
    /// Cells of all tokens before each one, as on one line.
    before: Vec<usize>,
    frames: Vec<Frame>,
    /// Frames that are laid out in lines.
    blocks: usize,
    column: usize,
    pub(super) out: Builder,
}

impl<'a> Layout<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a Tokens, literal: &'a Literal, width: usize) -> Self {
        let mut layout = Self {
            text,
            tokens,
            literal,
            width: width.max(1),
            before: Vec::with_capacity(tokens.list.len() + 1),
            frames: Vec::new(),
            blocks: 0,
            column: 0,
            out: Builder::default(),
        };
        layout.measure();
        layout
    }

    fn measure(&mut self) {
        let mut sum = 0;
        for at in 0..self.tokens.list.len() {
            self.before.push(sum);
            sum += cell_width(self.source(at)) + self.space_after(at);
        }
        self.before.push(sum);
    }

    /// Prints everything.
    pub(super) fn print(&mut self) {
        for at in 0..self.tokens.list.len() {
            match self.kind(at) {
                Some(Token::Open(_)) => self.open(at),
                Some(Token::Close(_)) => self.close(at),
                Some(Token::Comma) => self.comma(at),
                Some(Token::String) => self.string(at),
                Some(_) => self.token(at),
                None => {}
            }
        }
    }

    fn kind(&self, at: usize) -> Option<Token> {
        self.tokens.list.get(at).map(|(token, _)| *token)
    }

    fn source(&self, at: usize) -> &'a str {
        let range = self.tokens.list.get(at).map_or(0..0, |(_, range)| range.clone());
        self.text.get(range).unwrap_or_default()
    }

    /// One space after a comma or a colon, unless a bracket closes next.
    fn space_after(&self, at: usize) -> usize {
        let spaced = matches!(self.kind(at), Some(Token::Comma | Token::Colon))
            || (self.kind(at) == Some(Token::String) && self.kind(at + 1) == Some(Token::String));
        let closing = matches!(self.kind(at + 1), Some(Token::Close(_)) | None);
        usize::from(spaced && !closing)
    }

    /// Cells of the tokens in `range` on one line.
    fn cells(&self, range: Range<usize>) -> usize {
        let of = |at: usize| self.before.get(at).or(self.before.last()).copied().unwrap_or(0);
        of(range.end).saturating_sub(of(range.start))
    }

    fn role(&self, at: usize) -> Role {
        match (self.literal.parts.get(at), self.kind(at)) {
            (Some(Part::Key), _) => Role::CodeKey,
            (Some(Part::Callee), _) => Role::CodeFunction,
            (_, Some(Token::String)) => Role::CodeString,
            (_, Some(Token::Number)) => Role::CodeNumber,
            (_, Some(Token::Name)) if is_constant(self.source(at)) => Role::CodeConstant,
            (_, Some(Token::Name)) => Role::Text,
            (_, Some(Token::Object)) => Role::CodeType,
            (_, Some(Token::Operator)) => Role::CodeOperator,
            _ => Role::CodeOperator,
        }
    }

    fn push(&mut self, piece: &str, role: Role) {
        self.out.push(piece, role);
        self.column += cell_width(piece);
    }

    fn token(&mut self, at: usize) {
        self.push(self.source(at), self.role(at));
        if self.space_after(at) > 0 {
            self.push(" ", Role::Text);
        }
    }

    /// Starts a line, indented by the open blocks; deep nesting stops moving right at half the width.
    fn newline(&mut self) {
        let indent = (self.blocks * INDENT).min(self.width / 2);
        self.out.newline();
        self.column = 0;
        self.push(&" ".repeat(indent), Role::Text);
    }

    fn open(&mut self, at: usize) {
        self.push(self.source(at), Role::CodeOperator);
        let frame = self.frame(at);
        self.frames.push(frame);
        self.blocks += usize::from(!matches!(frame, Frame::Flat));
        if !matches!(frame, Frame::Flat) && !matches!(self.kind(at + 1), Some(Token::Close(_)) | None) {
            self.newline();
        }
    }

    fn frame(&self, at: usize) -> Frame {
        let close = self.literal.closes.get(at).copied().flatten();
        let end = close.unwrap_or(self.tokens.list.len());
        let inside = self.cells(at + 1..end + 1);
        // Room for the comma that follows.
        if matches!(self.frames.last(), Some(Frame::Flat)) || (close.is_some() && self.column + inside < self.width) {
            return Frame::Flat;
        }
        if self.fills(at + 1..end) {
            Frame::Fill
        } else {
            Frame::Block
        }
    }

    /// The items are short, without brackets or keys, so that one a line would waste the screen. Looks at a few
    /// items only: this must not make nested brackets quadratic.
    fn fills(&self, range: Range<usize>) -> bool {
        range.clone().take(64).all(|at| match self.kind(at) {
            Some(Token::Number | Token::Comma | Token::Operator | Token::Name) => true,
            Some(Token::String) => self.cells(at..at + 1) <= SHORT_ITEM,
            _ => false,
        }) && range.len() > 6
    }

    fn close(&mut self, at: usize) {
        let frame = self.frames.pop();
        let empty = matches!(self.kind(at.saturating_sub(1)), Some(Token::Open(_)));
        if let Some(Frame::Block | Frame::Fill) = frame {
            self.blocks -= 1;
            if !empty {
                self.newline();
            }
        }
        self.push(self.source(at), Role::CodeOperator);
    }

    fn comma(&mut self, at: usize) {
        self.push(",", Role::CodeOperator);
        if matches!(self.kind(at + 1), Some(Token::Close(_)) | None) {
            return;
        }
        match self.frames.last() {
            Some(Frame::Block) => self.newline(),
            Some(Frame::Fill) if self.column + 1 + self.item_cells(at + 1) >= self.width => self.newline(),
            _ => self.push(" ", Role::Text),
        }
    }

    /// Cells of the short item that starts at `at`, with its comma.
    fn item_cells(&self, at: usize) -> usize {
        let end = (at..self.tokens.list.len().min(at + 8))
            .find(|&i| matches!(self.kind(i), Some(Token::Comma | Token::Close(_))))
            .unwrap_or(at + 1);
        self.cells(at..end + 1)
    }

    /// A long string is wrapped here, so that its lines stay inside their bracket; after each `\n` inside it a new
    /// line starts.
    fn string(&mut self, at: usize) {
        let source = self.source(at);
        let fits = self.column + cell_width(source) < self.width;
        if fits || matches!(self.frames.last(), Some(Frame::Flat)) {
            return self.token(at);
        }
        let role = self.role(at);
        let indent = (self.column + 1).min(self.blocks * INDENT + INDENT).min(self.width / 2);
        for (i, line) in split_after_newlines(source).into_iter().enumerate() {
            // The first row starts where the string does, the others at the indent.
            let first_room = if i == 0 {
                self.width.saturating_sub(self.column)
            } else {
                self.width - indent
            };
            for (j, row) in rows(line, first_room, self.width - indent).into_iter().enumerate() {
                if i + j > 0 {
                    self.out.newline();
                    self.column = 0;
                    self.push(&" ".repeat(indent), Role::Text);
                }
                self.push(row, role);
            }
        }
        if self.space_after(at) > 0 {
            self.push(" ", Role::Text);
        }
    }
}

/// A line wrapped so that its first row takes `first` cells at most and the others `rest`.
fn rows(line: &str, first: usize, rest: usize) -> Vec<&str> {
    let end = wrap_line(line, first).first().map_or(line.len(), |row| row.bytes.end);
    let (head, tail) = line.split_at_checked(end).unwrap_or((line, ""));
    let mut rows = vec![head];
    if !tail.is_empty() {
        let wrapped = wrap_line(tail, rest);
        rows.extend(wrapped.into_iter().filter_map(|row| tail.get(row.bytes)));
    }
    rows
}

/// Splits the source of a string behind each `\n` escape, but not before its closing quote.
fn split_after_newlines(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let escape = byte == b'\\';
        at += if escape { 2 } else { 1 };
        let newline = escape && bytes.get(at - 1) == Some(&b'n');
        if newline && at + 1 < bytes.len() {
            lines.push(source.get(start..at).unwrap_or_default());
            start = at;
        }
    }
    lines.push(source.get(start..).unwrap_or_default());
    lines
}
