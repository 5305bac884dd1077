//! The first and the last row of every screen: where one is, and which keys help.

use super::Styled;
use crate::text::SafeText;
use crate::tui::action::{Action, Here};
use crate::tui::ctx::Ctx;
use crate::tui::notice::{Notice, Tone};
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The first row: the program's name, the place, and at the right end what is going on.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Session and place, outermost first.
    pub path: Vec<SafeText>,
    /// Counts and states at the right end; left out where there is no room.
    pub aside: Styled,
}

impl Header {
    /// Paints it into the first row of `area`.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut line = Styled::words(" fast-rlm ", ctx.style(Role::Accent));
        let last = self.path.len().saturating_sub(1);
        for (place, text) in self.path.iter().enumerate() {
            line.push(
                SafeText::literal(if ctx.options.ascii { "> " } else { "› " }),
                ctx.style(Role::Dim),
            );
            let role = if place == last { Role::Title } else { Role::Text };
            line.push(text.clone(), ctx.style(role));
            line.push(SafeText::literal(" "), ctx.style(Role::Text));
        }
        let mut room = Rect {
            height: area.height.min(1),
            ..area
        };
        if line.width() + self.aside.width() + 2 <= usize::from(room.width) {
            room.width -= self.aside.draw_right(room, buf);
        }
        line.draw(room, buf);
    }
}

/// The last row: a notice while there is one, else hints.
#[derive(Clone, Debug, Default)]
pub struct Footer<'a> {
    /// What is to be said.
    pub notice: Option<&'a Notice>,
    /// Keys worth knowing here, the most useful first.
    pub hints: Vec<Action>,
    /// Keys that are there at any width, after them: help, and the way out.
    pub always: Vec<Action>,
    /// What they do here.
    pub here: Here,
    /// At the right end: how the search stands.
    pub aside: Styled,
}

impl Footer<'_> {
    /// Paints it into the first row of `area`: whole hints only, as many as fit, none that cannot be done.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut room = Rect {
            height: area.height.min(1),
            ..area
        };
        if self.aside.width() + 10 <= usize::from(room.width) {
            room.width -= self.aside.draw_right(room, buf);
        }
        match self.notice {
            Some(notice) => notice_line(notice, ctx).draw(room, buf),
            None => self.hint_line(usize::from(room.width), ctx).draw(room, buf),
        };
    }
}

fn notice_line(notice: &Notice, ctx: &Ctx<'_>) -> Styled {
    let (mark, ascii, role) = match notice.tone {
        Tone::Done => (" ✓ ", " + ", Role::Success),
        Tone::Info => (" · ", " - ", Role::Accent),
        Tone::Trouble => (" ! ", " ! ", Role::Failure),
    };
    let mark = if ctx.options.ascii { ascii } else { mark };
    Styled::words(mark, ctx.style(role)).then(notice.text.clone(), ctx.style(Role::Text))
}

impl Footer<'_> {
    /// As many hints as fit, then those that are always there.
    fn hint_line(&self, room: usize, ctx: &Ctx<'_>) -> Styled {
        let rest: Vec<Action> = self
            .hints
            .iter()
            .copied()
            .filter(|hint| !self.always.contains(hint))
            .collect();
        let last = fitting(&groups(&self.always, &self.here, ctx), room, ctx);
        let mut line = fitting(&groups(&rest, &self.here, ctx), room.saturating_sub(last.width()), ctx);
        line.append(last);
        line
    }
}

/// Keys with the words for what they do.
type Group = (Vec<String>, &'static str);

/// Actions that can be done and have a key; neighbours with the same words share them (`h j code`).
fn groups(hints: &[Action], here: &Here, ctx: &Ctx<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for action in hints.iter().filter(|action| action.unavailable(&ctx.can).is_none()) {
        let Some(key) = ctx.keymap.label(*action, ctx.options.ascii) else {
            continue;
        };
        let words = here.hint(*action);
        match groups.last_mut() {
            Some((keys, hint)) if *hint == words => keys.push(key),
            _ => groups.push((vec![key], words)),
        }
    }
    groups
}

/// The first groups, whole ones only.
fn fitting(groups: &[Group], room: usize, ctx: &Ctx<'_>) -> Styled {
    let mut line = Styled::new();
    for (keys, hint) in groups {
        let key = SafeText::line(&format!(" {}", keys.join(" ")));
        let hint = SafeText::line(&format!(" {hint} "));
        let next = Styled::of(key, ctx.style(Role::Key)).then(hint, ctx.style(Role::Dim));
        if line.width() + next.width() > room {
            break;
        }
        line.append(next);
    }
    line
}
