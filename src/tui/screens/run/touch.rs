//! The mouse on the run screen: what is pressed or scrolled gets the focus.

use super::{Part, RunScreen};
use crate::tui::ctx::Ctx;
use crate::tui::effect::Outcome;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::widgets::ListEvent;

const PARTS: [Part; 4] = [Part::Tree, Part::Info, Part::Code, Part::Output];

impl RunScreen {
    /// What the mouse did.
    pub(super) fn touch(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        if let Some(over) = &mut self.over {
            if mouse.kind == MouseKind::Press && !mouse.is_in(over.area) {
                self.over = None;
                return Outcome::consumed();
            }
            return Outcome::taken(over.pane.mouse(mouse));
        }
        let under = |part: &Part| self.areas.of(*part).is_some_and(|area| mouse.is_in(area));
        let Some(part) = PARTS.into_iter().find(under) else {
            return Outcome::ignored();
        };
        if !matches!(mouse.kind, MouseKind::Drag | MouseKind::Release) {
            self.focus = part;
        }
        match part {
            Part::Tree => self.touch_tree(mouse, ctx),
            Part::Info => Outcome::taken(self.info.text.mouse(mouse)),
            Part::Code => Outcome::taken(self.code.mouse(mouse)),
            Part::Output => Outcome::taken(self.output.mouse(mouse)),
        }
    }

    fn touch_tree(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        let Some(query) = self.query(ctx) else {
            return Outcome::ignored();
        };
        let before = self.tree.place();
        match self.tree.mouse(mouse, &query.run) {
            Some(ListEvent::Selected(_) | ListEvent::Opened(_)) => Outcome {
                consumed: true,
                effects: self.show(before == self.tree.place(), ctx),
            },
            event => Outcome::taken(event.is_some()),
        }
    }
}
