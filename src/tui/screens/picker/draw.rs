//! Painting the picker.

use super::super::split::{Split, Title, indented};
use super::PickerScreen;
use super::table::Columns;
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Percent of the width that the list takes beside the preview.
const LIST_SHARE: u16 = 62;
/// Columns from which there is a preview.
const WITH_PREVIEW: u16 = 100;
impl PickerScreen {
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let wide = area.width >= WITH_PREVIEW;
        let list_width = if wide {
            area.width * LIST_SHARE / 100
        } else {
            area.width
        };
        let split = Split::beside(area, list_width);
        let title = Title {
            text: SafeText::line(&self.dir.to_string_lossy()),
            aside: Styled::of(SafeText::line(&self.counts()), ctx.style(Role::Dim)),
        };
        let inside = split.frame(split.list, title, true, buf, ctx);
        match self.nothing() {
            Some(words) => {
                let middle = Rect {
                    y: inside.y + inside.height / 2,
                    height: inside.height.min(1),
                    ..inside
                };
                Styled::words(words, ctx.style(Role::Dim)).draw_centred(middle, buf);
            }
            None => self.draw_list(inside, buf, ctx),
        }
        if wide {
            let name = self.selected().map_or("", |entry| entry.summary.name.as_str());
            let title = Title {
                text: SafeText::line(name),
                aside: Styled::new(),
            };
            let inside = split.frame(split.detail, title, false, buf, ctx);
            self.preview.draw(indented(inside), buf, ctx);
        }
    }

    fn draw_list(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = Columns::of(usize::from(area.width.saturating_sub(1)), self.sort);
        let head = Rect {
            height: area.height.min(1),
            ..area
        };
        columns.head(self.sort, ctx).draw(head, buf);
        let rows = Rect {
            y: area.y + head.height,
            height: area.height - head.height,
            ..area
        };
        self.in_sight = usize::from(rows.height);
        let (entries, shown) = (&self.entries, &self.shown);
        self.list.draw(rows, buf, ctx, true, |row, _| {
            let entry = shown.get(row).and_then(|index| entries.get(*index));
            entry.map_or_else(Styled::new, |entry| columns.row(entry, ctx))
        });
    }

    /// Why there is nothing to choose from.
    fn nothing(&self) -> Option<&'static str> {
        match (self.shown.is_empty(), self.entries.is_empty(), self.listed) {
            (true, true, true) => Some("There are no sessions here."),
            (true, true, false) => Some("Looking for sessions."),
            (true, false, _) => Some("No session matches the filter."),
            _ => None,
        }
    }
}
