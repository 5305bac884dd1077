//! Painting the overview: the banner above, below it the cards in sight. A card that begins above the area or ends
//! below it is painted aside, and the rows that are in sight are copied.

use super::card::Card;
use super::plan::Plan;
use super::{Overview, banner};
use crate::tui::ctx::Ctx;
use crate::tui::motion::Entrance;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl Overview {
    /// Paints everything.
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let margin = u16::from(area.width >= 60);
        let area = Rect {
            x: area.x + margin,
            width: area.width - margin,
            ..area
        };
        let rows = banner::rows(ctx.session, area, ctx);
        let height = u16::try_from(rows.len()).unwrap_or(0);
        let gap = u16::from(height > 0 && area.height >= 20);
        let place = Rect {
            y: area.y + gap,
            height: height.min(area.height - gap),
            ..area
        };
        banner::draw(rows, place, buf);
        let taken = (place.height + 2 * gap).min(area.height);
        let cards = Rect {
            y: area.y + taken,
            height: area.height - taken,
            ..area
        };
        self.paint_cards(cards, buf, ctx);
    }

    fn paint_cards(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if ctx.session.queries.is_empty() {
            return empty(area, buf, ctx);
        }
        // The scrollbar's column, and where there is room one that keeps it apart.
        let beside = if area.width >= 60 { 2 } else { 1 };
        let list = Rect {
            width: area.width.saturating_sub(beside),
            ..area
        };
        let cards = self.timeline.place(area, || Plan::new(ctx.session, list));
        let entrance = *self
            .entrance
            .get_or_insert(Entrance::new(ctx.now, cards.len(), ctx.options.animation));
        for (place, (index, row)) in cards.iter().enumerate() {
            let progress = entrance.progress(place, ctx.now);
            self.paint_card(*index, *row, progress, list, buf, ctx);
        }
        if let Some(bar) = self.timeline.scrollbar() {
            let width = area.width.min(1);
            bar.draw(
                Rect {
                    x: area.right() - width,
                    width,
                    ..area
                },
                buf,
                ctx,
            );
        }
    }

    fn paint_card(&self, index: usize, row: i32, progress: f32, list: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (Some(query), Some(plan)) = (ctx.session.queries.get(index), self.timeline.plan()) else {
            return;
        };
        let card = Card {
            query,
            lines: plan.lines(index),
            look: plan.look,
            bar: plan.bar.then(|| self.scale.bar(query)),
            selected: self.timeline.selected() == Some(index),
            joined: index + 1 < ctx.session.queries.len(),
            progress,
            pattern: self.pattern.as_ref(),
        };
        let height = plan.height(index);
        match u16::try_from(row) {
            Ok(row) if row + height <= list.height => {
                card.draw(
                    Rect {
                        y: list.y + row,
                        height,
                        ..list
                    },
                    buf,
                    ctx,
                );
            }
            _ => {
                let aside = Rect { y: 0, height, ..list };
                let mut painted = Buffer::empty(aside);
                card.draw(aside, &mut painted, ctx);
                copy_rows(&painted, row, list, buf);
            }
        }
    }
}

/// Copies the rows of a painted card that lie in the list, where it begins at `row` of it.
fn copy_rows(painted: &Buffer, row: i32, list: Rect, buf: &mut Buffer) {
    for y in 0..painted.area.height {
        let Ok(to) = u16::try_from(row + i32::from(y)) else {
            continue;
        };
        if to >= list.height {
            break;
        }
        for x in painted.area.left()..painted.area.right() {
            if let (Some(from), Some(cell)) = (painted.cell((x, y)), buf.cell_mut((x, list.y + to))) {
                cell.clone_from(from);
            }
        }
    }
}

fn empty(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let words = if ctx.session.complete {
        "no queries yet"
    } else {
        "reading…"
    };
    let middle = Rect {
        y: area.y + area.height / 2,
        height: area.height.min(1),
        ..area
    };
    Styled::words(words, ctx.style(Role::Dim)).draw_centred(middle, buf);
}
