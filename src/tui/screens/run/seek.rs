//! Searching on the run screen: the focus goes where the matches are, and where no pane in sight has one, it is said
//! which other text of the place does.

use super::over::Kind;
use super::render::Piece;
use super::{Part, RunScreen};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::Effect;
use crate::tui::pattern::Pattern;
use crate::tui::screens::{Matches, TextPart};

/// Texts of a place that are not in sight, with what they are called and opened by.
const HIDDEN: [(Kind, Action); 3] = [
    (Kind::Reasoning, Action::Reasoning),
    (Kind::Final, Action::Final),
    (Kind::Input, Action::Input),
];

impl RunScreen {
    pub(super) fn search(&mut self, pattern: Option<&Pattern>, ctx: &Ctx<'_>) {
        self.pattern = pattern.cloned();
        self.panes().for_each(|pane| pane.search(pattern));
        self.info.text.search(pattern);
        if let Some(query) = self.query(ctx) {
            self.tree.search(pattern, &query.run);
        }
        if pattern.is_some() && self.over.is_none() && !self.has_match(self.focus) {
            let mut texts = [Part::Code, Part::Output].into_iter();
            self.focus = texts.find(|part| self.has_match(*part)).unwrap_or(self.focus);
        }
        self.note_elsewhere(ctx);
    }

    /// Something was found in this text of the place that is shown: it gets the focus, or is opened.
    pub(super) fn found_in(&mut self, part: TextPart, ctx: &Ctx<'_>) -> Vec<Effect> {
        self.over = None;
        let kind = match part {
            TextPart::Reasoning => Kind::Reasoning,
            TextPart::Final => Kind::Final,
            TextPart::Query => Kind::Input,
            TextPart::Output => {
                self.focus = Part::Output;
                return Vec::new();
            }
            TextPart::Code | TextPart::Memory => {
                self.focus = Part::Code;
                return Vec::new();
            }
        };
        self.toggle_over(kind, ctx).effects
    }

    /// How the search stands in a part.
    pub(super) fn matches_in(&self, part: Part) -> Option<Matches> {
        match part {
            Part::Tree => self.tree.matches(),
            Part::Info => self.info.text.matches(),
            Part::Code => self.code.matches(),
            Part::Output => self.output.matches(),
        }
    }

    fn has_match(&self, part: Part) -> bool {
        self.matches_in(part).is_some_and(|matches| matches.total > 0)
    }

    /// Looks for what is searched for in the texts that are not in sight.
    pub(super) fn note_elsewhere(&mut self, ctx: &Ctx<'_>) {
        self.elsewhere = None;
        let (Some(pattern), Some(query)) = (&self.pattern, self.query(ctx)) else {
            return;
        };
        let shown = self.shown(query);
        let has = |kind: Kind| kind.pieces(&shown).iter().any(|piece| holds(piece, pattern));
        let found = HIDDEN.into_iter().find(|(kind, _)| has(*kind));
        self.elsewhere = found.map(|(kind, action)| (kind.name(), action));
    }
}

fn holds(piece: &Piece, pattern: &Pattern) -> bool {
    match piece {
        Piece::Data(text) | Piece::Code(text) | Piece::Plain(text) => pattern.is_in(text.safe.as_str()),
        Piece::Words(..) => false,
    }
}
