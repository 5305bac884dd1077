//! Painting what is typed in the dialog of a fork: values by name, or what the model is to be told.

use super::ForkScreen;
use super::draw::below;
use super::form::Field;
use crate::text::{SafeText, cell_width, fit, plural};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Rows of what is typed: the hint below it stays in sight.
const ROWS: u16 = 6;

impl ForkScreen {
    /// The names with their values; the one that is typed into has as many rows as it needs and there are.
    pub(super) fn paint_fields(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let all = self.form.fields.len();
        let chosen = self.form.field;
        let widest = self.form.fields.iter().map(|field| cell_width(&field.name)).max();
        let column = widest.unwrap_or(0).min(usize::from(area.width) / 3);
        let taken = u16::try_from(column + BEFORE).unwrap_or(u16::MAX);
        let budget = ROWS.min(area.height);
        let others = all.saturating_sub(1).min(usize::from(budget.saturating_sub(1)));
        let most = budget
            .saturating_sub(u16::try_from(others).unwrap_or(u16::MAX))
            .max(2)
            .min(budget);
        let rows = self.form.text().map_or(1, |text| {
            u16::try_from(text.height(area.width.saturating_sub(taken))).unwrap_or(u16::MAX)
        });
        let rows = rows.clamp(1.min(budget), most.max(1));
        let shown = usize::from(budget.saturating_sub(rows)).min(all.saturating_sub(1)) + 1;
        let first = (chosen + 1).saturating_sub(shown).min(all.saturating_sub(shown));
        let total = usize::from(rows) + shown - 1;
        let (place, rest) = below(area, total);
        let mut y = place.y;
        self.cursor = None;
        for (at, field) in self.form.fields.iter_mut().enumerate().skip(first).take(shown) {
            let height = if at == chosen { rows } else { 1 };
            let row = Rect {
                y,
                height: height.min(place.bottom().saturating_sub(y)),
                ..place
            };
            let caret = paint_field(field, at == chosen, column, row, buf, ctx);
            self.cursor = caret.or(self.cursor);
            y = row.bottom();
        }
        rest
    }

    /// What the model is to be told.
    pub(super) fn paint_prompt(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let prompt = Styled::words(ctx.glyphs().pointer, ctx.style(Role::Accent))
            .then(SafeText::literal(" "), ctx.style(Role::Text));
        let taken = u16::try_from(prompt.width()).unwrap_or(u16::MAX);
        let rows = self.form.prompt.height(area.width.saturating_sub(taken));
        let (place, rest) = below(area, rows.min(usize::from(ROWS)));
        prompt.draw(place, buf);
        self.cursor = self.form.prompt.draw(right_of(place, taken), buf, ctx);
        rest
    }
}

/// Cells of the mark before a name and of the sign behind it.
const BEFORE: usize = 5;

/// A name with its value; returns the caret's cell where it is typed into.
fn paint_field(
    field: &mut Field,
    chosen: bool,
    column: usize,
    area: Rect,
    buf: &mut Buffer,
    ctx: &Ctx<'_>,
) -> Option<Position> {
    let role = if chosen { Role::Accent } else { Role::Text };
    let pointer = if chosen { ctx.glyphs().pointer } else { " " };
    let prompt = Styled::words(pointer, ctx.style(Role::Accent))
        .then(SafeText::literal(" "), ctx.style(Role::Text))
        .then(
            SafeText::line(&fit(SafeText::line(&field.name).as_str(), column)),
            ctx.style(role),
        )
        .then(SafeText::literal(" = "), ctx.style(Role::Dim));
    prompt.draw(
        Rect {
            height: 1.min(area.height),
            ..area
        },
        buf,
    );
    let taken = u16::try_from(prompt.width()).unwrap_or(u16::MAX);
    let value = right_of(area, taken);
    let caret = match chosen {
        true => field.edit.draw(value, buf, ctx),
        false => {
            written(field, ctx).draw(value, buf);
            None
        }
    };
    if field.edit.is_empty() && !field.was.is_empty() {
        // What it was, where its new value will stand.
        let place = right_of(value, 1);
        let was = SafeText::line(&format!("was {}", field.was));
        let was = SafeText::line(fit(was.as_str(), place.width.into()).trim_end());
        Styled::of(was, ctx.style(Role::Dim)).draw(place, buf);
    }
    caret
}

/// A value that is not typed just now, in one line.
fn written(field: &Field, ctx: &Ctx<'_>) -> Styled {
    let line = Styled::of(field.edit.first_line(), ctx.style(Role::Prompt));
    match field.edit.more_lines() as u128 {
        0 => line,
        more => {
            let more = format!(" +{}", plural(more, "line", "lines"));
            line.then(SafeText::line(&more), ctx.style(Role::Dim))
        }
    }
}

fn right_of(area: Rect, taken: u16) -> Rect {
    let taken = taken.min(area.width);
    Rect {
        x: area.x + taken,
        width: area.width - taken,
        ..area
    }
}
