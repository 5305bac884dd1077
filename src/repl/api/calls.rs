//! Calls out of the REPL into its owner.

use async_trait::async_trait;
use serde_json::Value;

/// A call that leaves the interpreter. Everything in it comes from model-written code: check it.
///
/// | name | arguments | answer |
/// | --- | --- | --- |
/// | `llm_query` | `{context, schema, tools, mcp, instruction}`; `tools` and `mcp` are lists of names or null (not given) | any JSON |
/// | `batch_llm_query` | `{queries: [as llm_query, ...]}` | a list, results in order |
/// | `ask` | `{question, options}`; options a list of strings or null | the answer, a string |
/// | `mcp_list_tools`, `mcp_tool_schema`, `mcp_call`, `mcp_list_resources`, `mcp_list_resource_templates`, `mcp_read_resource` | their parameters by name | any JSON |
/// | `tool_begin` | `{name, args, kwargs}`: a Python tool is about to run | `{"run": true}`, or `{"pickle": base64}` / `{"value": json}` / `{"raise": {type, message}}` to serve a recorded result |
/// | `tool_end` | `{name, args, kwargs, ok, value, pickle, error: {type, message}}`: it has run | ignored |
/// | `tool_call` | `{name, args, kwargs}`: a tool of the host (see `HostTool`) | any JSON |
///
/// Values that are not JSON are encoded as FINAL's are (docs/formats-final.md).
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Which function was called.
    pub name: String,
    /// Its arguments, an object.
    pub args: Value,
}

/// What a REPL's owner answers. Calls of one step arrive concurrently, on the runtime that started the REPL; a call
/// whose step is cancelled is dropped.
#[async_trait]
pub trait HostCalls: Send + Sync {
    /// Answers one call.
    ///
    /// # Errors
    /// Raised in Python as the exception that the error names.
    async fn call(&self, call: HostCall) -> Result<Value, HostError>;
}

/// The Python exception that an error becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PythonException {
    /// `RuntimeError`.
    #[default]
    Runtime,
    /// `PermissionError`: the approver refused.
    Permission,
    /// `ValueError`.
    Value,
    /// `TypeError`.
    Type,
    /// `TimeoutError`.
    Timeout,
    /// `MemoryError`.
    Memory,
}

impl PythonException {
    /// The exception of this class name; `RuntimeError` for any other.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let all = [Self::Permission, Self::Value, Self::Type, Self::Timeout, Self::Memory];
        all.into_iter().find(|one| one.name() == name).unwrap_or_default()
    }

    /// The class's name in Python.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Runtime => "RuntimeError",
            Self::Permission => "PermissionError",
            Self::Value => "ValueError",
            Self::Type => "TypeError",
            Self::Timeout => "TimeoutError",
            Self::Memory => "MemoryError",
        }
    }
}

/// A refused or failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// What is raised.
    pub exception: PythonException,
    /// Its message, shown to the model: no secrets.
    pub message: String,
}

impl HostError {
    /// An error that raises `RuntimeError(message)`.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            exception: PythonException::Runtime,
            message: message.into(),
        }
    }
}
