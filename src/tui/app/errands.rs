//! Errands for sessions: what is ordered from the engine, an editor for the draft, sessions that are made and renamed.

use super::event_loop::App;
use super::inputs::Incoming;
use crate::model::TargetKind;
use crate::source::{self, Source};
use crate::text::SafeText;
use crate::tui::compositor::LayerId;
use crate::tui::driver::Msg;
use crate::tui::effect::{Focused, Token};
use crate::tui::input::{Answer, Reply};
use crate::tui::live::{self, Desk, Errand};
use crate::tui::notice::Notice;
use crate::tui::open::{HandOff, Purpose};
use crate::tui::screens::Naming;
use crate::tui::term;
use std::io;
use std::path::{Path, PathBuf};

impl App {
    /// Does an errand for a session.
    pub(super) fn errand(&mut self, errand: Errand) -> io::Result<()> {
        match errand {
            Errand::Nudge => {
                if let Some(feed) = &self.feed {
                    feed.source().nudge();
                }
                Ok(())
            }
            Errand::Family => {
                if let Some(feed) = &self.feed {
                    feed.source().family_changed();
                }
                Ok(())
            }
            Errand::Alert(words) => term::send(&live::alert(&words)),
            Errand::Edit(text) => self.edit(&text),
            Errand::Create { dir, name } => {
                self.create(dir, name);
                Ok(())
            }
            Errand::AskName { dir } => {
                self.ask_name(dir);
                Ok(())
            }
            Errand::Rename { dir, name } => {
                self.rename(dir, name);
                Ok(())
            }
            errand => {
                self.work.run(errand);
                Ok(())
            }
        }
    }

    /// Makes a session in the background, and shows it.
    fn create(&self, dir: PathBuf, name: String) {
        let (sender, options) = (self.sender.clone(), self.open.clone());
        self.crew.take(move || {
            let _ = sender.send(match source::create(&dir, &name, &options) {
                Ok(opened) => Incoming::Opened(Box::new(Ok(opened))),
                Err(error) => refused(Naming::New(dir), name, &error),
            });
        });
    }

    /// Asks for another name of a session. That it can have none is said before one is typed.
    fn ask_name(&self, dir: PathBuf) {
        let sender = self.sender.clone();
        self.crew.take(move || {
            let _ = sender.send(Incoming::Msg(match source::check_rename(&dir) {
                Ok(()) => Msg::AskName(Naming::Rename(dir)),
                Err(why) => Msg::Notice(Notice::trouble(&why.to_string())),
            }));
        });
    }

    /// Renames a session in the background; the one that is shown is opened again under its new name.
    fn rename(&self, dir: PathBuf, name: String) {
        let (sender, options) = (self.sender.clone(), self.open.clone());
        let shown = self
            .feed
            .as_ref()
            .and_then(|feed| feed.source().dir().canonicalize().ok());
        self.crew.take(move || {
            let is_shown = dir.canonicalize().ok() == shown;
            let _ = sender.send(match source::rename(&dir, &name) {
                Ok(to) if is_shown => Incoming::Opened(Box::new(source::open(&to, &options))),
                Ok(_) => Incoming::Msg(Msg::SessionsChanged),
                Err(error) => refused(Naming::Rename(dir), name, &error),
            });
        });
    }

    /// Lets a person write a draft in an editor of their own.
    fn edit(&mut self, text: &str) -> io::Result<()> {
        let written = self.written(text, "md")?;
        self.update(Msg::Edited(written))
    }

    /// The same for a layer that asked.
    pub(super) fn edit_for(
        &mut self,
        layer: LayerId,
        token: Token,
        text: &str,
        extension: &'static str,
    ) -> io::Result<()> {
        let result = self.written(text, extension)?.map(Reply::Edited);
        self.update(Msg::Answer(layer, Answer { token, result }))
    }

    /// Shows a text in the user's own program.
    pub(super) fn open_externally(&mut self, focused: &Focused) -> io::Result<()> {
        let text = match focused.raw_shown {
            true => focused.raw(),
            false => focused.shown(),
        };
        let trouble = match HandOff::prepare(&text, focused.extension, Purpose::Read, |name| std::env::var_os(name)) {
            Ok(hand_off) => self.hand(&hand_off)?,
            Err(error) => Some(error.to_string()),
        };
        match trouble {
            Some(trouble) => self.update(Msg::Notice(Notice::trouble(&trouble))),
            None => Ok(()),
        }
    }

    /// Runs the program for a text, which has the terminal meanwhile; what went wrong, if anything.
    fn hand(&mut self, hand_off: &HandOff) -> io::Result<Option<String>> {
        let mut command = hand_off.command();
        let ended = self.lend(|| term::run_with_terminal(&mut command, hand_off.path()))?;
        Ok(hand_off.trouble(&ended))
    }

    /// What a person made of a text in an editor, or why there is nothing.
    fn written(&mut self, text: &str, extension: &'static str) -> io::Result<Result<String, SafeText>> {
        let written = match HandOff::prepare(text, extension, Purpose::Edit, |name| std::env::var_os(name)) {
            Err(error) => Err(error.to_string()),
            Ok(hand_off) => match self.hand(&hand_off)? {
                Some(trouble) => Err(format!("{trouble}: the text stays as it was")),
                None => std::fs::read_to_string(hand_off.path()).map_err(|error| error.to_string()),
            },
        };
        Ok(written.map_err(|why| SafeText::line(&why)))
    }
}

/// Where questions about what was opened go, or why there are none.
pub(super) fn desk_of(source: &Source, read_only: bool) -> Desk {
    let dir = source.dir();
    let closed = match source.kind() {
        TargetKind::Transcript => Some("one transcript is shown: open its session to ask, or to fork"),
        TargetKind::Session if read_only => Some("opened with --read-only: nothing is asked, forked or written"),
        TargetKind::Session if !is_writable(dir) => {
            Some("this directory cannot be written to: its session is only shown")
        }
        TargetKind::Session => None,
    };
    Desk {
        // By whatever path it was opened, it is the same session.
        dir: dir.canonicalize().unwrap_or_else(|_| dir.to_owned()),
        opened: dir.to_owned(),
        closed: closed.map(str::to_owned),
    }
}

#[cfg(unix)]
fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(dir: &Path) -> bool {
    std::fs::metadata(dir).is_ok_and(|seen| !seen.permissions().readonly())
}

/// A name could not be given.
fn refused(naming: Naming, name: String, why: &dyn std::fmt::Display) -> Incoming {
    let why = Notice::trouble(&why.to_string());
    Incoming::Msg(Msg::NameRefused { naming, name, why })
}
