//! The vocabulary: what disk, store and engine tell the model.

use super::{BodyRef, Cost, Final, Lineage, LiveEvent, LogId, OpenCall, Problem, Time, Timings, Usage};
use std::sync::Arc;

/// What was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TargetKind {
    /// A session: its directory or state.json.
    #[default]
    Session,
    /// One transcript, without a session.
    Transcript,
}

/// What is known of the session as a whole.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SessionFacts {
    /// Session or single transcript.
    pub target: TargetKind,
    /// Name shown: the directory's or file's name. Raw.
    pub name: String,
    /// The directory as the user gave it. Raw.
    pub dir: String,
    /// `version` of state.json.
    pub version: Option<u64>,
    /// Newer than what is understood: shown read-only.
    pub newer: bool,
    /// A mere directory of transcripts, which no session has: there is no ledger that could name their queries.
    pub bare: bool,
    /// `pending_query`.
    pub pending: Option<String>,
    /// Whole text of the pending query where `query_file` has it.
    pub pending_full: Option<String>,
    /// The question whose answer the pending query waits for, as the event log has it.
    pub waits: Option<String>,
    /// Its transcripts are still looked for.
    pub seeking: bool,
    /// Another process holds the session's lock (`pid 4711 on host, since …`).
    pub held_by: Option<String>,
}

/// One entry of state.json's `queries`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LedgerEntry {
    /// Its text, raw, as the ledger has it.
    pub query: String,
    /// Its FINAL.
    pub result: Final,
    /// As recorded.
    pub log_file: Option<String>,
    /// As recorded.
    pub run_id: Option<String>,
}

/// One entry of state.json's `interrupted` (ours): a run without FINAL that its writer knows of.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InterruptedEntry {
    /// Its text, raw.
    pub query: String,
    /// As recorded.
    pub log_file: Option<String>,
    /// As recorded.
    pub run_id: Option<String>,
    /// As recorded: `error`, `limit`, `cancelled`, `interrupted`, …
    pub outcome: Option<String>,
}

/// One entry of state.json's `code_log`: a root step.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeEntry {
    /// What the writer believed: the number of completed queries before it.
    pub q: u64,
    /// Step number, from 1.
    pub step: u64,
    /// It did not raise.
    pub ok: bool,
    /// Its code.
    pub code: String,
    /// Ours: the run it belongs to.
    pub run_id: Option<String>,
}

/// What a remembered name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// A pickled value.
    Variable,
    /// A function or class, as source.
    Function,
    /// A name that could not be saved.
    Dropped,
}

/// One entry of `variables`, `functions` or `dropped`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRecord {
    /// The name.
    pub name: String,
    /// Which table.
    pub kind: MemoryKind,
    /// Type of a variable.
    pub type_name: String,
    /// Preview, source, or reason.
    pub text: String,
    /// Comment.
    pub comment: Option<String>,
    /// Note.
    pub note: Option<String>,
    /// Committed.
    pub committed: bool,
    /// Length of `pickle_b64`.
    pub pickle_bytes: u64,
}

/// Whether a transcript is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogState {
    /// Where the query's `log_file` says.
    Found,
    /// By the ladder, elsewhere.
    Moved,
    /// In `logs/`, linked by no query.
    Stray,
    /// Not found or refused: what was tried, in order, each with its reason.
    Missing(Vec<String>),
}

/// A transcript of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFacts {
    /// Its id.
    pub id: LogId,
    /// Path shown to people; raw, lossy where it is not UTF-8.
    pub path: String,
    /// Whether it is there.
    pub state: LogState,
    /// Indices of the ledger entries that link it; empty for strays.
    pub queries: Vec<usize>,
}

/// What `agent_end` recorded (all of it is ours and optional).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AgentEnd {
    /// `ok`, `error`, `limit`, `cancelled`, …
    pub outcome: Option<String>,
    /// The error's text.
    pub error: Option<String>,
    /// Which limit stopped it.
    pub limit: Option<String>,
    /// What calls used that were cut before their reply was there (one for each time that the run ended so): no step
    /// counts them.
    pub unanswered: Vec<(Usage, Cost)>,
}

/// A step's line, without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLine {
    /// As recorded; `None` where that is no number of a step: it stands after those before it.
    pub number: Option<u64>,
    /// `execution_result` (its output was recorded), else `code_generated`.
    pub executed: bool,
    /// `hasError`.
    pub failed: bool,
    /// Usage; `None` when the line has none.
    pub usage: Option<Usage>,
    /// Cost.
    pub cost: Cost,
    /// Instants.
    pub timings: Timings,
    /// Digest of the code's text, to tell repetitions from different steps of one number.
    pub code_digest: u64,
    /// Code is empty: the model wrote none.
    pub no_code: bool,
    /// Of the probe: what the agent was given, from its output, one line, cut at 200 characters.
    pub task: Option<String>,
}

/// What a transcript line says.
#[derive(Clone, Debug, PartialEq)]
pub enum LineKind {
    /// `agent_start`.
    Start,
    /// `agent_end`.
    End(AgentEnd),
    /// `execution_result` or `code_generated`.
    Step(StepLine),
    /// `final_result`.
    Final(Final),
    /// An event of an unknown type: listed as a problem.
    Unknown(String),
}

/// A transcript line's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where it lies.
    pub at: BodyRef,
    /// Its agent. Shared: a long transcript names the same few agents again and again.
    pub run_id: Arc<str>,
    /// Its agent's parent.
    pub parent: Option<Arc<str>>,
    /// Depth as recorded.
    pub depth: u32,
    /// When it was written.
    pub time: Option<Time>,
    /// What it says.
    pub kind: LineKind,
}

/// Something that was found, or that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Facts of the session; replaces earlier ones.
    Session(SessionFacts),
    /// state.json was (re)read: replaces ledger, code log and memory as one.
    State {
        /// `queries`.
        ledger: Vec<LedgerEntry>,
        /// `code_log`.
        code: Vec<CodeEntry>,
        /// `variables`, `functions`, `dropped`, in file order.
        memory: Vec<MemoryRecord>,
        /// `interrupted` (ours): runs without FINAL that the writer knows of.
        interrupted: Vec<InterruptedEntry>,
    },
    /// A transcript was found, or was not; replaces earlier facts of the same id.
    Log(LogFacts),
    /// Lines of transcripts, in any order; a line that is known already changes nothing.
    Lines(Vec<Line>),
    /// A transcript was read to its end (it may still grow).
    LogRead {
        /// Which.
        log: LogId,
        /// Lines that could not be read.
        unreadable: u64,
    },
    /// A transcript was truncated or replaced: its lines are forgotten.
    LogReset(LogId),
    /// Something is wrong; a known one changes nothing.
    Problem(Problem),
    /// A reported problem is none any more: a torn line is whole now.
    Resolved(Problem),
    /// Calls that the event log has of runs that have not ended by themselves; replaces what was known of them.
    OpenCalls(Vec<OpenCall>),
    /// A writer is alive (holds the lock), or is not any more.
    Writer {
        /// It is alive.
        alive: bool,
    },
    /// Its family; replaces what was known of it.
    Lineage(Lineage),
    /// News of a run of this session that is alive in this program: what no file has yet.
    Live(LiveEvent),
}
