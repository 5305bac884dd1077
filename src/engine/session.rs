//! A session as the engine drives it: its directory, its lock, and one query after another.

use super::agent::{Ended, Spec, run_agent};
use super::budget::Spent;
use super::clock;
use super::error::RunError;
use super::event::What;
use super::event::{AgentId, Watch};
use super::input::{Input, InputError, Prepared};
use super::journal::{RecoverError, recover};
use super::keeper::Keeper;
use super::memory::{MemoryError, RunRef, SessionMemory, new_run};
use super::run::Run;
use super::schema::{BadSchema, OutputSchema};
use super::settings::Settings;
use crate::disk::lock::{LockError, SessionLock};
use crate::disk::transcript_writer::{TranscriptError, TranscriptWriter};
use crate::provider::Cancel;
use crate::repl::{FinalValue, ReplFactory};
use crate::store::payload::TurnStarted;
use crate::store::{NewSession, Redact, SessionRow, SessionWriter, Storage, Store, StoreError, locate};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where a session's files are.
#[derive(Clone, Debug)]
pub struct Home {
    /// The session directory: `state.json`, `logs/`.
    pub dir: PathBuf,
    /// Transcripts somewhere else than in `logs/`.
    pub log_dir: Option<PathBuf>,
    /// First part of a transcript's name; `run` where none is given.
    pub prefix: String,
    /// Link transcripts by absolute path, for viewers that follow only those.
    pub absolute_logs: bool,
    /// Where the session's store is, if there is none in or beside its directory; `None` keeps no store.
    pub storage: Option<PathBuf>,
    /// How long a busy session is waited for.
    pub wait: Duration,
}

impl Home {
    /// A session in `dir` with its store there, and the usual names.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self {
            storage: Some(dir.clone()),
            dir,
            log_dir: None,
            prefix: "run".into(),
            absolute_logs: false,
            wait: Duration::ZERO,
        }
    }

    fn logs(&self) -> PathBuf {
        self.log_dir.clone().unwrap_or_else(|| self.dir.join("logs"))
    }

    /// A transcript's path as the ledger links it.
    fn link(&self, name: &str) -> String {
        match (&self.log_dir, self.absolute_logs) {
            (None, false) => format!("logs/{name}"),
            _ => std::path::absolute(self.logs().join(name))
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }
}

/// One query, ready to be run.
pub struct Query {
    /// What it is about.
    pub input: Input,
    /// What it is run with.
    pub settings: Arc<Settings>,
    /// Starts REPLs.
    pub factory: Arc<dyn ReplFactory>,
    /// Is told what happens.
    pub watch: Arc<dyn Watch>,
    /// Stops it.
    pub cancel: Cancel,
}

/// What came of a query.
#[derive(Debug)]
pub struct Answer {
    /// FINAL, or why there is none.
    pub result: Result<FinalValue, RunError>,
    /// What it used.
    pub spent: Spent,
    /// Its root run.
    pub run_id: String,
    /// Its transcript.
    pub transcript: PathBuf,
}

/// A query that could not begin: nothing of the session was changed.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Another writer has the session.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A directory could not be made.
    #[error("cannot create {}: {cause}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Its memory could not be read or written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Its log could not be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its files and log could not be brought in step.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The query could not be kept as begun.
    #[error(transparent)]
    Keep(RunError),
    /// Its transcript could not be opened.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The input cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output schema is none.
    #[error("output schema: {0}")]
    Schema(#[from] BadSchema),
}

/// Runs the session's next query, holding its lock.
///
/// # Errors
/// [`BeginError`] when it cannot begin; what stops it later is in the answer.
pub async fn run_query(home: &Home, query: Query) -> Result<Answer, BeginError> {
    let prepared = query.input.clone().prepare()?;
    let schema = query.settings.schema.as_ref().map(OutputSchema::compile).transpose()?;
    make_dir(&home.logs())?;
    let _lock = SessionLock::acquire(&home.dir, home.wait)?;
    let storage = home.storage.as_deref();
    let (writer, notes) = storage
        .map(|storage| take_over(home, storage, &query.settings))
        .transpose()?
        .unzip();
    let memory = SessionMemory::open(&home.dir, query.settings.secrets.clone())?;
    let preamble = memory.preamble(query.settings.code_in_context);
    let (run_id, log_name) = new_run(&home.prefix, |name| home.logs().join(name).exists());
    let reference = RunRef {
        run_id: run_id.clone(),
        log_file: home.link(&log_name),
        query: prepared.query.clone(),
    };
    let transcript = home.logs().join(log_name);
    let lines = TranscriptWriter::open(&transcript)?;
    let started = turn_started(&query.settings, &reference);
    let keeper = Keeper::begin(memory, writer, started, reference).map_err(BeginError::Keep)?;
    let (settings, factory) = (query.settings, query.factory);
    let run = Arc::new(Run::new(settings, factory, lines, query.watch, query.cancel));
    let spec = root_spec(&run, &run_id, prepared, schema, preamble, keeper);
    for note in notes.unwrap_or_default() {
        run.tell(&spec.id, What::Notice(note));
    }
    let ended = run_agent(Arc::clone(&run), spec).await;
    Ok(Answer {
        result: close(ended),
        spent: run.budget.spent(),
        run_id,
        transcript,
    })
}

/// A session's log, taken over: its writer with the number of the next turn, and what was done to bring files and log
/// in step.
type TakenOver = ((SessionWriter, u32), Vec<String>);

/// Opens the session's store, raises its token, and brings files and log in step.
fn take_over(home: &Home, storage: &Path, settings: &Settings) -> Result<TakenOver, BeginError> {
    let location = locate(&home.dir, Some(storage))?;
    let store = Storage::dir(&location.root).open()?;
    let session = match &location.session {
        None => store.events.root_session(&NewSession::in_root(clock::now()))?,
        Some(name) => named_session(&store, name)?,
    };
    let secrets = settings.secrets.clone();
    let redact = move |text: &str| match secrets.redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    };
    let redact = Redact::with(move |text| redact(text).map_or(Cow::Borrowed(text), Cow::Owned));
    let writer = SessionWriter::take_over(&store, &session.id)?.redacting(redact);
    let recovered = recover(&store, &writer, &home.dir)?;
    Ok(((writer, recovered.turn), recovered.notes))
}

fn named_session(store: &Store, name: &str) -> Result<SessionRow, StoreError> {
    match store.events.session(name) {
        Err(StoreError::UnknownSession { .. }) => store.events.create_session(&NewSession::named(name, clock::now())),
        found => found,
    }
}

fn turn_started(settings: &Settings, run: &RunRef) -> TurnStarted {
    TurnStarted {
        query: run.query.clone().into(),
        instruction: settings.instruction.clone(),
        model: settings.model.name.clone(),
        sub_model: Some(settings.sub_model.name.clone()),
        run_id: run.run_id.clone(),
        log_file: Some(run.log_file.clone()),
        cassette: true,
        ..TurnStarted::default()
    }
}

fn root_spec(
    run: &Run,
    run_id: &str,
    prepared: Prepared,
    schema: Option<OutputSchema>,
    preamble: Option<String>,
    keeper: Keeper,
) -> Spec {
    let settings = &run.settings;
    let instruction = [prepared.instruction, settings.instruction.clone()];
    let instruction: Vec<String> = instruction.into_iter().flatten().collect();
    Spec {
        id: AgentId {
            run_id: run_id.into(),
            parent: None,
            depth: 0,
        },
        model: settings.model.clone(),
        context: prepared.context,
        context_chars: prepared.chars,
        task: prepared.task,
        instruction: (!instruction.is_empty()).then(|| instruction.join("\n\n")),
        schema,
        tools: settings.tools.clone(),
        preamble,
        journal: keeper.journal(),
        keeper: Some(keeper),
    }
}

/// Closes the query. FINAL was kept with its step; a failure that cannot be kept is told all the same.
fn close(ended: Ended) -> Result<FinalValue, RunError> {
    let Some(mut keeper) = ended.keeper else {
        return ended.result;
    };
    if let Err(error) = &ended.result {
        keeper.fail(error)?;
    }
    keeper.retain()?;
    ended.result
}

fn make_dir(path: &Path) -> Result<(), BeginError> {
    std::fs::create_dir_all(path).map_err(|cause| BeginError::Directory {
        path: path.to_owned(),
        cause,
    })
}
