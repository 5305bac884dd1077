//! What keys, actions and the mouse do in the box.

use super::field::Keyed;
use super::over::Over;
use super::{InputBox, Reaction, Said};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::Effect;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::notice::Notice;
use crate::tui::widgets::ListEvent;
use crossterm::event::{KeyEvent, KeyEventKind};

/// What is said where there is no room for what was typed or pasted.
const FULL: &str = "the box is full: write the rest into a file, and attach it with @path";

impl InputBox {
    /// An action, by its key or from the palette.
    pub(super) fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Reaction {
        match self.pasted_as(action, ctx) {
            Some('\n') => return self.break_line(true, ctx),
            Some(c) => return self.type_char(c, ctx),
            None => {}
        }
        if let Some(reaction) = self.act_over(action, ctx) {
            return reaction;
        }
        match action {
            Action::Send if self.asked.is_some() => self.answer(ctx),
            Action::Send => self.send(ctx),
            Action::NewLine => self.break_line(false, ctx),
            Action::Undo | Action::Redo => self.undo(action == Action::Redo),
            Action::LeaveBox => self.leave(ctx),
            Action::Interrupt => self.interrupt(ctx),
            Action::PageUp | Action::PageDown => self.page(action == Action::PageDown),
            Action::Settings => {
                self.open_settings();
                Reaction::taken()
            }
            Action::HistorySearch | Action::Editor | Action::Complete if self.asked.is_some() => Reaction::taken(),
            Action::HistorySearch => {
                self.open_recall();
                Reaction::taken()
            }
            Action::Editor => self.give_to_editor(),
            Action::Complete if self.take_suggestion() => Reaction::taken(),
            Action::Complete => self.complete().unwrap_or_else(|| self.unfold()),
            _ => Reaction::ignored(),
        }
    }

    /// The character that an action's key is in a paste without brackets: a newline there sends nothing.
    fn pasted_as(&mut self, action: Action, ctx: &Ctx<'_>) -> Option<char> {
        if !matches!(self.over, Over::None) {
            return None;
        }
        let c = match action {
            Action::Send => '\n',
            Action::Complete => '\t',
            _ => return None,
        };
        let pasting = match &mut self.asked {
            Some(asked) => asked.field()?.is_pasting(ctx.now),
            None => self.draft.is_pasting(ctx.now),
        };
        pasting.then_some(c)
    }

    fn type_char(&mut self, c: char, ctx: &Ctx<'_>) -> Reaction {
        let fits = match &mut self.asked {
            Some(asked) => asked.type_char(c, ctx.now),
            None => self.draft.type_char(c, ctx.now),
        };
        written(fits)
    }

    fn break_line(&mut self, returned: bool, ctx: &Ctx<'_>) -> Reaction {
        let fits = match &mut self.asked {
            Some(asked) => asked.break_line(returned, ctx.now),
            None => self.draft.break_line(returned, ctx.now),
        };
        written(fits)
    }

    fn answer(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let Some(asked) = &mut self.asked else {
            return Reaction::ignored();
        };
        match asked.answer(ctx.now) {
            Err(why) => Reaction::trouble(why),
            Ok(text) => {
                let id = asked.question().id;
                self.asked = None;
                self.draft.hold(ctx.now);
                Reaction::says(Said::Answer { id, text })
            }
        }
    }

    fn undo(&mut self, again: bool) -> Reaction {
        let field = match &mut self.asked {
            Some(asked) => asked.field(),
            None => Some(&mut self.draft),
        };
        let Some(field) = field else {
            return Reaction::taken();
        };
        let done = match again {
            true => field.editor().redo(),
            false => field.editor().undo(),
        };
        match done {
            true => Reaction::taken(),
            false => {
                let why = if again {
                    "nothing to do again"
                } else {
                    "nothing to undo"
                };
                Reaction::taken().effect([Effect::Notice(Notice::info(why))])
            }
        }
    }

    fn unfold(&mut self) -> Reaction {
        match self.draft.editor().unfold() {
            true => Reaction::taken(),
            false => {
                let hint = "Tab completes an @path, and unfolds a paste before the caret";
                Reaction::taken().effect([Effect::Notice(Notice::info(hint))])
            }
        }
    }

    fn leave(&mut self, ctx: &Ctx<'_>) -> Reaction {
        self.focus(false);
        self.keeping.hurry(ctx.now);
        Reaction::says(Said::Leave).effect(self.save(ctx))
    }

    /// Ctrl-C clears what is written; without that it is the caller's.
    fn interrupt(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let cleared = match &mut self.asked {
            Some(asked) => asked.clear(),
            None => self.clear(ctx),
        };
        match cleared {
            true => Reaction::taken().effect(self.save(ctx)),
            false => Reaction::ignored(),
        }
    }

    fn page(&mut self, down: bool) -> Reaction {
        let paged = match &mut self.asked {
            Some(asked) => asked.page(down),
            None => self.draft.page(down),
        };
        match paged {
            true => Reaction::taken(),
            false => Reaction::ignored(),
        }
    }

    /// A key that is bound to nothing.
    pub(super) fn key(&mut self, key: KeyEvent, ctx: &Ctx<'_>) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::ignored();
        }
        if let Some(reaction) = self.key_over(key, ctx) {
            return reaction;
        }
        let keyed = match &mut self.asked {
            Some(asked) => asked.key(key, ctx.now),
            None => self.draft.key(key, ctx.now),
        };
        match keyed {
            Keyed::Ignored => return Reaction::ignored(),
            Keyed::AtTop | Keyed::AtBottom if self.asked.is_none() => self.walk(keyed == Keyed::AtTop),
            _ => {}
        }
        written(keyed != Keyed::Full)
    }

    /// Pasted text: never a key.
    pub(super) fn paste(&mut self, text: &str, ctx: &Ctx<'_>) -> Reaction {
        if let Some(reaction) = self.paste_over(text) {
            return reaction;
        }
        let mut fits = true;
        match &mut self.asked {
            Some(asked) => {
                if let Some(field) = asked.field() {
                    fits = field.paste(text, ctx.now);
                }
            }
            None => fits = self.draft.paste(text, ctx.now),
        }
        written(fits)
    }

    /// The mouse: what lies over the box first; a press in the box gives it the focus.
    pub(super) fn touch(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Reaction {
        if mouse.is_in(self.over_area) && !matches!(self.over, Over::None) {
            return self.touch_over(mouse, ctx);
        }
        if !mouse.is_in(self.area) || !self.can_focus() {
            return Reaction::ignored();
        }
        let pressed = matches!(mouse.kind, MouseKind::Press | MouseKind::DoublePress);
        if pressed && !self.focused {
            self.focus(true);
            return Reaction::says(Said::Focus);
        }
        if self.focused {
            match &mut self.asked {
                Some(asked) => drop(asked.mouse(mouse)),
                None => drop(self.draft.mouse(mouse)),
            }
        }
        Reaction::taken()
    }

    fn touch_over(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Reaction {
        let opened = |event| matches!(event, Some(ListEvent::Opened(_)));
        match &mut self.over {
            Over::None => {}
            Over::Dialog(dialog) => drop(dialog.mouse(mouse)),
            Over::Recall(recall) => {
                if opened(recall.mouse(mouse)) {
                    self.accept_recalled(ctx);
                }
            }
            Over::Paths(paths) => {
                if opened(paths.mouse(mouse)) {
                    return self.accept_path(ctx);
                }
            }
        }
        Reaction::taken()
    }
}

/// What was typed or pasted is there, or had no room.
fn written(fits: bool) -> Reaction {
    if fits {
        Reaction::taken()
    } else {
        Reaction::trouble(FULL)
    }
}
