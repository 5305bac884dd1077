//! One session that can be driven: its machine, its box, and what of its run is not on disk while it is not shown.

use super::machine::Machine;
use super::order::{Desk, DriveOptions, Found};
use super::words::{In, Out};
use crate::model::{LiveEvent, LiveRun, Session, Time};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::widgets::prompt::{Home, InputBox, Reaction, Settings, Standing};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What is said where no model is set: exactly what to do, the nearest first, since a narrow box shows no more.
const NO_MODEL: &str =
    "no model is set: Enter chooses one (else --primary-agent, FAST_RLM_MODEL, primary_agent in rlm_config.yaml)";

/// What is said in a build that only reads.
const NO_ENGINE: &str = "this build only reads: install fast-rlm with its feature `engine` to ask";

/// One session.
pub struct Drive {
    /// Its runs.
    pub machine: Machine,
    /// Its box.
    pub prompt: InputBox,
    /// What of its run is not on disk, while another session is shown.
    away: Option<LiveRun>,
    /// How people know the session.
    pub name: String,
    opened: PathBuf,
    closed: Option<String>,
    standing: Standing,
    held: bool,
}

impl Drive {
    fn new(desk: &Desk, options: &DriveOptions, raise_key: &str) -> Self {
        let home = Home {
            session: Some(desk.dir.clone()),
            config: options.config_file.clone(),
            user: etcetera::home_dir().ok(),
        };
        let mut prompt = InputBox::new(home);
        prompt.set_settings(options.settings.clone());
        prompt.suggest(options.suggestions.clone());
        let name = desk.dir.file_name().unwrap_or(desk.dir.as_os_str());
        Self {
            machine: Machine::new(raise_key.to_owned()),
            prompt,
            away: None,
            name: name.to_string_lossy().into_owned(),
            opened: desk.opened.clone(),
            closed: desk.closed.clone(),
            standing: Standing::Ready,
            held: false,
        }
    }

    /// An event for its machine.
    pub fn take(&mut self, event: In, now: Duration, wall: Time) -> Vec<Out> {
        self.machine.take(event, now, wall)
    }

    /// News of its run while another session is shown.
    pub fn note_away(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Over => self.away = None,
            event => drop(self.away.get_or_insert_default().apply(event)),
        }
    }

    /// What the session's last query was run with counts, where no flag says otherwise and nothing was chosen.
    pub fn take_found(&mut self, found: &Found, options: &DriveOptions) {
        let untouched = *self.prompt.settings() == options.settings;
        if let (Some((model, sub_model)), true, false) = (&found.models, untouched, options.model_is_flag) {
            self.prompt.set_settings(Settings {
                model: Some(model.clone()),
                sub_model: sub_model.clone().filter(|sub_model| sub_model != model),
                ..options.settings.clone()
            });
        }
    }

    /// Another process held the session when it was looked at last.
    pub fn was_held(&self) -> bool {
        self.held
    }

    /// Tells the box how things stand, if that has changed.
    pub fn restand(&mut self, options: &DriveOptions, ctx: &Ctx<'_>) -> Option<Reaction> {
        self.held = ctx.session.facts.held_by.is_some();
        let standing = self.standing_now(options, ctx.session);
        if standing == self.standing {
            return None;
        }
        self.standing = standing.clone();
        Some(self.prompt.stand(standing, ctx))
    }

    /// Its directory as it was opened: as lists of sessions have it.
    pub fn opened(&self) -> &Path {
        &self.opened
    }

    /// Why a fork of the session cannot go on, where that is so. That another process has the session is none: a fork only
    /// reads it.
    pub fn why_no_fork(&self, options: &DriveOptions, session: &Session) -> Option<String> {
        let newer = session.facts.newer;
        let newer = newer.then(|| "a newer program wrote this session: it is only shown".to_owned());
        self.closed.clone().or(newer).or_else(|| self.lacking(options))
    }

    /// Why nothing can be asked here, where that is so.
    pub fn why_closed(&self) -> Option<&str> {
        match &self.standing {
            Standing::Closed(why) => Some(why),
            _ => None,
        }
    }

    fn standing_now(&self, options: &DriveOptions, session: &Session) -> Standing {
        if let Some(why) = &self.closed {
            return Standing::Closed(why.clone());
        }
        if session.facts.newer {
            return Standing::Closed("a newer program wrote this session: it is only shown".into());
        }
        if self.machine.is_running() {
            return self.machine.standing();
        }
        match self.blocked(options, session) {
            Some(why) => Standing::Blocked(why),
            None => self.machine.standing(),
        }
    }

    fn blocked(&self, options: &DriveOptions, session: &Session) -> Option<String> {
        if !cfg!(feature = "engine") {
            return Some(NO_ENGINE.into());
        }
        if let Some(holder) = &session.facts.held_by {
            return Some(format!(
                "in use by {holder}: it is followed here, and can be asked when that is done"
            ));
        }
        self.lacking(options)
    }

    /// What keeps a model from being asked.
    fn lacking(&self, options: &DriveOptions) -> Option<String> {
        let no_model = self.prompt.settings().model.as_deref().unwrap_or_default().is_empty();
        let no_model = no_model.then(|| NO_MODEL.to_owned());
        options.trouble.clone().or(no_model)
    }
}

/// All sessions that were opened since the program started, by directory. Runs of those that were left go on.
pub struct Drives {
    options: Arc<DriveOptions>,
    /// The key that lets a run spend more, as people read it.
    raise_key: String,
    all: HashMap<PathBuf, Drive>,
    current: Option<PathBuf>,
}

impl Drives {
    /// None yet.
    pub fn new(options: Arc<DriveOptions>, raise_key: String) -> Self {
        Self {
            options,
            raise_key,
            all: HashMap::new(),
            current: None,
        }
    }

    /// What queries are asked with.
    pub fn options(&self) -> &Arc<DriveOptions> {
        &self.options
    }

    /// Another session is shown from now on, or none: the run of the one that is left goes on without being seen.
    /// Returns what of the run of the new one is not on disk.
    pub fn show(&mut self, desk: Option<&Desk>, left: &mut Session) -> Option<LiveRun> {
        if let Some(drive) = self.current_mut() {
            drive.away = left.leave_live();
            drive.prompt.focus(false);
        }
        self.current = desk.map(|desk| desk.dir.clone());
        let (desk, options) = (desk?, Arc::clone(&self.options));
        let drive = self
            .all
            .entry(desk.dir.clone())
            .or_insert_with(|| Drive::new(desk, &options, &self.raise_key));
        drive.closed.clone_from(&desk.closed);
        drive.opened.clone_from(&desk.opened);
        drive.away.take()
    }

    /// The directory of the session that is shown.
    pub fn dir(&self) -> Option<&Path> {
        self.current.as_deref()
    }

    /// The session that is shown.
    pub fn current(&self) -> Option<&Drive> {
        self.all.get(self.current.as_deref()?)
    }

    /// The session that is shown.
    pub fn current_mut(&mut self) -> Option<&mut Drive> {
        self.all.get_mut(self.current.as_deref()?)
    }

    /// A session by its directory.
    pub fn of_mut(&mut self, dir: &Path) -> Option<&mut Drive> {
        self.all.get_mut(dir)
    }

    /// Directories of sessions in which a run goes on.
    pub fn running(&self) -> Vec<PathBuf> {
        let running = self.all.iter().filter(|(_, drive)| drive.machine.is_running());
        let mut dirs: Vec<PathBuf> = running.map(|(dir, _)| dir.clone()).collect();
        dirs.sort();
        dirs
    }

    /// The same, as they were opened.
    pub fn running_as_opened(&self) -> Vec<PathBuf> {
        let running = self.all.values().filter(|drive| drive.machine.is_running());
        running.map(|drive| drive.opened.clone()).collect()
    }

    /// Whether a run goes on in any session.
    pub fn any_running(&self) -> bool {
        self.all.values().any(|drive| drive.machine.is_running())
    }
}

/// Actions of the box's context.
pub fn is_of_box(action: Action) -> bool {
    action
        .entry()
        .is_some_and(|entry| entry.context == crate::tui::action::Context::Box)
}
