//! A pane of the run screen: pieces in their forms, a raw toggle, folding, and the view on them. Long texts are shown
//! plain at once and rendered off the screen's thread.

use super::render::{AT_ONCE, Piece, Rendering, size};
use crate::tui::action::Action;
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Language, Token, Work};
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::pattern::Pattern;
use crate::tui::screens::Matches;
use crate::tui::widgets::{Highlights, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::any::Any;
use std::sync::Arc;

/// A width to lay Markdown out for before the pane was drawn.
const FIRST_WIDTH: usize = 80;

/// Pieces and the view on them.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentPane {
    text: TextPane,
    pieces: Vec<Piece>,
    rendering: Rendering,
    raw: bool,
    /// The width it was printed for.
    width: usize,
    /// Asked for: highlights of the code, or a rendering.
    asked: Option<Token>,
}

impl ContentPane {
    /// Shows other pieces from their start, or the same ones, grown, from where the view is.
    pub(super) fn show(&mut self, pieces: Vec<Piece>, same: bool, token: &mut Token) -> Vec<Effect> {
        if pieces == self.pieces {
            return Vec::new();
        }
        self.pieces = pieces;
        self.make(same, token)
    }

    /// Makes everything from the pieces again; what takes long comes later.
    fn make(&mut self, same: bool, token: &mut Token) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.asked.take().map(Effect::Cancel).into_iter().collect();
        let at_once = size(&self.pieces) <= AT_ONCE;
        self.rendering = match (at_once, self.raw) {
            (true, true) => Rendering::raw(&self.pieces),
            (true, false) => Rendering::of(&self.pieces),
            (false, _) => Rendering::plain(&self.pieces),
        };
        self.print(same);
        if !at_once && self.needs_rendering() {
            let (pieces, raw) = (self.pieces.clone(), self.raw);
            let render = move || {
                if raw {
                    Rendering::raw(&pieces)
                } else {
                    Rendering::of(&pieces)
                }
            };
            let work = Work {
                name: "render a pane",
                run: Box::new(move |_| Box::new(render())),
            };
            let token = token.next();
            self.asked = Some(token);
            effects.push(Effect::Work { token, work });
        } else if let (Some(code), false) = (self.code(), self.raw) {
            let (token, text) = (token.next(), code.safe.clone());
            self.asked = Some(token);
            effects.push(Effect::Highlight {
                token,
                language: Language::Python,
                text,
            });
        }
        effects
    }

    /// Code never has another form; it is only made again to show it raw.
    fn needs_rendering(&self) -> bool {
        let grows = self.pieces.iter().any(|piece| matches!(piece, Piece::Plain(_)));
        self.raw || (self.code().is_none() && !grows)
    }

    /// Stays at the end while the text grows, until a person scrolls.
    pub(super) fn follow(&mut self) {
        self.text.pin();
    }

    fn code(&self) -> Option<&Text> {
        match self.pieces.as_slice() {
            [Piece::Code(text)] if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn print(&mut self, same: bool) {
        let width = if self.width == 0 { FIRST_WIDTH } else { self.width };
        let printed = self.rendering.print(width);
        if same {
            self.text.update(printed.text)
        } else {
            self.text.open(printed.text)
        }
        self.text
            .set_highlights(self.text.generation(), Arc::new(printed.highlights));
    }

    /// Takes the highlights it asked for; `false` when they are not its own.
    pub(super) fn highlighted(&mut self, token: Token, highlights: &Arc<Highlights>) -> bool {
        let own = self.asked == Some(token);
        if own {
            self.asked = None;
            self.text.set_highlights(self.text.generation(), Arc::clone(highlights));
        }
        own
    }

    /// Takes the rendering it asked for; `false` when it is not its own.
    pub(super) fn worked(&mut self, token: Token, result: &dyn Any) -> bool {
        let own = self.asked == Some(token);
        if let Some(rendering) = result.downcast_ref::<Rendering>().filter(|_| own) {
            self.asked = None;
            let same = !self.raw && rendering.is_plain();
            self.rendering = rendering.clone();
            if !same {
                self.print(true);
            }
        }
        own
    }

    /// Scrolls, toggles, folds, walks matches; `None` for actions that mean nothing here.
    pub(super) fn act(&mut self, action: Action, token: &mut Token) -> Option<Vec<Effect>> {
        match action {
            Action::Raw => {
                self.raw = !self.raw;
                Some(self.make(true, token))
            }
            Action::Fold if self.rendering.folds() => {
                self.rendering.toggle_all();
                self.print(true);
                Some(Vec::new())
            }
            action => self.text.act(action).then(Vec::new),
        }
    }

    /// Scrolls by rows.
    pub(super) fn scroll(&mut self, rows: isize) {
        self.text.scroll(rows);
    }

    /// The wheel scrolls, a press on a row that folds folds it; `false` outside of the pane.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> bool {
        let taken = self.text.mouse(mouse);
        if taken && mouse.kind == MouseKind::Press && mouse.is_in(self.text.area()) && self.rendering.folds() {
            let line = self.text.line_at_row(mouse.at.y);
            if line.is_some_and(|line| self.rendering.toggle_line(line, self.width)) {
                self.print(true);
            }
        }
        taken
    }

    /// Searches its text.
    pub(super) fn search(&mut self, pattern: Option<&Pattern>) {
        self.text.search(pattern);
    }

    /// How the search stands in it.
    pub(super) fn matches(&self) -> Option<Matches> {
        self.text.matches()
    }

    /// It shows everything as it was recorded.
    pub(super) fn is_raw(&self) -> bool {
        self.raw
    }

    /// The data of all pieces, with the words between them where there are several.
    pub(super) fn recorded(&self) -> Vec<Text> {
        let text = |piece: &Piece| match piece {
            Piece::Words(words, _) => Text::new(words.as_str()),
            Piece::Data(text) | Piece::Code(text) | Piece::Plain(text) => text.clone(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// Paints what is in sight.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        // The column of the scrollbar is none of the text's.
        let width = usize::from(area.width.saturating_sub(1)).max(1);
        if width != std::mem::replace(&mut self.width, width) && self.rendering.depends_on_width() {
            self.print(true);
        }
        self.text.draw(area, buf, ctx);
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> &crate::text::SafeText {
        self.text.text()
    }
}
