//! How the scrub screen looks: the steps in a row, the names at the left, code and the selected name at the right.

use super::{Part, ScrubScreen, names};
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::screens::split::{Split, Title, indented};
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Cells of the names, in percent.
const SHARE: u16 = 38;

impl ScrubScreen {
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let strip = Rect {
            height: area.height.min(1),
            ..area
        };
        let rest = Rect {
            y: area.y + strip.height,
            height: area.height - strip.height,
            ..area
        };
        self.paint_strip(strip, buf, ctx);
        let split = Split::of(rest, SHARE);
        self.paint_names(&split, buf, ctx);
        self.paint_texts(split.detail, buf, ctx);
    }

    /// `start ─ 1 ─ 2 ─ [3] ─ 4`, with the one shown in the middle where they do not all fit.
    fn paint_strip(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut labels = vec![(0, "start".to_owned(), false)];
        labels.extend(
            self.steps(ctx)
                .iter()
                .map(|step| (step.number, step.number.to_string(), step.failed)),
        );
        let shown = labels.iter().position(|(number, ..)| *number == self.step).unwrap_or(0);
        let width = |label: &(u64, String, bool)| label.1.len() + usize::from(label.2) + 5;
        let room = usize::from(area.width).saturating_sub(2);
        let mut first = shown;
        let mut used = labels.get(shown).map_or(0, width);
        while let Some(before) = first.checked_sub(1) {
            used += labels.get(before).map_or(0, width);
            if used > room * 2 / 3 {
                break;
            }
            first = before;
        }
        self.strip.clear();
        let mut line = Styled::words(if first > 0 { "‹ " } else { "  " }, ctx.style(Role::Dim));
        for (number, label, failed) in labels.iter().skip(first) {
            let from = line.width();
            let (open, close) = if *number == self.step { ("[", "]") } else { (" ", " ") };
            let role = match (*number == self.step, failed) {
                (true, _) => Role::Accent,
                (false, true) => Role::Failure,
                (false, false) => Role::Text,
            };
            let mark = if *failed { ctx.glyphs().cross } else { "" };
            let words = SafeText::line(&format!("{open}{label}{mark}{close}"));
            if from + words.as_str().chars().count() + 2 > room {
                line.push(SafeText::literal("›"), ctx.style(Role::Dim));
                break;
            }
            line.push(words, ctx.style(role));
            let offset = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
            let place = Rect::new(
                area.x.saturating_add(offset(from)),
                area.y,
                offset(line.width() - from),
                area.height,
            );
            self.strip.push((place, *number));
            line.push(SafeText::literal(" "), ctx.style(Role::Dim));
        }
        let used = line.draw(area, buf);
        let keys = Styled::words("← → step  ↑ ↓ name ", ctx.style(Role::Dim));
        if usize::from(area.width.saturating_sub(used)) > keys.width() + 2 {
            keys.draw_right(area, buf);
        }
    }

    fn paint_names(&mut self, split: &Split, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let title = Title {
            text: SafeText::literal("Names"),
            aside: Styled::of(SafeText::line(&names::summary(&self.rows)), ctx.style(Role::Dim)),
        };
        let focused = self.focus == Part::Names;
        let inside = split.frame(split.list, title, focused, buf, ctx);
        if let Some(words) = self.absence() {
            let mut pane = TextPane::new(words);
            return pane.draw(indented(inside), buf, ctx);
        }
        let rows = &self.rows;
        self.list.draw(inside, buf, ctx, focused, |index, width| {
            rows.get(index).map_or_else(Styled::new, |row| row.draw(width, ctx))
        });
    }

    /// Why there are no names to show.
    fn absence(&self) -> Option<SafeText> {
        match &self.recorded {
            None => Some(SafeText::literal("reading…")),
            Some(Err(why)) => Some(why.clone()),
            Some(Ok(points)) => match points.iter().find(|point| point.step == self.step) {
                None => Some(SafeText::literal("this step is not in the event log")),
                Some(point) if point.names.is_none() => Some(SafeText::literal(
                    "the names after this step are not kept: of older runs only what they ended with is",
                )),
                Some(_) => self.rows.is_empty().then(|| SafeText::literal("no names")),
            },
        }
    }

    fn paint_texts(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let height = area.height.div_ceil(2);
        let above = Rect { height, ..area };
        let below = Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        };
        let title = match self.step {
            0 => SafeText::literal("Before the first step"),
            step => SafeText::line(&format!("Code of step {step}")),
        };
        let inside = Panel::new(title, ctx)
            .focused(self.focus == Part::Code)
            .draw(above, buf, ctx);
        self.code.draw(indented(inside), buf, ctx);
        let name = self.list.selected().and_then(|index| self.rows.get(index));
        let title = name.map_or_else(|| SafeText::literal("Value"), |row| SafeText::line(&row.name));
        let inside = Panel::new(title, ctx)
            .focused(self.focus == Part::Detail)
            .draw(below, buf, ctx);
        self.detail.draw(indented(inside), buf, ctx);
    }
}
