//! The client: one engine with one storage, which hands out sessions.

use super::builder::ClientBuilder;
use super::config::Config;
use super::ephemeral::EphemeralDir;
use super::error::Error;
use super::output::Output;
use super::place::{Files, Place};
use super::session::Session;
use crate::disk::atomic;
use crate::engine::{Input, SessionLog, Settings, memory_before, now};
use crate::lab::{LabError, unfinished_imports};
use crate::store::{NewSession, Origin, SessionRow, Storage, Store, StoreError};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// One engine with one storage. A cheap clone is the same client.
///
/// Queries, replays and forks of all its sessions run one after another.
///
/// ```no_run
/// use fast_rlm::{Client, Storage};
///
/// # async fn example() -> Result<(), fast_rlm::Error> {
/// let client = Client::builder().model("z-ai/glm-5").storage(Storage::dir("runs")).open()?;
/// let output = client.run("How many primes are below 1000?").await?;
/// println!("{} in {}", output.text(), client.session_id()?);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    files: Arc<Files>,
    config: Arc<Config>,
    opened: Arc<Mutex<Option<Arc<Settings>>>>,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Minted at first use.
    default: Mutex<Option<Session>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("files", &self.inner.files)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Starts with defaults: no model, sessions in memory.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(super) fn new(config: Config, storage: &Storage) -> Result<Self, Error> {
        let store = storage.open()?;
        let files = match &store.root {
            Some(root) => Files::Storage(root.clone()),
            None => Files::Ephemeral(EphemeralDir::new()?),
        };
        let inner = Inner {
            store,
            files: Arc::new(files),
            config: Arc::new(config),
            opened: Arc::default(),
            turn: Arc::default(),
            default: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Asks in the client's own session.
    ///
    /// # Errors
    ///
    /// As [`Session::send`].
    pub async fn run(&self, query: impl Into<Input> + Send) -> Result<Output, Error> {
        self.session()?.send(query).await
    }

    /// The client's own session, minted at first use: once, however many threads ask.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn session(&self) -> Result<Session, Error> {
        let mut default = self.inner.default.lock().unwrap_or_else(PoisonError::into_inner);
        match &*default {
            Some(session) => Ok(session.clone()),
            None => Ok(default.insert(self.create_session()?).clone()),
        }
    }

    /// The id of the client's own session.
    ///
    /// # Errors
    ///
    /// As [`Client::session`].
    pub fn session_id(&self) -> Result<String, Error> {
        Ok(self.session()?.id())
    }

    /// A new session, `s_<n>`.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn create_session(&self) -> Result<Session, Error> {
        let row = self.inner.store.events.create_session(&NewSession::minted(now()))?;
        self.handle(&row)
    }

    /// A new session of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the name is none, or taken.
    pub fn create_named(&self, id: &str) -> Result<Session, Error> {
        let row = self.inner.store.events.create_session(&NewSession::named(id, now()))?;
        self.handle(&row)
    }

    /// A session of this storage.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with `UnknownSession` or `BadSessionId`: nothing is created.
    pub fn open_session(&self, id: &str) -> Result<Session, Error> {
        let row = self.inner.store.events.session(id)?;
        if self.unfinished(std::slice::from_ref(&row)).contains(id) {
            return Err(StoreError::UnknownSession { id: id.to_owned() }.into());
        }
        self.handle(&row)
    }

    /// The most recently active session; forks and what-ifs do not count.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn latest_session(&self) -> Result<Option<Session>, Error> {
        let row = self.sessions()?.into_iter().find(|row| !row.origin.is_branch());
        row.map(|row| self.handle(&row)).transpose()
    }

    /// All sessions, the most recently active one first, branches included.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn sessions(&self) -> Result<Vec<SessionRow>, Error> {
        let mut rows = self.inner.store.events.sessions()?;
        let unfinished = self.unfinished(&rows);
        rows.retain(|row| !unfinished.contains(&row.id));
        Ok(rows)
    }

    /// Those of them that are not whole: they are being imported.
    fn unfinished(&self, rows: &[SessionRow]) -> HashSet<String> {
        match rows.iter().any(|row| row.origin == Origin::Imported) {
            true => unfinished_imports(self.inner.files.dir()),
            false => HashSet::new(),
        }
    }

    /// The open storage.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    fn handle(&self, row: &SessionRow) -> Result<Session, Error> {
        let dir = match row.in_root {
            true => self.inner.files.dir().to_owned(),
            false => self.inner.files.dir().join(&row.id),
        };
        let log = SessionLog {
            store: self.inner.store.clone(),
            session: row.id.clone(),
        };
        bring_files(&dir, &log, row)?;
        let place = Place::Stored {
            dir,
            log,
            files: self.inner.files.clone(),
        };
        let session = Session::in_place(place, self.inner.turn.clone());
        Ok(session.opened_with(self.inner.config.clone(), self.inner.opened.clone()))
    }
}

/// In a store without a directory, a session's state.json is made from its log.
fn bring_files(dir: &Path, log: &SessionLog, row: &SessionRow) -> Result<(), Error> {
    let path = dir.join("state.json");
    if log.store.root.is_some() || row.events == 0 || path.exists() {
        return Ok(());
    }
    let failed = |cause| Error::File {
        path: dir.to_owned(),
        doing: "creating",
        cause,
    };
    let doc = memory_before(&log.store, &log.session, None).map_err(LabError::from)?;
    let mut text = Vec::new();
    doc.write(&mut text).map_err(|error| failed(error.into()))?;
    std::fs::create_dir_all(dir).map_err(failed)?;
    Ok(atomic::write(&path, &text).map_err(LabError::from)?)
}
