//! A session as the engine drives it: its directory, its lock, and one query after another.

use super::agent::{Ended, Spec, run_agent};
use super::begin_error::BeginError;
use super::budget::Spent;
use super::clock;
use super::error::RunError;
use super::event::{AgentId, Watch, What, redacted_value};
use super::home::Home;
use super::input::{Input, Prepared};
use super::journal::Cut;
use super::keeper::Keeper;
use super::leaving::Leaving;
use super::memory::{RunRef, SessionMemory, new_run};
use super::open::{Opened, lock};
use super::person::Person;
use super::run::Run;
use super::schema::OutputSchema;
use super::settings::Settings;
use crate::disk::transcript_writer::TranscriptWriter;
use crate::provider::Cancel;
use crate::repl::{Backend, FinalValue, HASH_SEED, ReplFactory};
use crate::store::payload::{Pinned, TurnStarted};
use crate::store::{Fact, Kind, SessionRow, Store, StoreError, locate};
use crate::text::secret::Secrets;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names of the MCP servers, among a turn's settings.
const MCP: &str = "mcp";
/// The backend of Python, where it is not the sandbox.
const REPL: &str = "repl";
/// Whether dicts and lists reach agents as such, among a turn's settings where they do not.
const STRUCTURED: &str = "enable_structured_io";

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
    /// Answers `ask`; without anyone the query parks.
    pub person: Option<Arc<dyn Person>>,
}

impl Query {
    /// A recorded query goes on with the kind of inputs that it began with, whatever is set by now.
    pub(super) fn structured_as(self, started: &TurnStarted) -> Self {
        let structured_io = recorded_structured(started);
        if structured_io == self.settings.structured_io {
            return self;
        }
        let settings = Settings {
            structured_io,
            ..(*self.settings).clone()
        };
        Self {
            settings: Arc::new(settings),
            ..self
        }
    }
}

/// What came of a query. Its MCP servers may still be ending: [`Leaving`].
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
    /// The servers that it started.
    pub leaving: Leaving,
}

/// Runs the session's next query, holding its lock.
///
/// # Errors
/// [`BeginError`] when it cannot begin; what stops it later is in the answer.
pub async fn run_query(home: &Home, query: Query) -> Result<Answer, BeginError> {
    let recorded = query.input.recorded();
    let prepared = query.input.clone().prepare(query.settings.structured_io)?;
    let schema = query.settings.output_schema()?;
    home.check_names(&query.settings.secrets)?;
    make_dir(&home.dir)?;
    make_dir(&home.logs())?;
    let lock = lock(home, &query.cancel).await?;
    let opened = Opened::open(home, &query.settings, Cut::Close, lock)?;
    if let Some(parked) = opened.parked {
        return Err(BeginError::Parked {
            dir: home.dir.clone(),
            question: parked.question,
        });
    }
    let earlier = opened.observed(&query.settings)?;
    let cut = opened.last_asked()?;
    let memory = SessionMemory::of_read(&home.dir, opened.doc, query.settings.secrets.clone())?;
    let preamble = memory.preamble(query.settings.code_in_context);
    let (run_id, log_name) = new_run(&home.prefix, |name| home.logs().join(name).exists());
    let reference = RunRef {
        run_id,
        log_file: home.link(&log_name),
        query: prepared.query.clone(),
    };
    let lines = TranscriptWriter::open(&home.logs().join(log_name))?;
    let started = turn_started(&query.settings, &reference, recorded);
    let keeper =
        Keeper::begin(memory, opened.log, started, reference.clone(), cut.as_ref()).map_err(BeginError::Keep)?;
    let run = Arc::new(Run::new(&query, lines, None));
    run.know(&earlier);
    let spec = root_spec(&run, &reference.run_id, prepared, schema, preamble, keeper);
    Ok(finish(run, spec, opened.notes).await)
}

/// The models that the last query of the session in `dir` was run with, the root's and the sub-agents', read without
/// taking its lock; `None` when its log has no query.
///
/// # Errors
/// Those of its store.
pub fn last_models(dir: &Path) -> Result<Option<(String, Option<String>)>, StoreError> {
    let Some((store, id)) = log_of(dir)? else {
        return Ok(None);
    };
    let last = store.events.last_of(&id, &[Kind::TurnStarted])?;
    Ok(match last.map(|event| event.fact) {
        Some(Fact::TurnStarted(started)) => Some((started.model, started.sub_model)),
        _ => None,
    })
}

/// The log of the session in `dir`, to be read, and the session's id in it; `None` when there is none.
pub(super) fn log_of(dir: &Path) -> Result<Option<(Store, String)>, StoreError> {
    let location = locate(dir, None)?;
    if !location.exists {
        return Ok(None);
    }
    let store = Store::open_read_only(&location.root)?;
    let sessions = store.events.sessions()?;
    let ours = |row: &&SessionRow| location.session.as_ref().map_or(row.in_root, |name| row.id == *name);
    let id = sessions.iter().find(ours).map(|row| row.id.clone());
    Ok(id.map(|id| (store, id)))
}

pub(super) async fn finish(run: Arc<Run>, spec: Spec, notes: Vec<String>) -> Answer {
    let run_id = spec.id.run_id.to_string();
    let said = run.factory.notice().into_iter().chain(run.settings.unchecked());
    for note in said.chain(notes) {
        run.tell(&spec.id, What::Notice(note));
    }
    let ended = run_agent(Arc::clone(&run), spec).await;
    let cancelled = matches!(ended.result, Err(RunError::Cancelled));
    let leaving = Leaving::begin(Arc::clone(&run.mcp), cancelled);
    Answer {
        result: close(ended).map(|value| shown(value, &run.settings.secrets)),
        spent: run.budget.spent(),
        run_id,
        transcript: run.transcript_path().to_owned(),
        leaving,
    }
}

/// FINAL as the ledger has it: it leaves the REPL without secrets.
fn shown(value: FinalValue, secrets: &Secrets) -> FinalValue {
    FinalValue {
        value: redacted_value(value.value, secrets),
        ..value
    }
}

fn turn_started(settings: &Settings, run: &RunRef, (query, input): (Value, Value)) -> TurnStarted {
    TurnStarted {
        query,
        settings: other_settings(settings, input),
        instruction: settings.instruction.clone(),
        model: settings.model.name.clone(),
        sub_model: Some(settings.sub_model.name.clone()),
        run_id: run.run_id.clone(),
        log_file: Some(run.log_file.clone()),
        cassette: settings.cassette,
        pinned: Some(pinned()),
    }
}

/// What else it takes to ask the query again, and to replay it.
fn other_settings(settings: &Settings, input: Value) -> Value {
    let mut fields = match input {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if !settings.env.is_empty() {
        fields.insert(
            "env".into(),
            settings.env.iter().map(|(name, _)| name.as_str()).collect(),
        );
    }
    if !settings.mcp.is_empty() {
        fields.insert(MCP.into(), settings.mcp.iter().map(|spec| spec.name.as_str()).collect());
    }
    if settings.repl != Backend::default() {
        fields.insert(REPL.into(), settings.repl.name().into());
    }
    if !settings.structured_io {
        fields.insert(STRUCTURED.into(), false.into());
    }
    if fields.is_empty() {
        Value::Null
    } else {
        Value::Object(fields)
    }
}

/// Whether a recorded turn had functions for MCP servers.
pub fn recorded_mcp(started: &TurnStarted) -> bool {
    started.settings.get(MCP).is_some()
}

/// Which Python a recorded turn ran on; the sandbox where the record knows of no other.
pub fn recorded_repl(started: &TurnStarted) -> Backend {
    let named = started.settings.get(REPL).and_then(Value::as_str);
    named.and_then(|name| name.parse().ok()).unwrap_or_default()
}

/// Whether dicts and lists reached the agents of a recorded turn as such; they did where the record does not deny it.
pub(crate) fn recorded_structured(started: &TurnStarted) -> bool {
    started
        .settings
        .get(STRUCTURED)
        .and_then(Value::as_bool)
        .unwrap_or(true)
}

/// What the REPLs of a turn have in common. Python is always in UTC and without a locale.
fn pinned() -> Pinned {
    Pinned {
        timezone: "UTC".into(),
        locale: "C.UTF-8".into(),
        hash_seed: u64::from(HASH_SEED),
        // JSON readers of other programs keep 53 bits.
        random_seed: clock::random_bits() >> 11,
    }
}

pub(super) fn root_spec(
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
        cancel: run.cancel.clone(),
        model: settings.model.clone(),
        context: prepared.context,
        context_chars: prepared.chars,
        task: prepared.task,
        instruction: (!instruction.is_empty()).then(|| instruction.join("\n\n")),
        schema,
        tools: settings.tools.clone(),
        host_tools: settings.host_tools.clone(),
        mcp: Some(run.mcp.names()).filter(|names| !names.is_empty()),
        preamble,
        journal: keeper.journal(),
        keeper: Some(keeper),
        onward: None,
    }
}

/// Closes the query. FINAL was kept with its step; a failure that cannot be kept is told all the same.
fn close(ended: Ended) -> Result<FinalValue, RunError> {
    let Some(mut keeper) = ended.keeper else {
        return ended.result;
    };
    if let Err(error) = &ended.result {
        keeper.fail(error, ended.unanswered)?;
        if error.is_unkept() {
            return ended.result;
        }
    }
    keeper.retain()?;
    ended.result
}

pub(super) fn make_dir(path: &Path) -> Result<(), BeginError> {
    std::fs::create_dir_all(path).map_err(|cause| BeginError::Directory {
        path: path.to_owned(),
        cause,
    })
}
