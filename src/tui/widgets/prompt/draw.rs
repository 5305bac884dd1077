//! Painting the box: what is written, what stands against it, the settings, and what lies over it.

use super::over::Over;
use super::{InputBox, Standing, settings};
use crate::model::CostSum;
use crate::text::{Row, SafeText, wrap_line};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, clear};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Cells of the mark before the text.
pub(super) const MARK: u16 = 2;
/// A popup over the box is no larger.
const WIDEST: u16 = 84;
const HIGHEST: u16 = 14;

impl InputBox {
    /// Why something cannot be done, or was not done, in at most `most` rows.
    pub(super) fn trouble(&self, width: u16, most: u16, ctx: &Ctx<'_>) -> Vec<Styled> {
        let refused = self.refusal.clone().map(|why| (why, Role::Failure));
        let Some((why, role)) = refused.or_else(|| self.standing.trouble()) else {
            return Vec::new();
        };
        let rows = wrap_line(why.as_str(), usize::from(width.max(1)));
        let (most, len) = (usize::from(most.max(1)), why.as_str().len());
        let row = |(place, row): (usize, Row)| {
            // The last one has all the rest: where that is more than it holds, its end is marked.
            let end = if place + 1 == most { len } else { row.bytes.end };
            let words = why.as_str().get(row.bytes.start..end).unwrap_or_default();
            Styled::of(SafeText::line(words.trim_end()), ctx.style(role))
        };
        rows.into_iter().take(most).enumerate().map(row).collect()
    }

    /// Actions worth a footer hint while it has the focus.
    pub fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        match self.over {
            Over::Recall(_) => vec![A::HistorySearch, A::LeaveBox],
            Over::Paths(_) => vec![A::Complete, A::LeaveBox],
            Over::Dialog(_) => vec![A::LeaveBox],
            Over::None if self.asked().is_some_and(|question| !question.options.is_empty()) => {
                vec![
                    A::SelectPrevious,
                    A::SelectNext,
                    A::Send,
                    A::NewLine,
                    A::LeaveBox,
                    A::Interrupt,
                ]
            }
            Over::None if self.asked.is_some() => vec![A::Send, A::NewLine, A::LeaveBox, A::Interrupt],
            Over::None => vec![
                A::Send,
                A::NewLine,
                A::Complete,
                A::HistorySearch,
                A::Editor,
                A::Settings,
                A::Undo,
                A::LeaveBox,
            ],
        }
    }

    /// Paints it into `area`, the rows that [`InputBox::height`] asked for; what lies over it goes above it, within
    /// `whole`.
    pub fn draw(&mut self, area: Rect, whole: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (area, whole) = (area.intersection(buf.area), whole.intersection(buf.area));
        (self.area, self.cursor) = (area, None);
        if area.is_empty() {
            return;
        }
        clear(area, buf, ctx.style(Role::Text));
        // What was planned for the whole room may not be what there is.
        let plan = self.plan(area.width, whole.height.max(area.height), ctx);
        let bordered = plan.bordered && area.height > 2;
        let inside = if bordered {
            self.draw_frame(area, buf, ctx)
        } else {
            area
        };
        let settings = plan.settings.min(inside.height.saturating_sub(1));
        let trouble = plan.trouble.min(inside.height - settings);
        let text = Rect {
            height: inside.height - settings - trouble,
            ..inside
        };
        let trouble = Rect {
            y: text.bottom(),
            height: trouble,
            ..inside
        };
        let settings = Rect {
            y: trouble.bottom(),
            height: settings,
            ..inside
        };
        let cursor = self.draw_text(text, buf, ctx);
        let told = self.trouble(trouble.width, trouble.height, ctx);
        for (row, y) in told.into_iter().zip(trouble.y..trouble.bottom()) {
            row.draw(
                Rect {
                    y,
                    height: 1,
                    ..trouble
                },
                buf,
            );
        }
        self.draw_settings(settings, !bordered, buf, ctx);
        let over = self.draw_over(area, whole, buf, ctx);
        self.cursor = over.or(cursor.filter(|_| self.shows_caret()));
    }

    fn shows_caret(&self) -> bool {
        self.focused && matches!(self.over, Over::None | Over::Paths(_))
    }

    fn draw_frame(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let title = match &self.asked {
            Some(asked) => SafeText::line(&asked.question().label),
            None => SafeText::literal("ask"),
        };
        let (mut activity, ends) = self.standing.activity(ctx);
        activity.append(ends);
        let inside = Panel::new(title, ctx)
            .aside(activity)
            .focused(self.focused)
            .draw(area, buf, ctx);
        padded(inside)
    }

    fn draw_text(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        if !self.focused {
            self.draw_hint(area, buf, ctx);
            return None;
        }
        let mark = if self.asked.is_some() { "? " } else { "› " };
        Styled::words(mark, ctx.style(Role::Key)).draw(area, buf);
        let inside = Rect {
            x: area.x + MARK.min(area.width),
            width: area.width.saturating_sub(MARK),
            ..area
        };
        if let Some(asked) = &mut self.asked {
            return asked.draw(inside, buf, ctx, true);
        }
        if self.draft.content().is_empty() {
            self.placeholder(ctx).draw(inside, buf);
        }
        self.draft.draw(inside, buf, ctx)
    }

    /// Where nothing is written yet: what may be.
    fn placeholder(&self, ctx: &Ctx<'_>) -> Styled {
        let dim = ctx.style(Role::Dim);
        match self.suggestion() {
            Some(question) => {
                let question = SafeText::line(&format!("{question}  "));
                let key = SafeText::line(&ctx.key(Action::Complete));
                Styled::of(question, dim).then(key, ctx.style(Role::Key))
            }
            None => Styled::words("a question, with @path for a file", dim),
        }
    }

    /// Without the focus: what is there to be done, and by which key.
    fn draw_hint(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let key = SafeText::line(&ctx.key(Action::Ask));
        let mut line = Styled::of(key, ctx.style(Role::Key));
        let dim = ctx.style(Role::Dim);
        if let Some(asked) = &self.asked {
            let text = SafeText::line(&format!(" answers: {}", asked.question().text));
            line.push(text, ctx.style(Role::Warning));
        } else if self.draft.content().is_empty() {
            line.push(SafeText::literal(" asks this session something"), dim);
        } else {
            line.push(SafeText::literal(" goes on with: "), dim);
            line.push(self.draft.first_line(), ctx.style(Role::Prompt));
        }
        let taken = line.draw(area, buf);
        let rest = Rect {
            x: area.x + taken,
            width: area.width - taken,
            ..area
        };
        let (mut activity, ends) = self.standing.activity(ctx);
        activity.append(ends);
        // In a border it is in the title's row.
        if self.area.height == 1 && usize::from(rest.width) > activity.width() {
            activity.draw_right(rest, buf);
        }
    }

    /// The settings; without a border they give way to what goes on.
    fn draw_settings(&self, area: Rect, with_activity: bool, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let activity = self.standing.activity(ctx);
        let (line, aside) = match with_activity && activity.0.width() > 0 {
            true => activity,
            false => {
                let next = matches!(self.standing, Standing::Running { .. } | Standing::Cancelling);
                settings::row((&self.settings, next), spent(ctx), area.width, self.focused, ctx)
            }
        };
        let taken = aside.draw_right(area, buf).min(area.width);
        let gap = u16::from(taken > 0);
        let rest = Rect {
            width: area.width.saturating_sub(taken + gap),
            ..area
        };
        line.draw(rest, buf);
    }

    /// What lies over the box, above it where there is room; returns its caret.
    fn draw_over(&mut self, area: Rect, whole: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let (rows, title) = match &self.over {
            Over::None => return None,
            Over::Recall(recall) => (recall.height(), "asked and written before"),
            Over::Paths(paths) => (paths.height(), "attach a file"),
            Over::Dialog(dialog) => (dialog.height(), "the next query's settings"),
        };
        let rows = u16::try_from(rows).unwrap_or(HIGHEST).saturating_add(2).min(HIGHEST);
        let above = area.y.saturating_sub(whole.y);
        // Without room above it lies on the box itself.
        let bottom = if above >= rows.min(5) { area.y } else { whole.bottom() };
        let height = rows.min(bottom.saturating_sub(whole.y));
        let place = Rect {
            y: bottom - height,
            height,
            width: whole.width.min(WIDEST),
            ..whole
        };
        self.over_area = place;
        clear(place, buf, ctx.style(Role::Text));
        let panel = Panel::new(SafeText::literal(title), ctx).focused(true);
        let inside = padded(panel.draw(place, buf, ctx));
        match &mut self.over {
            Over::None => None,
            Over::Recall(recall) => recall.draw(inside, buf, ctx),
            Over::Dialog(dialog) => dialog.draw(inside, buf, ctx),
            Over::Paths(paths) => {
                paths.draw(inside, buf, ctx);
                None
            }
        }
    }
}

/// A blank column at both sides, where there is room.
fn padded(area: Rect) -> Rect {
    let blank = u16::from(area.width > 8);
    Rect {
        x: area.x + blank,
        width: area.width - 2 * blank,
        ..area
    }
}

/// What the session has cost: completed queries, and runs without FINAL.
fn spent(ctx: &Ctx<'_>) -> [CostSum; 2] {
    [ctx.session.completed.cost, ctx.session.lost.cost]
}
