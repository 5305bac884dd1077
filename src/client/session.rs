//! The handle of a session: where it lives, what its queries are run with, and when it ends. Queries are in `turn`, what
//! can be read back in `read_back`.

use super::config::Config;
use super::error::Error;
use super::place::Place;
use super::python;
use crate::engine::{Asking, Home, Person, Question, Settings, Unwatched, Watch, asking, asking_in};
use crate::provider::Cancel;
use crate::repl::prepare::Progress;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session: queries that share variables, functions and notes.
///
/// A cheap clone is the same session. Queries of one session run one after another, however many clones and threads ask
/// them. Between queries nothing is held: no process, no lock, no file.
///
/// ```no_run
/// use fast_rlm::{Config, Session};
///
/// let session = Session::open("runs", "podcasts")?.config(Config::new("z-ai/glm-5"));
/// session.query("Build an index of the guests in these transcripts: …")?;
/// let output = session.query("With the index you built: who was the most optimistic?")?;
/// println!("{}", output.text());
/// # Ok::<(), fast_rlm::Error>(())
/// ```
///
/// # Where it lives
///
/// | opened by | state | resumable |
/// | --- | --- | --- |
/// | [`Session::ephemeral()`] | a private temporary directory | no |
/// | `Session::open(dir, None)` | `<dir>/state.json` | yes |
/// | `Session::open(dir, id)` | `<dir>/<id>/state.json` | yes |
#[derive(Clone)]
pub struct Session {
    pub(super) shared: Arc<Shared>,
    config: Arc<Config>,
    /// What the configuration came to when the first query began: a scripted model goes on where it was, and
    /// connections stay open.
    opened: Arc<Mutex<Option<Arc<Settings>>>>,
    code_in_context: Option<bool>,
    pub(super) watch: Arc<dyn Watch>,
    pub(super) person: Option<Arc<dyn Person>>,
    /// A question could be answered later.
    parks: bool,
    /// Stops whatever this handle runs.
    stop: Option<Cancel>,
}

/// What all clones share.
pub(super) struct Shared {
    pub(super) place: Place,
    closed: AtomicBool,
    /// Held by the query that runs.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
    running: Mutex<Option<Cancel>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("place", &self.shared.place)
            .field("closed", &self.shared.is_closed())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session that ends with its object. Its directory is private to this user and is removed by [`Session::close`],
    /// when the last clone is dropped (so when a panic unwinds, too), and when the program exits. A signal that kills
    /// the program leaves it until the next ephemeral session of this user is made, unless the program handles that
    /// signal and exits, or called [`remove_on_signals`](crate::remove_on_signals).
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn ephemeral() -> Result<Self, Error> {
        Self::at(None, None)
    }

    /// The session in `dir`, or in the directory `id` under it. Touches nothing: directories are made by the first
    /// query.
    ///
    /// # Errors
    ///
    /// [`Error::IdWithoutDirectory`] when `dir` is empty; [`Error::Store`] when `id` is none: 1 to 64 of
    /// `[A-Za-z0-9._-]`, not starting with `.` or `-`, and no name of a session's own files.
    pub fn open<'a>(dir: impl Into<PathBuf>, id: impl Into<Option<&'a str>>) -> Result<Self, Error> {
        let (dir, id) = (dir.into(), id.into());
        if dir.as_os_str().is_empty() && id.is_none() {
            return Err(Error::Option {
                name: "session_dir",
                reason: "it is empty; Session::ephemeral() makes a session without a directory".into(),
            });
        }
        Self::at(Some(dir), id)
    }

    pub(super) fn at(dir: Option<PathBuf>, id: Option<&str>) -> Result<Self, Error> {
        Ok(Self::in_place(Place::of(dir, id)?, Arc::default()))
    }

    /// A session in `place`, whose queries take turns with all that hold `turn`.
    pub(super) fn in_place(place: Place, turn: Arc<tokio::sync::Mutex<()>>) -> Self {
        let shared = Shared {
            place,
            closed: AtomicBool::new(false),
            turn,
            running: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            config: Arc::default(),
            opened: Arc::default(),
            code_in_context: None,
            watch: Arc::new(Unwatched),
            person: None,
            parks: true,
            stop: None,
        }
    }

    pub(super) fn watched_by(mut self, watch: Arc<dyn Watch>) -> Self {
        self.watch = watch;
        self
    }

    /// The same handle on the session in another place: with its configuration, its watchers and its turns.
    pub(super) fn beside(&self, place: Place) -> Self {
        let other = Self::in_place(place, self.shared.turn.clone());
        Self {
            shared: other.shared,
            ..self.clone()
        }
    }

    /// Shares what a configuration has been opened to.
    pub(super) fn opened_with(mut self, config: Arc<Config>, opened: Arc<Mutex<Option<Arc<Settings>>>>) -> Self {
        self.config = config;
        self.opened = opened;
        self
    }

    /// The same handle with another configuration, changed from its own.
    pub(super) fn reconfigured(self, change: impl FnOnce(Config) -> Config) -> Self {
        let config = change((*self.config).clone());
        self.config(config)
    }

    /// Its configuration.
    pub(super) fn configured(&self) -> &Config {
        &self.config
    }

    /// What this handle's queries are run with, and those of clones made of it from now on.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Arc::new(config);
        self.opened = Arc::default();
        self
    }

    /// Whether a resumed agent is shown the code of earlier queries; counts before the configuration.
    #[must_use]
    pub fn code_in_context(mut self, on: bool) -> Self {
        self.code_in_context = Some(on);
        self
    }

    /// Tells `watch` what happens in this handle's queries, as it happens. It is called on the engine's threads and
    /// must not block.
    #[must_use]
    pub fn watch(mut self, watch: impl Watch + 'static) -> Self {
        self.watch = Arc::new(watch);
        self
    }

    /// Who answers the questions of this handle's queries (`ask` in the REPL). Without anyone, or when that one gives no
    /// answer, the query is suspended and the next text that is sent is the answer.
    #[must_use]
    pub fn person(mut self, person: impl Person + 'static) -> Self {
        self.person = Some(Arc::new(person));
        self
    }

    /// Stops what goes on by this handle (a resumed query, branches made of it) when `stop` is pressed.
    pub(crate) fn stopped_by(mut self, stop: Cancel) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The switch of one query, which the handle's own presses, too.
    pub(super) fn switch(&self) -> Result<Cancel, Error> {
        let cancel = Cancel::new();
        if let Some(stop) = self.stop.clone() {
            if stop.is_cancelled() {
                cancel.cancel();
            }
            let pressed = cancel.clone();
            python::threads()?.spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => pressed.cancel(),
                    // Also when the query has ended.
                    () = pressed.cancelled() => {}
                }
            });
        }
        Ok(cancel)
    }

    /// Nobody could ever answer: a question is an error in the REPL.
    pub(super) fn never_parks(mut self) -> Self {
        self.parks = false;
        self
    }

    /// Loads the Python that this handle's queries run on now, so that the next query does not have to: see
    /// [`warm_up`](crate::warm_up).
    ///
    /// # Errors
    ///
    /// [`Error::Python`].
    pub fn warm_up(&self, progress: Progress<'_>) -> Result<(), Error> {
        python::load(self.config.repl, progress).map(drop)
    }

    /// What the session waits for, if it does. Reads without Python, a model or a lock.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::Closed`].
    pub fn parked(&self) -> Result<Option<Question>, Error> {
        Ok(self.asking()?.map(|(_, question)| question))
    }

    /// What it waits for, and which of its questions that is.
    pub(super) fn asking(&self) -> Result<Option<(Asking, Question)>, Error> {
        let dir = self.open_dir()?;
        if !dir.exists() {
            return Ok(None);
        }
        Ok(match self.shared.place.log() {
            Some(log) => asking_in(&log)?,
            None => asking(dir)?,
        })
    }

    /// The session's directory: `state.json`, `logs/`. It may not exist yet.
    pub fn dir(&self) -> &Path {
        self.shared.place.dir()
    }

    /// Cancels the query that runs, if one does. It is recorded as cancelled, and the session stays usable.
    pub fn cancel(&self) {
        if let Some(running) = &*self.shared.running() {
            running.cancel();
        }
    }

    /// Ends the session for all its clones; a query that still runs is cancelled. An ephemeral session's directory is
    /// removed at once, or by that query when it has ended; any other stays as it is, to be opened again.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when the directory cannot be removed.
    pub fn close(self) -> Result<(), Error> {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.cancel();
        match self.shared.turn.try_lock() {
            Ok(_no_query_runs) => self.shared.place.leave(),
            Err(_) => Ok(()),
        }
    }

    /// The session's directory, while the session is open.
    pub(super) fn open_dir(&self) -> Result<&Path, Error> {
        match self.shared.is_closed() {
            true => Err(Error::Closed),
            false => Ok(self.dir()),
        }
    }

    /// Where the engine finds the session.
    pub(super) fn home(&self) -> Home {
        let config = &self.config;
        let usual = Home::new(self.dir());
        Home {
            log_dir: config.log_dir.clone(),
            prefix: config.prefix.clone().unwrap_or(usual.prefix),
            absolute_logs: config.absolute_logs,
            log: self.shared.place.log(),
            storage: self.parks.then(|| self.shared.place.storage().to_owned()),
            wait: config.wait,
            dir: usual.dir,
        }
    }

    /// What the next query is run with. Blocks on files the first time.
    pub(crate) fn settings(&self) -> Result<Arc<Settings>, Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = match &*opened {
            Some(settings) => settings.clone(),
            None => opened.insert(Arc::new(self.config.open()?)).clone(),
        };
        match self.code_in_context {
            Some(on) if on != settings.code_in_context => Ok(Arc::new(Settings {
                code_in_context: on,
                ..(*settings).clone()
            })),
            _ => Ok(settings),
        }
    }
}

impl Shared {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(super) fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
