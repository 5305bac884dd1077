//! What agents are given beyond their input: tools, MCP servers, who decides about them, Python and its environment,
//! values that must not show.

use super::config::{Config, Hidden, McpSource, ToolSource};
use crate::engine::{Approver, Observation, Tool, ToolGroup};
use crate::mcp::ServerSpec;
use crate::repl::Backend;
use std::path::PathBuf;
use std::sync::Arc;

/// What agents are given.
impl Config {
    /// A Python file whose functions the root may call. They run inside the sandbox.
    #[must_use]
    pub fn tool_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tools.push(ToolSource::File(path.into()));
        self
    }

    /// Python source whose functions the root may call; `file` names it in tracebacks.
    #[must_use]
    pub fn tool_source(mut self, file: impl Into<String>, source: impl Into<Arc<str>>) -> Self {
        let (file, source) = (file.into(), source.into());
        self.tools.push(ToolSource::Text { file, source });
        self
    }

    /// A tool that the host runs: the root may call it, and hand it to its sub-agents.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.host_tools.push(Arc::new(tool));
        self
    }

    /// Groups of tools that are hidden until their signal is observed, and then stay for the rest of the session.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = ToolGroup>) -> Self {
        self.groups.extend(groups);
        self
    }

    /// What is observed from the start.
    #[must_use]
    pub fn ambient_signals(mut self, observed: impl IntoIterator<Item = Observation>) -> Self {
        self.ambient.extend(observed);
        self
    }

    /// Who decides about tool calls and questions before they are made. Default: all given tools are allowed.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    pub(super) fn shared_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Whether tools and MCP servers are given at all. Default: yes.
    #[must_use]
    pub fn enable_tools(mut self, on: bool) -> Self {
        self.no_tools = !on;
        self
    }

    /// Whether sub-agents get all tools of their parent where none are named. Default: no.
    #[must_use]
    pub fn inherit_tools(mut self, on: bool) -> Self {
        self.inherit_tools = on;
        self
    }

    /// A file that declares MCP servers which the root may call: `{"mcpServers": {NAME: {command, args, env} or {url,
    /// headers}}}`. They are started with each query, and end with it.
    #[must_use]
    pub fn mcp_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.mcp.push(McpSource::File(path.into()));
        self
    }

    /// An MCP server that the root may call.
    #[must_use]
    pub fn mcp_server(mut self, server: ServerSpec) -> Self {
        self.mcp.push(McpSource::Server(server));
        self
    }

    /// Whether sub-agents get all MCP servers of their parent where none are named. Default: no.
    #[must_use]
    pub fn inherit_mcp(mut self, on: bool) -> Self {
        self.inherit_mcp = on;
        self
    }

    /// Which Python the REPLs are. Default: the sandbox. The system's `python3` is faster and has threads and installed
    /// packages, and isolates less: each query says how, as a [`What::Notice`](crate::What::Notice).
    #[must_use]
    pub fn repl(mut self, backend: Backend) -> Self {
        self.repl = backend;
        self
    }

    /// An environment variable of the REPLs. Its value is kept out of every file, event and message.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.env.push(Hidden { name, value });
        self
    }

    /// A value to be kept out of every file, event and message; `name` stands in its place. At least 8 characters.
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.secrets.push(Hidden { name, value });
        self
    }
}
