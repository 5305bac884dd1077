//! What a REPL is started with.

use super::{Repl, RestoreReport, RestoreSet};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything a REPL is started with. It keeps a copy, for restarts.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// What `context` is bound to.
    pub context: Context,
    /// Which of the engine's functions work.
    pub role: Role,
    /// Whether `mcp_*` functions exist.
    pub mcp: bool,
    /// `os.environ` of this REPL, and nothing else.
    pub env: Vec<(String, String)>,
    /// Bounds of time, memory and output.
    pub limits: Limits,
    /// Python files whose functions become tools.
    pub tools: Vec<ToolModule>,
    /// Tools that the host runs.
    pub host_tools: Vec<HostTool>,
    /// State of earlier queries.
    pub restore: RestoreSet,
}

/// The value of `context`.
#[derive(Debug, Clone, Default)]
pub enum Context {
    /// `None`.
    #[default]
    Nothing,
    /// A `str`.
    Text(Arc<str>),
    /// A dict, list or scalar.
    Json(Arc<Value>),
    /// The content of a file, read when the REPL starts and never held by the host as a whole.
    File {
        /// The file. It is read again at a restart.
        path: PathBuf,
        /// What it becomes.
        kind: ContextKind,
    },
}

/// What the content of a context file becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextKind {
    /// A `str`; bytes that are not UTF-8 become U+FFFD.
    Text,
    /// The JSON value in it.
    Json,
    /// A list: one JSON value a line.
    JsonLines,
}

/// Whose REPL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The root agent: every function works.
    #[default]
    Root,
    /// A sub-agent: `commit` and `ask` raise and say so.
    SubAgent,
    /// A sub-agent at the greatest depth: `llm_query` and `batch_llm_query` raise, too.
    Leaf,
}

/// Bounds of one REPL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Execution time of a step, time spent awaiting host calls not counted.
    pub step_timeout: Duration,
    /// Memory of the instance in bytes, about 40 MB of it the interpreter's.
    pub memory_bytes: u64,
    /// How much of a step's output is kept, in bytes: the last of it.
    pub output_bytes: usize,
    /// A step that prints more bytes than this is stopped.
    pub flood_bytes: u64,
    /// A pickle of more bytes is not saved.
    pub pickle_bytes: usize,
    /// Wall time of a start with its restore, or of a sweep.
    pub housekeeping_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            step_timeout: Duration::from_secs(120),
            memory_bytes: 512 << 20,
            output_bytes: 4 << 20,
            flood_bytes: 256 << 20,
            pickle_bytes: 5_000_000,
            housekeeping_timeout: Duration::from_secs(60),
        }
    }
}

/// A Python file given with `--tools`: its public functions are bound in the REPL under their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolModule {
    /// The file's name, for tracebacks.
    pub file: String,
    /// Its source. It runs inside the sandbox.
    pub source: Arc<str>,
    /// Which of its functions are handed over; `None` for all.
    pub only: Option<Vec<String>>,
}

/// A tool that runs in the host: calling it in Python becomes a `tool_call`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTool {
    /// Its name in the REPL, a Python identifier.
    pub name: String,
    /// Its signature as shown, for example `(city: str, day: str = "today")`.
    pub signature: String,
    /// What it does, for the model.
    pub doc: String,
    /// Whether it has to be awaited. If not, the call blocks the interpreter.
    pub is_async: bool,
}

/// A tool as the model is told about it: never its source.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct ToolInfo {
    /// Its name in the REPL.
    pub name: String,
    /// Its signature, for example `(text, limit=10)`.
    pub signature: String,
    /// Its docstring, if it has one.
    pub doc: Option<String>,
    /// Whether it has to be awaited.
    pub is_async: bool,
}

/// A REPL that has just started.
pub struct Started {
    /// The REPL.
    pub repl: Box<dyn Repl>,
    /// The tools that are bound in it.
    pub tools: Vec<ToolInfo>,
    /// What could not be loaded of the tools: file and reason.
    pub tool_errors: Vec<(String, String)>,
    /// What became of `StartOptions::restore`.
    pub restored: RestoreReport,
}
