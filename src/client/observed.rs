//! What a session's log tells, and the log run again without anybody being asked. Nothing here changes a byte.

use super::error::Error;
use super::python;
use super::session::Session;
use crate::disk::lock;
use crate::engine::{self, Interruption, Unwatched, Watch, interruption};
use crate::lab::observe::{self, EfficiencySummary, ModelCost, RunEvent, TurnSummary};
use crate::lab::{AgentSink, LabError, LabEvent, Python, Recording, ReplayReport, RunDiff, Source, replay};
use crate::provider::PricingTable;
use crate::store::payload::Message;
use crate::store::{SessionRow, Store, StoreError, locate};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

impl Session {
    /// Its id: in a client's storage, or the name of its directory.
    pub fn id(&self) -> String {
        match self.shared.place.log() {
            Some(log) => log.session,
            None => self
                .dir()
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// The conversation of every turn in order, as the root's model saw it, without system prompts.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::Closed`].
    pub fn history(&self) -> Result<Vec<Message>, Error> {
        self.read_back(observe::read_history)
    }

    /// One row a turn, with its recorded usage.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn turns(&self) -> Result<Vec<TurnSummary>, Error> {
        self.read_back(observe::read_turns)
    }

    /// The executed steps with their leaf calls, in order: the audit trail.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn run_trace(&self) -> Result<Vec<RunEvent>, Error> {
        self.read_back(observe::run_trace)
    }

    /// What each model cost. A reported cost beats the table; an unknown price is `None`, never 0.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn cost(&self, pricing: &PricingTable) -> Result<Vec<ModelCost>, Error> {
        self.read_back(|store, session| observe::read_model_costs(store, session, pricing))
    }

    /// What its outcomes took; `None` before the first turn has ended.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn efficiency(&self) -> Result<Option<EfficiencySummary>, Error> {
        self.read_back(observe::read_efficiency)
    }

    /// Its last query, where a crash cut it. One that is running has no end either, and was not cut: see
    /// [`Session::is_running`].
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn interrupted(&self) -> Result<Option<Interruption>, Error> {
        // Asked first: what ends meanwhile has its end in the log. And afterwards: what begins meanwhile has none.
        let is_held = self.is_held();
        Ok(self.unfinished()?.filter(|_| !is_held && !self.is_held()))
    }

    /// Whether its last query runs, in this process or in another one that is alive.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn is_running(&self) -> Result<bool, Error> {
        Ok(self.is_held() && self.unfinished()?.is_some())
    }

    /// Someone alive has the session's lock.
    fn is_held(&self) -> bool {
        lock::holder(self.dir()).is_some()
    }

    /// Its last query, where it has no end: whoever is about to take the lock asks this.
    pub(super) fn unfinished(&self) -> Result<Option<Interruption>, Error> {
        match self.source()? {
            Some(source) => Ok(interruption(&source.store, &source.session)?),
            None => Ok(None),
        }
    }

    /// Whether its last query waits for an answer.
    ///
    /// # Errors
    ///
    /// As [`Session::parked`].
    pub fn suspended(&self) -> Result<bool, Error> {
        Ok(self.parked()?.is_some())
    }

    /// Runs the recorded steps of one turn (0-based) or of all again, with every leaf call served from the record: no
    /// model is opened, nothing is called, no file changes.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`] when the record does not suffice. What came out differently is in the report.
    pub async fn replay(&self, turn: Option<u32>, sink: &mut dyn AgentSink) -> Result<ReplayReport, Error> {
        let _turn = self.shared.turn.clone().lock_owned().await;
        let source = self.required_source()?;
        let python = self.python().await?;
        let work = |mut tell: Forward| async move { replay(&source, &python, turn, &mut tell).await };
        Ok(pumped(sink, work).await??)
    }

    /// Compares its steps with those of another session.
    ///
    /// # Errors
    ///
    /// As [`Session::history`].
    pub fn diff(&self, other: &Self) -> Result<RunDiff, Error> {
        let recorded = |session: &Self| session.required_source()?.recording().map_err(Error::from);
        Ok(crate::lab::diff(&recorded(self)?, &recorded(other)?))
    }

    /// Its log, for reading: what the rooms behind this door take.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`] for a session that has none.
    pub fn log_for_reading(&self) -> Result<Source, Error> {
        self.required_source()
    }

    /// Reads from its log; nothing of a session that has none.
    fn read_back<T: Default>(&self, read: impl FnOnce(&Store, &str) -> Result<T, StoreError>) -> Result<T, Error> {
        match self.source()? {
            Some(source) => Ok(read(&source.store, &source.session)?),
            None => Ok(T::default()),
        }
    }

    pub(super) fn recording(&self) -> Result<Recording, Error> {
        match self.source()? {
            Some(source) => Ok(source.recording()?),
            None => Ok(Recording::default()),
        }
    }

    /// Its log, for reading; `None` for a session that has none.
    pub(super) fn source(&self) -> Result<Option<Source>, Error> {
        let dir = self.open_dir()?.to_owned();
        if let Some(log) = self.shared.place.log() {
            return Ok(Some(Source {
                store: log.store,
                session: log.session,
                dir,
            }));
        }
        // A branch, or a session of a store, may have no files yet.
        if !dir.exists() && !dir.parent().is_some_and(|parent| parent.is_dir()) {
            return Ok(None);
        }
        let location = locate(&dir, None)?;
        if !location.exists {
            return Ok(None);
        }
        let store = Store::open_read_only(&location.root)?;
        let ours = |row: &SessionRow| location.session.as_ref().map_or(row.in_root, |name| row.id == *name);
        let row = store.events.sessions()?.into_iter().find(ours);
        Ok(row.map(|row| Source {
            store,
            session: row.id,
            dir,
        }))
    }

    pub(super) fn required_source(&self) -> Result<Source, Error> {
        self.source()?.ok_or_else(|| {
            let session = self.id();
            let reason = "it has no record (events.db): another program made it, or no query was asked".into();
            LabError::NotReplayable { session, reason }.into()
        })
    }

    /// What recorded code is run with: no model is opened for it.
    pub(super) async fn python(&self) -> Result<Python, Error> {
        let backend = self.configured().repl;
        let load = move || python::load(backend, &mut |line| tracing::info!("{line}"));
        let factory = python::threads()?
            .spawn_blocking(load)
            .await
            .unwrap_or(Err(Error::Panicked))?;
        Ok(Python {
            backend,
            factory,
            secrets: self.configured().known_secrets()?,
            env: self.configured().environment(),
            input_file: self.configured().input_file.clone(),
        })
    }
}

/// Hands events on from the library's threads.
pub(super) struct Forward {
    sender: mpsc::UnboundedSender<LabEvent>,
    /// Who watches the session is told, too.
    watch: Arc<dyn Watch>,
}

impl Forward {
    /// Tells `watch`, too, what happens live.
    pub(super) fn and(self, watch: Arc<dyn Watch>) -> Self {
        Self { watch, ..self }
    }
}

impl AgentSink for Forward {
    fn event(&mut self, event: LabEvent) {
        // Nobody receives when the caller is gone.
        let _ = self.sender.send(event);
    }
}

impl Watch for Forward {
    fn event(&self, event: engine::RunEvent) {
        self.watch.event(event.clone());
        let _ = self.sender.send(LabEvent::Live(event));
    }
}

/// Does `work` on the library's threads, whatever executor the caller has, and tells `sink` what happens meanwhile.
/// Dropping the future ends the work.
pub(super) async fn pumped<T, F>(sink: &mut dyn AgentSink, work: impl FnOnce(Forward) -> F) -> Result<T, Error>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut task = AbortWhenDropped(python::threads()?.spawn(work(Forward {
        sender,
        watch: Arc::new(Unwatched),
    })));
    while let Some(event) = receiver.recv().await {
        sink.event(event);
    }
    (&mut task.0).await.map_err(|_| Error::Panicked)
}

struct AbortWhenDropped<T>(JoinHandle<T>);

impl<T> Drop for AbortWhenDropped<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
