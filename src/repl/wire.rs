//! The messages between host and kernel, as JSON. `assets/python/rlm/channel.py` has the same numbers.

use super::api::{RestoreFailure, RestoreKind, ToolInfo};
use serde::{Deserialize, Serialize};

/// Kinds of blocking messages from the guest.
pub(super) const REQUEST: u32 = 1;
pub(super) const DONE: u32 = 2;
pub(super) const FINAL: u32 = 3;
pub(super) const NOTE: u32 = 4;
pub(super) const VALUE: u32 = 5;
/// What the guest reads.
pub(super) const REPLY: u32 = 1;
pub(super) const BLOB: u32 = 2;
/// Streams of the guest's output; 0 and 1 are printed text.
pub(super) const WAKE: u32 = 2;

/// A command for the kernel. `number` comes back with its reply.
#[derive(Serialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub(super) enum Command<'a> {
    Start(Box<StartCommand<'a>>),
    Step {
        number: u64,
        step: u32,
        code: &'a str,
        seed: Option<u64>,
        flood: u64,
    },
    Sweep {
        number: u64,
        pickle_bytes: usize,
    },
}

#[derive(Serialize)]
pub(super) struct StartCommand<'a> {
    pub(super) number: u64,
    pub(super) context: &'static str,
    pub(super) role: &'static str,
    pub(super) mcp: bool,
    pub(super) env: serde_json::Map<String, serde_json::Value>,
    pub(super) tools: Vec<ToolFile<'a>>,
    pub(super) host_tools: Vec<HostToolEntry<'a>>,
    pub(super) restore: RestoreCommand<'a>,
}

#[derive(Serialize)]
pub(super) struct ToolFile<'a> {
    pub(super) file: &'a str,
    pub(super) source: &'a str,
    pub(super) only: Option<&'a [String]>,
}

#[derive(Serialize)]
pub(super) struct HostToolEntry<'a> {
    pub(super) name: &'a str,
    pub(super) signature: &'a str,
    pub(super) doc: &'a str,
    pub(super) is_async: bool,
}

#[derive(Serialize)]
pub(super) struct RestoreCommand<'a> {
    pub(super) imports: &'a [String],
    pub(super) import_sources: &'a [String],
    pub(super) functions: &'a [(String, String)],
    pub(super) variables: Vec<VariableEntry<'a>>,
    /// Items that ended an earlier attempt.
    pub(super) skip: Vec<(RestoreKind, &'a str)>,
    /// The kernel is looked at after each item, and not only at the end.
    pub(super) careful: bool,
}

#[derive(Serialize)]
pub(super) struct VariableEntry<'a> {
    pub(super) name: &'a str,
    /// The blob `variable <index>` is its pickle.
    pub(super) index: usize,
    pub(super) comment: Option<&'a str>,
    pub(super) note: Option<&'a str>,
    pub(super) committed: bool,
}

/// The reply to a command.
#[derive(Deserialize)]
pub(super) struct Done<T> {
    pub(super) number: u64,
    pub(super) reply: Reply<T>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Reply<T> {
    /// User code broke the kernel.
    Broken {
        broken: String,
    },
    Good(T),
}

#[derive(Deserialize)]
pub(super) struct StepReply {
    pub(super) error: Option<String>,
    pub(super) written: Vec<String>,
    pub(super) deleted: Vec<String>,
    pub(super) imports: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct SweepReply {
    /// Variables that are as in the sweep before, or in the restore.
    pub(super) same: Vec<SweptEntry>,
    /// How many others were sent, with their pickles.
    pub(super) sent: usize,
    pub(super) functions: Vec<FunctionEntry>,
    pub(super) dropped: Vec<DroppedEntry>,
    pub(super) imports: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct SweptEntry {
    pub(super) name: String,
    /// Its place among the names.
    pub(super) place: usize,
    /// Bytes of its pickle, where that comes with it.
    #[serde(default)]
    pub(super) bytes: usize,
    /// In hexadecimal.
    pub(super) digest: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    pub(super) preview: String,
    pub(super) comment: Option<String>,
    pub(super) note: Option<String>,
    pub(super) committed: bool,
}

#[derive(Deserialize)]
pub(super) struct FunctionEntry {
    pub(super) name: String,
    pub(super) source: String,
}

#[derive(Deserialize)]
pub(super) struct DroppedEntry {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    pub(super) reason: String,
    pub(super) size: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct StartReply {
    pub(super) tools: Vec<ToolInfo>,
    pub(super) tool_errors: Vec<(String, String)>,
    pub(super) restored: RestoreReply,
}

#[derive(Deserialize)]
pub(super) struct RestoreReply {
    pub(super) variables: Vec<String>,
    pub(super) functions: Vec<String>,
    pub(super) renamed: Vec<(String, String)>,
    pub(super) failed: Vec<RestoreFailure>,
}

/// What the kernel is about to do, so that the host can name what ended the interpreter.
#[derive(Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: NoteKind,
    pub(super) name: String,
}

/// A note of a sweep whose functions and imports are done: values that can end the interpreter come last.
#[derive(Deserialize)]
pub(super) struct SoFar {
    pub(super) functions: Vec<FunctionEntry>,
    pub(super) imports: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum NoteKind {
    Tools,
    Import,
    Function,
    Variable,
}

/// A host call's envelope.
#[derive(Deserialize)]
pub(super) struct Invocation {
    pub(super) id: u64,
    pub(super) args: serde_json::Value,
}

/// A blocking host call.
#[derive(Deserialize)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) args: serde_json::Value,
}

/// The error of a host call, as the kernel expects it.
pub(super) fn failure(exception: &str, message: &str) -> String {
    serde_json::json!({ "exception": exception, "message": message }).to_string()
}
