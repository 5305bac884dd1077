//! What the actions do on the run screen: steps move the tree wherever the focus is, everything else goes to the
//! focused part.

use super::over::{Kind, Over};
use super::{Part, RunScreen};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::notice::Notice;
use crate::tui::screens::{QueryKey, Route};

impl RunScreen {
    /// Does an action; ignored ones are the program's.
    pub(super) fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        if let Some(kind) = Kind::of(action) {
            return self.toggle_over(kind, ctx);
        }
        match action {
            Action::RunPrevious => return self.go_to_run(-1, ctx),
            Action::RunNext => return self.go_to_run(1, ctx),
            Action::Timeline => return Outcome::with(Effect::Push(Route::Timeline { query: self.key })),
            Action::Diff => return Outcome::with(Effect::Push(Route::DiffWith { query: self.key })),
            Action::Replay => {
                let step = self.root_step(ctx);
                return Outcome::with(Effect::Push(Route::Scrub { query: self.key, step }));
            }
            Action::Fork => {
                let step = self.root_step(ctx).unwrap_or(0);
                return Outcome::with(Effect::Push(Route::Fork { query: self.key, step }));
            }
            _ => (),
        }
        match self.over.is_some() {
            true => self.act_over(action),
            false => self.act_below(action, ctx),
        }
    }

    /// The number of the step that is shown, or of the one of the root under which it lies.
    fn root_step(&self, ctx: &Ctx<'_>) -> Option<u64> {
        let run = &self.query(ctx)?.run;
        let place = self.tree.place()?;
        let mut agent = run.agent(place.agent)?;
        let mut step = place.step;
        while let Some(parent) = agent.parent {
            step = agent.parent_step;
            agent = run.agent(parent)?;
        }
        Some(agent.steps.get(step?)?.number)
    }

    /// Opens a pane, changes to it, or closes it when it is open.
    pub(super) fn toggle_over(&mut self, kind: Kind, ctx: &Ctx<'_>) -> Outcome {
        if self.over.as_ref().is_some_and(|over| over.kind == kind) {
            self.over = None;
            return Outcome::consumed();
        }
        let mut over = Over::new(kind);
        over.pane.search(self.pattern.as_ref());
        if self.was_alive {
            over.pane.follow();
        }
        self.over = Some(over);
        Outcome {
            consumed: true,
            effects: self.show(true, ctx),
        }
    }

    fn act_over(&mut self, action: Action) -> Outcome {
        if matches!(action, Action::Back | Action::Quit | Action::Interrupt | Action::Open) {
            self.over = None;
            return Outcome::consumed();
        }
        let done = self.over.as_mut().and_then(|over| over.act(action, &mut self.token));
        match done {
            Some(effects) => Outcome {
                consumed: true,
                effects,
            },
            // Moving on in the tree would change the pane under the reader's eyes.
            None => Outcome::taken(matches!(
                action,
                Action::SiblingNext | Action::SiblingPrevious | Action::NextPane
            )),
        }
    }

    fn act_below(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        match action {
            Action::StepPrevious
            | Action::StepNext
            | Action::Parent
            | Action::FirstChild
            | Action::SiblingNext
            | Action::SiblingPrevious => self.act_on_tree(action, ctx),
            Action::CodeUp => self.scroll(Part::Code, -1),
            Action::CodeDown => self.scroll(Part::Code, 1),
            Action::OutputUp => self.scroll(Part::Output, -1),
            Action::OutputDown => self.scroll(Part::Output, 1),
            Action::NextPane => self.focus_next(),
            Action::Open => self.open_here(ctx),
            Action::ZoomIn => self.zoom(true),
            Action::ZoomOut | Action::ZoomReset => self.zoom(false),
            Action::Back if self.zoomed => self.zoom(false),
            action => self.act_on_focus(action, ctx),
        }
    }

    /// Moves or folds in the tree, and shows what is selected then.
    pub(super) fn act_on_tree(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        let Some(query) = self.query(ctx) else {
            return Outcome::ignored();
        };
        let before = self.tree.place();
        if !self.tree.act(action, &query.run) {
            return Outcome::ignored();
        }
        Outcome {
            consumed: true,
            effects: self.show(before == self.tree.place(), ctx),
        }
    }

    /// Scrolling a part gives it the focus.
    fn scroll(&mut self, part: Part, rows: isize) -> Outcome {
        self.focus = part;
        match part {
            Part::Output => self.output.scroll(rows),
            _ => self.code.scroll(rows),
        }
        Outcome::consumed()
    }

    fn focus_next(&mut self) -> Outcome {
        self.focus = match self.focus {
            Part::Code => Part::Output,
            Part::Output => Part::Tree,
            Part::Tree => Part::Info,
            Part::Info => Part::Code,
        };
        Outcome::consumed()
    }

    /// Unfolds what is folded; else gives the focused part all the room, or takes it back.
    fn open_here(&mut self, ctx: &Ctx<'_>) -> Outcome {
        if self.tree.is_folded() {
            return self.act_on_tree(Action::Fold, ctx);
        }
        self.zoom(!self.zoomed)
    }

    fn zoom(&mut self, zoomed: bool) -> Outcome {
        self.zoomed = zoomed;
        Outcome::consumed()
    }

    fn act_on_focus(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        let done = match self.focus {
            Part::Tree => None,
            Part::Info if action == Action::Raw => {
                self.info.exact = !self.info.exact;
                Some(Vec::new())
            }
            Part::Info => self.info.text.act(action).then(Vec::new),
            Part::Code => self.code.act(action, &mut self.token),
            Part::Output => self.output.act(action, &mut self.token),
        };
        match done {
            Some(effects) => Outcome {
                consumed: true,
                effects,
            },
            None if self.focus == Part::Tree || action == Action::Fold => self.act_on_tree(action, ctx),
            None => Outcome::ignored(),
        }
    }

    /// Goes to the run before or after this one, and stays on the screen.
    fn go_to_run(&mut self, by: isize, ctx: &Ctx<'_>) -> Outcome {
        let to = self
            .key
            .index(ctx.session)
            .and_then(|index| index.checked_add_signed(by));
        match to.and_then(|index| ctx.session.queries.get(index)) {
            Some(query) => {
                let key = QueryKey::of(query);
                Outcome {
                    consumed: true,
                    effects: self.open(key, None, ctx),
                }
            }
            None => {
                let words = if by < 0 {
                    "this is the first run"
                } else {
                    "this is the last run"
                };
                Outcome::with(Effect::Notice(Notice::info(words)))
            }
        }
    }
}
