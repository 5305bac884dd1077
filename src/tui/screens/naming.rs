//! A name for a session: a new one, or another one for the session that is chosen.

use super::Screen;
use crate::text::SafeText;
use crate::tui::action::{Action, Context};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::Input;
use crate::tui::live::Errand;
use crate::tui::theme::Role;
use crate::tui::widgets::{LineEdit, Panel, Styled, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::path::{Path, PathBuf};

/// What the name is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A new session in this directory.
    New(PathBuf),
    /// The session in this directory.
    Rename(PathBuf),
}

/// The dialog.
#[derive(Debug)]
pub(super) struct NamingScreen {
    naming: Naming,
    edit: LineEdit,
    cursor: Option<Position>,
}

impl NamingScreen {
    /// `typed` is what was not taken for a name before: nobody types it again for a slip.
    pub(super) fn new(naming: Naming, typed: Option<&str>) -> Self {
        let edit = match (&naming, typed) {
            (_, Some(typed)) => LineEdit::with_text(typed),
            (Naming::New(_), None) => LineEdit::default(),
            (Naming::Rename(dir), None) => LineEdit::with_text(&name_of(dir)),
        };
        Self {
            naming,
            edit,
            cursor: None,
        }
    }

    fn accept(&self) -> Outcome {
        let name = self.edit.text().trim().to_owned();
        if name.is_empty() {
            return Outcome::consumed();
        }
        let errand = match self.naming.clone() {
            Naming::New(dir) => Errand::Create { dir, name },
            Naming::Rename(dir) if name_of(&dir) == name => return Outcome::with(Effect::Pop),
            Naming::Rename(dir) => Errand::Rename { dir, name },
        };
        Outcome::with(Effect::Pop).and(Effect::Errand(errand))
    }
}

fn name_of(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Screen for NamingScreen {
    fn update(&mut self, input: &Input<'_>, _ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(Action::Accept) => self.accept(),
            Input::Action(Action::Cancel | Action::Interrupt) => Outcome::with(Effect::Pop),
            Input::Action(Action::Suspend) => Outcome::ignored(),
            Input::Action(_) | Input::Mouse(_) => Outcome::consumed(),
            Input::Key(key) => Outcome::taken(self.edit.key(*key)),
            Input::Paste(text) => {
                self.edit.insert(text);
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let place = popup_area(area, 60, 4, buf, ctx);
        let (title, dir) = match &self.naming {
            Naming::New(dir) => (SafeText::literal("new session"), dir.to_string_lossy().into_owned()),
            Naming::Rename(dir) => (
                SafeText::line(&format!("rename {}", name_of(dir))),
                dir.parent().unwrap_or(dir).to_string_lossy().into_owned(),
            ),
        };
        let inner = Panel::new(title, ctx).focused(true).draw(place, buf, ctx);
        let row = |y: u16| Rect {
            y: inner.y + y,
            height: 1.min(inner.height.saturating_sub(y)),
            ..inner
        };
        let prompt = Styled::words(" name ", ctx.style(Role::Key));
        self.cursor = self.edit.draw_after(&prompt, row(0), buf, ctx);
        Styled::of(SafeText::line(&format!(" in {dir}")), ctx.style(Role::Dim)).draw(row(1), buf);
    }

    fn context(&self) -> Context {
        Context::Prompt
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::default()
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![Action::Accept, Action::Cancel]
    }

    fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    fn is_popup(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::World;

    #[test]
    fn a_name_is_given_or_nothing_happens() {
        let world = World::new();
        let mut screen = NamingScreen::new(Naming::New("runs".into()), None);
        let accept = Input::Action(Action::Accept);
        assert!(screen.update(&accept, &world.ctx()).effects.is_empty());
        screen.update(&Input::Paste("trip\nmore"), &world.ctx());
        let effects = screen.update(&accept, &world.ctx()).effects;
        let named = Errand::Create {
            dir: "runs".into(),
            name: "trip".into(),
        };
        assert!(matches!(effects.as_slice(), [Effect::Pop, Effect::Errand(errand)] if *errand == named));
        let mut same = NamingScreen::new(Naming::Rename("runs/trip".into()), None);
        assert!(matches!(
            same.update(&accept, &world.ctx()).effects.as_slice(),
            [Effect::Pop]
        ));
        let again = NamingScreen::new(Naming::Rename("runs/trip".into()), Some("a/b"));
        assert_eq!(again.edit.text(), "a/b");
    }
}
