//! A pane over the run screen: the input, the reasoning, or the final output of what is selected.

use super::contents::Shown;
use super::pane::ContentPane;
use super::render::Piece;
use crate::text::SafeText;
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Token};
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, clear, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Which pane it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Input,
    Reasoning,
    Final,
}

impl Kind {
    /// The pane that an action opens.
    pub(super) fn of(action: Action) -> Option<Self> {
        match action {
            Action::Input => Some(Self::Input),
            Action::Reasoning => Some(Self::Reasoning),
            Action::Final => Some(Self::Final),
            _ => None,
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Reasoning => "reasoning",
            Self::Final => "final",
        }
    }

    pub(super) fn pieces(self, shown: &Shown<'_>) -> Vec<Piece> {
        match self {
            Self::Input => shown.input(),
            Self::Reasoning => shown.reasoning(),
            Self::Final => shown.result(),
        }
    }
}

/// An open pane.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) kind: Kind,
    pub(super) pane: ContentPane,
    /// Where it was drawn last.
    pub(super) area: Rect,
}

impl Over {
    /// A pane without its text yet.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            pane: ContentPane::default(),
            area: Rect::default(),
        }
    }

    /// Shows what belongs to a place.
    pub(super) fn show(&mut self, shown: &Shown<'_>, same: bool, token: &mut Token) -> Vec<Effect> {
        self.pane.show(self.kind.pieces(shown), same, token)
    }

    /// The step keys scroll here.
    pub(super) fn act(&mut self, action: Action, token: &mut Token) -> Option<Vec<Effect>> {
        let action = match action {
            Action::StepPrevious | Action::CodeUp | Action::OutputUp => Action::MoveUp,
            Action::StepNext | Action::CodeDown | Action::OutputDown => Action::MoveDown,
            Action::Parent => Action::MoveLeft,
            Action::FirstChild => Action::MoveRight,
            action => action,
        };
        self.pane.act(action, token)
    }

    /// Paints it over most of `area`.
    pub(super) fn draw(&mut self, title: &str, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        // Where there is little room, scraps of what lies below would only confuse.
        let (width, height) = match area.width < 100 || area.height < 15 {
            true => (area.width, area.height),
            false => ((area.width - area.width / 10).min(140), area.height - area.height / 8),
        };
        self.area = match (width, height) == (area.width, area.height) {
            true => area,
            false => popup_area(area, width, height, buf, ctx),
        };
        clear(self.area, buf, ctx.style(Role::Text));
        let title = SafeText::line(&format!("{} of {title}", self.kind.name()));
        let raw = if self.pane.is_raw() { "raw" } else { "" };
        let panel = Panel::new(title, ctx)
            .aside(Styled::words(raw, ctx.style(Role::Warning)))
            .focused(true);
        let inner = panel.draw(self.area, buf, ctx);
        // Text keeps away from the border at its left; at its right lies the scrollbar's column.
        let margin = u16::from(inner.width > 8);
        let room = Rect {
            x: inner.x + margin,
            width: inner.width - margin,
            ..inner
        };
        self.pane.draw(room, buf, ctx);
    }
}
