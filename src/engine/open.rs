//! Opening a session for writing: lock, store, fencing token, recovery.

use super::begin_error::BeginError;
use super::clock;
use super::event::hiding;
use super::groups::Observation;
use super::home::Home;
use super::journal::{Cut, ParkedTurn, observed, recover};
use super::settings::Settings;
use crate::disk::lock::{LockError, SessionLock};
use crate::disk::state_doc::StateDoc;
use crate::disk::{making, private_dir};
use crate::provider::Cancel;
use crate::store::payload::TurnStarted;
use crate::store::{Fact, Kind, NewSession, SessionRow, SessionWriter, Storage, Store, StoreError, locate};
use std::path::Path;
use std::time::{Duration, Instant};

/// A held lock is tried this often.
const POLL: Duration = Duration::from_millis(20);

/// A session opened for writing: its lock is held, its files and log are in step.
pub(super) struct Opened {
    /// With the number of the next turn.
    pub(super) log: Option<(SessionWriter, u32)>,
    pub(super) store: Option<Store>,
    pub(super) notes: Vec<String>,
    pub(super) parked: Option<ParkedTurn>,
    /// What state.json says, where recovery has read it and left it as it is.
    pub(super) doc: Option<StateDoc>,
    _lock: SessionLock,
}

/// Takes the session's lock; one that is held is waited for as long as `home` says, and no longer than until `cancel`.
pub(super) async fn lock(home: &Home, cancel: &Cancel) -> Result<SessionLock, BeginError> {
    let deadline = Instant::now() + home.wait;
    loop {
        match SessionLock::acquire(&home.dir, Duration::ZERO) {
            Err(LockError::Busy { .. }) if Instant::now() < deadline => {}
            done => return Ok(done?),
        }
        tokio::select! {
            () = cancel.cancelled() => return Err(BeginError::Cancelled),
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

impl Opened {
    /// Opens the store of a session whose lock is held, and raises its token. What killed processes left goes first.
    pub(super) fn open(home: &Home, settings: &Settings, cut: Cut, lock: SessionLock) -> Result<Self, BeginError> {
        private_dir::sweep();
        making::sweep(&home.dir);
        let found = match (&home.log, &home.storage) {
            (Some(log), _) => Some((log.store.clone(), log.session.clone())),
            (None, Some(storage)) => Some(find(home, storage)?),
            (None, None) => None,
        };
        let Some((store, session)) = found else {
            return Ok(Self {
                log: None,
                store: None,
                notes: Vec::new(),
                parked: None,
                doc: None,
                _lock: lock,
            });
        };
        let writer = SessionWriter::take_over(&store, &session)?
            .redacting(hiding(&settings.secrets))
            .cell_cap(settings.cell_cap);
        let recovered = recover(&store, &writer, &home.dir, cut)?;
        Ok(Self {
            log: Some((writer, recovered.turn)),
            store: Some(store),
            notes: recovered.notes,
            parked: recovered.parked,
            doc: recovered.doc,
            _lock: lock,
        })
    }
}

/// Brings the files of a session in step with its log, and leaves its last query as it is.
pub(super) fn catch_up(home: &Home) -> Result<(), BeginError> {
    let _lock = SessionLock::acquire(&home.dir, home.wait)?;
    let (store, session) = match (&home.log, &home.storage) {
        (Some(log), _) => (log.store.clone(), log.session.clone()),
        (None, storage) => find(home, storage.as_deref().unwrap_or(&home.dir))?,
    };
    let writer = SessionWriter::take_over(&store, &session)?;
    recover(&store, &writer, &home.dir, Cut::Keep)?;
    Ok(())
}

impl Opened {
    /// What the log says of the query that state.json may still call pending: none where another program wrote that.
    pub(super) fn last_asked(&self) -> Result<Option<TurnStarted>, StoreError> {
        let (Some(store), Some((writer, _))) = (&self.store, &self.log) else {
            return Ok(None);
        };
        let kinds = [Kind::TurnStarted, Kind::Adopted, Kind::Cleared];
        let last = store.events.last_of(writer.session(), &kinds)?;
        Ok(last.and_then(|event| match event.fact {
            Fact::TurnStarted(started) => Some(started),
            _ => None,
        }))
    }

    /// What earlier queries of the session observed, where it counts.
    pub(super) fn observed(&self, settings: &Settings) -> Result<Vec<Observation>, StoreError> {
        match (&self.store, &self.log) {
            (Some(store), Some((writer, _))) if !settings.groups.is_empty() => observed(store, writer.session()),
            _ => Ok(Vec::new()),
        }
    }
}

/// The session's store and id, made where there are none.
fn find(home: &Home, storage: &Path) -> Result<(Store, String), BeginError> {
    let location = locate(&home.dir, Some(storage))?;
    let store = Storage::dir(&location.root).open()?;
    let session = match &location.session {
        None => store.events.root_session(&NewSession::in_root(clock::now()))?,
        Some(name) => named_session(&store, name)?,
    };
    Ok((store, session.id))
}

fn named_session(store: &Store, name: &str) -> Result<SessionRow, StoreError> {
    match store.events.session(name) {
        Err(StoreError::UnknownSession { .. }) => store.events.create_session(&NewSession::named(name, clock::now())),
        found => found,
    }
}
