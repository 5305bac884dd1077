//! The settings of the next query, to be changed: a value a row, with what is wrong beside it.

use super::settings::{HIDDEN, KNOBS, Knob, SHOWN, Settings};
use crate::text::{SafeText, fit};
use crate::tui::ctx::Ctx;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::theme::Role;
use crate::tui::widgets::{LineEdit, Styled};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Cells of the names.
const NAMES: u16 = 17;
/// Cells that a value has at least.
const VALUE: u16 = 8;

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Something changed, or nothing is there to be done.
    Taken,
    /// The values are to be saved, too.
    Save,
    /// It means nothing here.
    Ignored,
}

/// Settings that are being changed.
#[derive(Clone, Debug)]
pub(super) struct Dialog {
    values: Vec<(Knob, LineEdit)>,
    at: usize,
    /// The row that cannot be taken, and what it should be.
    wrong: Option<(usize, &'static str)>,
    area: Rect,
}

impl Dialog {
    /// The settings as they are.
    pub(super) fn new(settings: &Settings) -> Self {
        let value = |knob: Knob| (knob, LineEdit::with_text(&knob.written(settings)));
        Self {
            values: KNOBS.into_iter().map(value).collect(),
            at: 0,
            wrong: None,
            area: Rect::default(),
        }
    }

    /// To the next or the previous row, around.
    pub(super) fn go(&mut self, forth: bool) {
        let len = self.values.len();
        self.at = (self.at + if forth { 1 } else { len - 1 }) % len;
    }

    /// Takes a key that is bound to nothing.
    pub(super) fn key(&mut self, key: KeyEvent) -> Pressed {
        if key.code == KeyCode::Char('s') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Pressed::Save;
        }
        match key.code {
            KeyCode::Up | KeyCode::BackTab => self.go(false),
            KeyCode::Down => self.go(true),
            _ => return self.edit(key),
        }
        Pressed::Taken
    }

    fn edit(&mut self, key: KeyEvent) -> Pressed {
        let Some((knob, value)) = self.values.get_mut(self.at) else {
            return Pressed::Ignored;
        };
        self.wrong = None;
        if *knob == Knob::Code {
            let turns = matches!(key.code, KeyCode::Char(_) | KeyCode::Left | KeyCode::Right);
            if turns {
                let other = if value.text() == SHOWN { HIDDEN } else { SHOWN };
                *value = LineEdit::with_text(other);
            }
            return Pressed::Taken;
        }
        match value.key(key) {
            true => Pressed::Taken,
            false => Pressed::Ignored,
        }
    }

    /// Pastes into the value.
    pub(super) fn paste(&mut self, text: &str) {
        if let Some((_, value)) = self.values.get_mut(self.at).filter(|(knob, _)| *knob != Knob::Code) {
            value.insert(text);
        }
    }

    /// A press selects a row.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> bool {
        let pressed = matches!(mouse.kind, MouseKind::Press | MouseKind::DoublePress);
        let row = usize::from(mouse.at.y.saturating_sub(self.area.y));
        if mouse.is_in(self.area) && pressed && row < self.values.len() {
            self.at = row;
        }
        mouse.is_in(self.area)
    }

    /// The values, if all of them can be taken; else the first that cannot is shown.
    pub(super) fn settings(&mut self) -> Option<Settings> {
        let mut settings = Settings::default();
        for (row, (knob, value)) in self.values.iter().enumerate() {
            if let Err(should) = knob.read(value.text(), &mut settings) {
                (self.wrong, self.at) = (Some((row, should)), row);
                return None;
            }
        }
        Some(settings)
    }

    /// Rows it would like.
    pub(super) fn height(&self) -> usize {
        self.values.len() + 1
    }

    /// Paints it; returns the caret's cell.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        self.area = area;
        let mut cursor = None;
        let hidden = (self.at + 1).saturating_sub(usize::from(area.height));
        for (index, y) in (hidden..self.values.len()).zip(area.top()..area.bottom()) {
            let caret = self.draw_row(index, Rect { y, height: 1, ..area }, buf, ctx);
            cursor = cursor.or(caret);
        }
        let below = area
            .y
            .saturating_add(u16::try_from(self.values.len()).unwrap_or(u16::MAX));
        if below < area.bottom() {
            help(ctx).draw(
                Rect {
                    y: below,
                    height: 1,
                    ..area
                },
                buf,
            );
        }
        cursor
    }

    fn draw_row(&self, index: usize, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let (knob, value) = self.values.get(index)?;
        let here = index == self.at;
        let mark = if here { ctx.glyphs().pointer } else { " " };
        let names = NAMES.min(area.width / 2);
        let name = fit(&format!("{mark} {}", knob.name()), usize::from(names));
        let role = if here { Role::Accent } else { Role::Text };
        Styled::of(SafeText::line(&name), ctx.style(role)).draw(area, buf);
        let mut rest = Rect {
            x: area.x + names,
            width: area.width - names,
            ..area
        };
        let told = match self.wrong {
            Some((row, should)) if row == index => Styled::words(should, ctx.style(Role::Failure)),
            _ => Styled::words(told(*knob, value.text()), ctx.style(Role::Dim)),
        };
        let least = VALUE.min(rest.width);
        let beside = Rect {
            x: rest.x + least,
            width: rest.width - least,
            ..rest
        };
        rest.width -= told.draw_right(beside, buf);
        value.draw(rest, buf, ctx).filter(|_| here)
    }
}

/// What an empty or a switched value means.
fn told(knob: Knob, value: &str) -> &'static str {
    match knob {
        Knob::Model if value.is_empty() => " none: nothing can be asked",
        Knob::SubModel if value.is_empty() => " the same",
        Knob::Code => " Space changes it",
        _ => "",
    }
}

fn help(ctx: &Ctx<'_>) -> Styled {
    let (key, dim) = (ctx.style(Role::Key), ctx.style(Role::Dim));
    Styled::words("Enter", key)
        .then(SafeText::literal(" takes them  "), dim)
        .then(SafeText::literal("Ctrl-S"), key)
        .then(SafeText::literal(" saves them, too  "), dim)
        .then(SafeText::literal("Esc"), key)
        .then(SafeText::literal(" leaves"), dim)
}
