//! A frame: header, the screens of the stack, footer. Too small a terminal gets one line that says so.

use super::State;
use super::search_bar::standing;
use crate::model::{Label, Session};
use crate::text::{SafeText, ascii, count, plural};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::screens::Route;
use crate::tui::theme::Role;
use crate::tui::widgets::{Footer, Header, Styled, clear};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Below this, nothing useful fits.
const LEAST: (u16, u16) = (40, 10);

/// What the footer says until the first key.
const WELCOME: [Action; 3] = [Action::Help, Action::Ask, Action::Memory];

impl State {
    /// Paints a frame; returns the cell of the hardware cursor, if something is being typed.
    pub fn draw(&mut self, buf: &mut Buffer) -> Option<Position> {
        let area = buf.area;
        clear(area, buf, self.world.ctx().style(Role::Text));
        let cursor = if area.width < LEAST.0 || area.height < LEAST.1 {
            self.draw_too_small(area, buf);
            None
        } else {
            self.draw_all(area, buf)
        };
        if self.world.options.ascii {
            to_ascii(buf);
        }
        cursor
    }

    fn draw_too_small(&self, area: Rect, buf: &mut Buffer) {
        let text = format!("needs 40x10, has {}x{}", area.width, area.height);
        Styled::of(SafeText::line(&text), self.world.ctx().style(Role::Warning)).draw(area, buf);
    }

    fn draw_all(&mut self, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let body = Rect::new(area.x, area.y + 1, area.width, area.height - 2);
        let rows = self.box_rows(body);
        let ctx = self.world.ctx();
        let screen = Rect {
            height: body.height - rows,
            ..body
        };
        self.stack.draw_base(screen, buf, &ctx);
        self.header(&ctx).draw(area, buf, &ctx);
        if rows > 0 {
            self.draw_box(body, rows, buf);
        }
        let ctx = self.world.ctx();
        self.stack.draw_popups(body, buf, &ctx);
        let last = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        self.draw_footer(last, buf)
            .or_else(|| self.box_cursor())
            .or_else(|| self.stack.top().and_then(|screen| screen.cursor()))
    }

    fn header(&self, ctx: &Ctx<'_>) -> Header {
        let mut path = Vec::new();
        if !ctx.session.facts.name.is_empty() {
            path.push(SafeText::line(&ctx.session.facts.name));
        }
        let title = self.stack.base().map(|screen| screen.title(ctx));
        path.extend(title.filter(|title| !title.as_str().is_empty()));
        Header {
            path,
            aside: header_aside(ctx),
        }
    }

    fn draw_footer(&self, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let ctx = self.world.ctx();
        let top = self.stack.top();
        let aside = standing(top.and_then(|screen| screen.matches()), &ctx);
        if let Some(bar) = &self.search {
            let taken = aside.draw_right(area, buf);
            let room = Rect {
                width: area.width - taken,
                ..area
            };
            return bar
                .edit
                .draw_after(&Styled::words(" / ", ctx.style(Role::Key)), room, buf, &ctx);
        }
        let mut hints = match top {
            Some(_) if self.box_types() => self.box_hints().unwrap_or_default(),
            Some(screen) => screen.hints(&ctx),
            None => Vec::new(),
        };
        let mut always = self.always_hinted(&hints);
        if self.untouched && !self.context().types_text() {
            always.retain(|action| !WELCOME.contains(action));
            hints.retain(|action| !WELCOME.contains(action));
            drop(hints.splice(0..0, WELCOME));
        }
        let footer = Footer {
            notice: self.notice.as_ref().map(|(notice, _)| notice),
            hints,
            always,
            here: top.map(|screen| screen.here()).unwrap_or_default(),
            aside,
        };
        footer.draw(area, buf, &ctx);
        None
    }

    /// What a person who is lost looks for: all keys, and the way out. Where one types, that is the one that leaves.
    fn always_hinted(&self, hints: &[Action]) -> Vec<Action> {
        let leaves = [Action::Cancel, Action::LeaveBox];
        match self.stack.top() {
            _ if self.context().types_text() => {
                hints.iter().copied().filter(|action| leaves.contains(action)).collect()
            }
            _ if self.stack.top_route() == Some(&Route::Help) => vec![Action::Back],
            Some(screen) if screen.is_popup() || self.stack.depth() > 1 => vec![Action::Help, Action::Back],
            _ => vec![Action::Help, Action::Quit],
        }
    }
}

/// What is going on: still reading, a run that is alive, problems with their key.
fn header_aside(ctx: &Ctx<'_>) -> Styled {
    let mut aside = Styled::new();
    let mut say = |text: String, role| aside.push(SafeText::line(&text), ctx.style(role));
    let session = ctx.session;
    if ctx.can.session && !session.complete && (session.facts.seeking || !session.logs.is_empty()) {
        say(reading(session), Role::Dim);
    }
    let alive = session
        .queries
        .iter()
        .any(|query| query.label == Label::Pending && query.outcome == crate::model::Outcome::Running);
    if alive {
        say(format!(" {} running ", ctx.glyphs().running), Role::Running);
    }
    match session.problems.len() as u128 {
        0 => {}
        n => say(format!(" ! {} ", plural(n, "problem", "problems")), Role::Warning),
    }
    if ctx.options.read_only {
        say(" read-only ".into(), Role::Dim);
    }
    aside
}

/// How far reading is: in transcripts, where there are several.
fn reading(session: &Session) -> String {
    let runs = || {
        session
            .queries
            .iter()
            .map(|query| &query.run)
            .filter(|run| run.log.is_some())
    };
    match runs().count() {
        0 | 1 => " reading ".into(),
        all => format!(
            " reading {} of {} runs ",
            count(runs().filter(|run| run.complete).count() as u128),
            count(all as u128)
        ),
    }
}

/// Every cell in ASCII, for terminals that show nothing else.
fn to_ascii(buf: &mut Buffer) {
    let area = buf.area;
    for at in area.positions() {
        let Some(cell) = buf.cell_mut(at) else {
            continue;
        };
        if cell.symbol().is_ascii() {
            continue;
        }
        let plain = ascii(cell.symbol()).into_owned();
        let style = cell.style();
        for (x, c) in (at.x..area.right()).zip(plain.chars()) {
            if let Some(cell) = buf.cell_mut((x, at.y)) {
                cell.reset();
                cell.set_char(c).set_style(style);
            }
        }
    }
}
