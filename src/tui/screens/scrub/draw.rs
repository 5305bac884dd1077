//! How the scrub screen looks: the steps in a row, the names at the left, code and the selected name at the right.

use super::{Part, ScrubScreen, names};
use crate::model::Unkept;
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::live::Replaying;
use crate::tui::screens::split::{Split, Title, indented};
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A step in the strip.
struct Label {
    step: u64,
    words: String,
    /// Its code raised when it was recorded.
    raised: bool,
    mark: Mark,
}

/// What is said of a step beside its number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// It is run again.
    Running,
    /// It came out as recorded.
    Faithful,
    /// It did not.
    Mismatch,
}

impl Label {
    fn width(&self) -> usize {
        self.words.len() + 2 + usize::from(self.raised) + usize::from(self.mark != Mark::None)
    }

    fn draw(&self, shown: u64, ctx: &Ctx<'_>) -> Styled {
        let (mark, role) = match self.mark {
            Mark::None => ("", Role::Text),
            Mark::Running => (ctx.glyphs().running, Role::Running),
            Mark::Faithful => (ctx.glyphs().check, Role::Success),
            Mark::Mismatch => (ctx.glyphs().differs, Role::Warning),
        };
        let is_shown = self.step == shown;
        let (open, close) = if is_shown { ("[", "]") } else { (" ", " ") };
        let raised = if self.raised { ctx.glyphs().failed } else { "" };
        let frame = match (is_shown, self.mark) {
            (true, _) => Role::Accent,
            (false, Mark::None) if self.raised => Role::Failure,
            (false, _) => role,
        };
        let frame = ctx.style(frame);
        Styled::words(open, frame)
            .then(SafeText::line(&self.words), frame)
            .then(SafeText::literal(raised), ctx.style(Role::Failure))
            .then(SafeText::literal(mark), ctx.style(role))
            .then(SafeText::literal(close), frame)
    }
}

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
        let rest = self.paint_replay(rest, buf, ctx);
        let split = Split::of(rest, SHARE);
        self.paint_names(&split, buf, ctx);
        self.paint_texts(split.detail, buf, ctx);
    }

    /// `start 1 2 [3] 4`, each with the mark of what it came to; the one shown in the middle where they do not all fit.
    fn paint_strip(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let labels = self.labels(ctx);
        let aim = self.replay.as_ref().and_then(Replaying::current).unwrap_or(self.step);
        let aimed = labels.iter().position(|label| label.step == aim).unwrap_or(0);
        let room = usize::from(area.width).saturating_sub(2);
        let mut first = aimed;
        let mut used = labels.get(aimed).map_or(0, Label::width);
        while let Some(before) = first.checked_sub(1) {
            used += labels.get(before).map_or(0, Label::width);
            if used > room * 2 / 3 {
                break;
            }
            first = before;
        }
        self.strip.clear();
        let mut line = Styled::words(if first > 0 { "‹ " } else { "  " }, ctx.style(Role::Dim));
        for label in labels.iter().skip(first) {
            let from = line.width();
            if from + label.width() + 2 > room {
                line.push(SafeText::literal("›"), ctx.style(Role::Dim));
                break;
            }
            line.append(label.draw(self.step, ctx));
            let offset = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
            let place = Rect::new(
                area.x.saturating_add(offset(from)),
                area.y,
                offset(line.width() - from),
                area.height,
            );
            self.strip.push((place, label.step));
            line.push(SafeText::literal(" "), ctx.style(Role::Dim));
        }
        let used = line.draw(area, buf);
        let keys = Styled::words("← → step  ↑ ↓ name ", ctx.style(Role::Dim));
        if usize::from(area.width.saturating_sub(used)) > keys.width() + 2 {
            keys.draw_right(area, buf);
        }
    }

    /// The start and the steps. What a replay says of a step stands beside what was recorded of it.
    fn labels(&self, ctx: &Ctx<'_>) -> Vec<Label> {
        let replay = self.replay.as_ref();
        let running = replay.and_then(Replaying::current);
        let start = Label {
            step: 0,
            words: "start".into(),
            raised: false,
            mark: Mark::None,
        };
        let steps = self.steps(ctx).into_iter().map(|step| Label {
            step: step.number,
            words: step.number.to_string(),
            raised: step.failed,
            mark: match replay.and_then(|replay| replay.mark(step.number)) {
                Some(true) => Mark::Faithful,
                Some(false) => Mark::Mismatch,
                None if running == Some(step.number) => Mark::Running,
                None => Mark::None,
            },
        });
        std::iter::once(start).chain(steps).collect()
    }

    fn paint_names(&mut self, split: &Split, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let title = Title {
            text: SafeText::literal("Names"),
            aside: Styled::of(SafeText::line(&self.summary()), ctx.style(Role::Dim)),
        };
        let focused = self.focus == Part::Names;
        let inside = split.frame(split.list, title, focused, buf, ctx);
        if let (Some(words), true) = (self.absence(), self.rows.is_empty()) {
            let mut pane = TextPane::new(words);
            return pane.draw(indented(inside), buf, ctx);
        }
        let rows = &self.rows;
        self.list.draw(inside, buf, ctx, focused, |index, width| {
            rows.get(index).map_or_else(Styled::new, |row| row.draw(width, ctx))
        });
    }

    /// What the step did to the names, as far as it is known.
    fn summary(&self) -> String {
        let before = self.step.checked_sub(1);
        let point = |step: u64| match &self.recorded {
            Some(Ok(points)) => points.iter().find(|point| point.step == step),
            _ => None,
        };
        match before.and_then(point).map(|point| &point.names) {
            Some(Err(_)) if !self.rows.is_empty() => "what it changed is not known".into(),
            _ => names::summary(&self.rows),
        }
    }

    /// Why there are no names to show.
    fn absence(&self) -> Option<SafeText> {
        match &self.recorded {
            None => Some(SafeText::literal("reading…")),
            Some(Err(why)) => Some(why.clone()),
            Some(Ok(points)) => match points
                .iter()
                .find(|point| point.step == self.step)
                .map(|point| &point.names)
            {
                None => Some(SafeText::literal("this step is not in the event log")),
                Some(Err(why)) => Some(self.unkept(*why)),
                Some(Ok(_)) if self.step == 0 => Some(SafeText::literal("no names yet: this run began with nothing")),
                Some(Ok(_)) => Some(SafeText::literal("no names")),
            },
        }
    }

    /// Why they are not there, and where there are some.
    fn unkept(&self, why: Unkept) -> SafeText {
        let instead = match why {
            Unkept::Thinned => {
                "\n\nThe last step has them. Go through one of the session's newest runs to see them after each step: \
                 those are kept."
            }
            Unkept::NotSaved | Unkept::Adopted => "",
        };
        SafeText::block(&format!("{}{instead}", why.words()))
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
            step => SafeText::line(&format!("Code and output of step {step}")),
        };
        let inside = Panel::new(title, ctx)
            .focused(self.focus == Part::Code)
            .draw(above, buf, ctx);
        self.code.draw(indented(inside), buf, ctx);
        let name = self.list.selected().and_then(|index| self.rows.get(index));
        let title = match name {
            Some(row) if row.is_mismatch => SafeText::line(&format!("Not as recorded: {}", row.name)),
            Some(row) => SafeText::line(&row.name),
            None => SafeText::literal("Value"),
        };
        let inside = Panel::new(title, ctx)
            .focused(self.focus == Part::Detail)
            .draw(below, buf, ctx);
        self.detail.draw(indented(inside), buf, ctx);
    }
}
