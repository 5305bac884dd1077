//! What lies over the box for a while: the search through the history, files to attach, the settings.

use super::at_path::AtPath;
use super::complete::Completion;
use super::dialog::{Dialog, Pressed};
use super::recall::Recall;
use super::settings::KNOBS;
use super::undo::Kind;
use super::{InputBox, Reaction, Said};
use crate::source::config::{SaveError, save_options};
use crate::source::paths::{Listing, PathQuery, list_paths};
use crate::text::SafeText;
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Token, Work};
use crate::tui::notice::Notice;
use crossterm::event::{KeyCode, KeyEvent};
use std::any::Any;
use std::path::PathBuf;

/// What lies over the box.
#[derive(Clone, Debug, Default)]
pub(super) enum Over {
    #[default]
    None,
    Recall(Recall),
    Paths(Completion),
    Dialog(Dialog),
}

/// What looking for files brings.
type Looked = Result<Listing, SafeText>;
/// What saving settings brings: the file.
type SavedIn = Result<PathBuf, SaveError>;

impl InputBox {
    /// An action while something lies over the box; `None` leaves it to the box.
    pub(super) fn act_over(&mut self, action: Action, ctx: &Ctx<'_>) -> Option<Reaction> {
        use Action as A;
        match (&mut self.over, action) {
            (Over::None, _) => return None,
            (_, A::LeaveBox | A::Interrupt) => self.over = Over::None,
            (Over::Recall(_), A::Send | A::Complete) => self.accept_recalled(ctx),
            (Over::Recall(recall), A::HistorySearch) => recall.go(true),
            (Over::Paths(_), A::Send | A::Complete) => return Some(self.accept_path(ctx)),
            (Over::Paths(_), A::PageUp | A::PageDown) => {}
            (Over::Paths(_), _) => {
                self.over = Over::None;
                return None;
            }
            (Over::Dialog(_), A::Send) => return Some(self.accept_settings(false, ctx)),
            (Over::Dialog(dialog), A::Complete) => dialog.go(true),
            (Over::Dialog(_), A::Settings) => self.over = Over::None,
            (_, A::Suspend | A::Quit) => return Some(Reaction::ignored()),
            _ => {}
        }
        Some(Reaction::taken())
    }

    /// A key while something lies over the box; `None` leaves it to the box.
    pub(super) fn key_over(&mut self, key: KeyEvent, ctx: &Ctx<'_>) -> Option<Reaction> {
        match (&mut self.over, key.code) {
            (Over::None, _) => return None,
            (Over::Recall(recall), KeyCode::Up) => recall.go(false),
            (Over::Recall(recall), KeyCode::Down) => recall.go(true),
            (Over::Recall(recall), _) => recall.key(key),
            (Over::Paths(paths), KeyCode::Up) => paths.go(false),
            (Over::Paths(paths), KeyCode::Down) => paths.go(true),
            (Over::Paths(_), _) => {
                self.draft.key(key, ctx.now);
                return Some(self.follow_path());
            }
            (Over::Dialog(dialog), _) => match dialog.key(key) {
                Pressed::Taken => {}
                Pressed::Save => return Some(self.accept_settings(true, ctx)),
                Pressed::Ignored => return Some(Reaction::ignored()),
            },
        }
        Some(Reaction::taken())
    }

    /// A paste while something lies over the box; `None` leaves it to the box.
    pub(super) fn paste_over(&mut self, text: &str) -> Option<Reaction> {
        match &mut self.over {
            Over::None => return None,
            Over::Recall(recall) => recall.paste(text),
            Over::Dialog(dialog) => dialog.paste(text),
            Over::Paths(_) => {
                self.over = Over::None;
                return None;
            }
        }
        Some(Reaction::taken())
    }

    /// Opens the search through the history.
    pub(super) fn open_recall(&mut self) {
        self.draft.flush();
        self.over = Over::Recall(Recall::new(&self.history));
    }

    /// Opens the settings.
    pub(super) fn open_settings(&mut self) {
        self.over = Over::Dialog(Dialog::new(&self.settings));
    }

    /// Puts what was found into the box; it is sent by another `Enter`, and not by one that came with this one.
    pub(super) fn accept_recalled(&mut self, ctx: &Ctx<'_>) {
        if let Over::Recall(recall) = &self.over
            && let Some(entry) = recall.chosen().cloned()
        {
            self.draft.editor().replace_all(entry);
        }
        self.over = Over::None;
        self.draft.hold(ctx.now);
    }

    /// Completes the `@path` at the caret; `None` when there is none.
    pub(super) fn complete(&mut self) -> Option<Reaction> {
        self.draft.flush();
        let at = AtPath::before(self.draft.content(), self.draft.caret())?;
        Some(self.look(at))
    }

    fn look(&mut self, at: AtPath) -> Reaction {
        let query = at.query(self.home.user.as_deref());
        let token = self.next_token();
        let before = match &self.over {
            Over::Paths(paths) => paths.waiting(),
            _ => None,
        };
        self.over = Over::Paths(Completion::new(at, query.clone(), token));
        let work = look_up(query);
        Reaction::taken()
            .effect(before.map(Effect::Cancel))
            .effect([Effect::Work { token, work }])
    }

    /// The draft changed under the list.
    fn follow_path(&mut self) -> Reaction {
        let Some(at) = AtPath::before(self.draft.content(), self.draft.caret()) else {
            self.over = Over::None;
            return Reaction::taken();
        };
        let query = at.query(self.home.user.as_deref());
        let listed = match &mut self.over {
            Over::Paths(paths) => paths.follow(at.clone(), &query),
            _ => false,
        };
        if listed { Reaction::taken() } else { self.look(at) }
    }

    /// Attaches the file that is chosen, or enters the directory.
    pub(super) fn accept_path(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let Over::Paths(paths) = &self.over else {
            return Reaction::taken();
        };
        let (at, Some(found)) = (paths.at.clone(), paths.chosen().cloned()) else {
            return Reaction::taken();
        };
        self.draft.hold(ctx.now);
        if !found.is_dir {
            let path = at.path(&found.path, self.home.user.as_deref());
            return self.attach(at.range, path, found.size);
        }
        let Some(entered) = at.entered(&found.path) else {
            return Reaction::trouble("the name of this directory cannot be typed");
        };
        self.draft.editor().edit(at.range, entered.as_str().into(), Kind::Whole);
        self.follow_path()
    }

    /// Takes the settings, and saves those that changed if that is wanted.
    fn accept_settings(&mut self, save: bool, ctx: &Ctx<'_>) -> Reaction {
        let Over::Dialog(dialog) = &mut self.over else {
            return Reaction::taken();
        };
        let Some(settings) = dialog.settings() else {
            return Reaction::taken();
        };
        self.over = Over::None;
        self.draft.hold(ctx.now);
        self.settings = settings.clone();
        let reaction = Reaction::says(Said::Settings(settings));
        if !save {
            return reaction;
        }
        let options: Vec<_> = KNOBS.iter().map(|knob| knob.option(&self.settings)).collect();
        let (token, named) = (self.next_token(), self.home.config.clone());
        let work = Work {
            name: "save settings",
            run: Box::new(move |_| Box::new(save_options(named.as_deref(), &options))),
        };
        reaction.effect([Effect::Work { token, work }])
    }

    /// The answer to a look-up or to saving settings.
    pub(super) fn over_answered(&mut self, token: Token, worked: &dyn Any) -> Reaction {
        if let Some(saved) = worked.downcast_ref::<SavedIn>() {
            let notice = match saved {
                Ok(path) => Notice::done(&format!("saved in {}", path.display())),
                Err(error) => Notice::trouble(&error.to_string()),
            };
            return Reaction::taken().effect([Effect::Notice(notice)]);
        }
        if let Over::Paths(paths) = &mut self.over
            && let Some(looked) = worked.downcast_ref::<Looked>()
            && paths.found(token, looked)
        {
            return Reaction::taken();
        }
        Reaction::ignored()
    }
}

fn look_up(query: PathQuery) -> Work {
    let run = move |stop: &crate::tui::effect::Stop| -> Looked {
        let listing = list_paths(&query, stop);
        listing.map_err(|error| SafeText::line(&format!("cannot look there: {error}")))
    };
    Work {
        name: "look for files",
        run: Box::new(move |stop| Box::new(run(stop))),
    }
}
