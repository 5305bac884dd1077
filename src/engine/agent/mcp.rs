//! Calls of MCP servers: leaf calls like any other. An agent reaches the servers that were handed to it, and no others.

use super::host::Host;
use super::{Run, RunError, Spec, What};
use crate::engine::tape::Recorded;
use crate::mcp::{Counts, Listed, McpError};
use crate::repl::{HostError, PythonException};
use serde_json::{Map, Value};

/// The functions in the REPL.
pub(super) const FUNCTIONS: [&str; 6] = [
    "mcp_list_tools",
    "mcp_tool_schema",
    "mcp_call",
    "mcp_list_resources",
    "mcp_list_resource_templates",
    "mcp_read_resource",
];

/// What the gate calls a call: a tool of a server by both names, so that "always" means that tool alone.
pub(super) fn gate_name(call: &str, input: &Value) -> String {
    let part = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    match call {
        "mcp_call" => format!("mcp:{}/{}", part("server"), part("tool")),
        _ => call.to_owned(),
    }
}

impl Host {
    /// One call: from the record, or of the server, and then recorded.
    pub(super) async fn mcp(&self, call: &str, input: &Value) -> Result<Value, HostError> {
        if let Some(recorded) = self.recorded(call, input).await? {
            return Recorded::answer(recorded);
        }
        let asked = match Asked::of(input, self.servers()) {
            Ok(asked) => asked,
            Err(refused) => {
                self.end(&self.begin(call, input), &Err(refused.clone()))?;
                return Err(refused);
            }
        };
        self.pass(call, input).await?;
        let cell = self.begin(call, input);
        let answer = self.ask_server(call, &asked).await;
        self.end(&cell, &answer)?;
        answer
    }

    fn servers(&self) -> &[String] {
        self.spec.mcp.as_deref().unwrap_or_default()
    }

    async fn ask_server(&self, call: &str, asked: &Asked) -> Result<Value, HostError> {
        let servers = &self.run.mcp;
        let answer = match call {
            "mcp_list_tools" => return self.list(Listed::Tools, asked).await,
            "mcp_list_resources" => return self.list(Listed::Resources, asked).await,
            "mcp_list_resource_templates" => return self.list(Listed::Templates, asked).await,
            "mcp_tool_schema" => servers.tool(asked.server()?, asked.named("tool")?).await,
            "mcp_read_resource" => {
                let uri = asked.named("uri")?;
                servers.read(&self.holder(asked, uri).await?, uri).await
            }
            _ => {
                let arguments = asked.arguments()?;
                servers.call(asked.server()?, asked.named("tool")?, &arguments).await
            }
        };
        answer.map_err(|error| self.failed(&error))
    }

    /// The server of a resource: the one that is named, else the only one that lists it, else the only one there is.
    async fn holder(&self, asked: &Asked, uri: &str) -> Result<String, HostError> {
        if let Some(server) = &asked.server {
            return Ok(server.clone());
        }
        let mut holders = Vec::new();
        for server in self.servers() {
            // One that fails lists nothing; where it is the only one, reading from it says why.
            let entries = self.run.mcp.list(server, Listed::Resources).await.unwrap_or_default();
            let lists = |entry: &Value| entry.get("uri").and_then(Value::as_str) == Some(uri);
            holders.extend(entries.iter().any(lists).then(|| server.clone()));
        }
        match (holders.as_slice(), self.servers()) {
            ([only], _) | ([], [only]) => Ok(only.clone()),
            (_, known) => Err(wrong(
                PythonException::Value,
                &format!("which server has {uri}? Name it: server= one of {}", known.join(", ")),
            )),
        }
    }

    /// Entries of one server, or of all: then one that fails has an entry that says so.
    async fn list(&self, what: Listed, asked: &Asked) -> Result<Value, HostError> {
        if let Some(server) = &asked.server {
            let entries = self.run.mcp.list(server, what).await;
            let entries = entries.map_err(|error| self.failed(&error))?;
            return Ok(entries.into_iter().map(|entry| listed(server, what, entry)).collect());
        }
        let mut all = Vec::new();
        for server in self.servers() {
            match self.run.mcp.list(server, what).await {
                Ok(entries) => all.extend(entries.into_iter().map(|entry| listed(server, what, entry))),
                Err(error) => {
                    let told = self.failed(&error).message;
                    all.push(serde_json::json!({"server": server, "error": told}));
                }
            }
        }
        Ok(Value::Array(all))
    }

    /// Servers may repeat what they were given, keys too.
    fn failed(&self, error: &McpError) -> HostError {
        let exception = match error {
            McpError::Timeout { .. } => PythonException::Timeout,
            McpError::Unknown(_) | McpError::NoTool { .. } => PythonException::Value,
            _ => PythonException::Runtime,
        };
        let message = self.run.settings.secrets.redact(&error.to_string()).into_owned();
        HostError { exception, message }
    }
}

/// What a listing shows of an entry: of a tool not its schema, which has a function of its own.
fn listed(server: &str, what: Listed, entry: Value) -> Value {
    let mut shown = Map::new();
    shown.insert("server".into(), server.into());
    if let Value::Object(fields) = entry {
        let keep = |name: &str| what != Listed::Tools || matches!(name, "name" | "title" | "description");
        shown.extend(fields.into_iter().filter(|(name, _)| keep(name)));
    }
    Value::Object(shown)
}

/// The arguments of a call.
struct Asked {
    server: Option<String>,
    input: Value,
}

impl Asked {
    /// The server, where one is named, must be among `known`.
    fn of(input: &Value, known: &[String]) -> Result<Self, HostError> {
        let server = match input.get("server") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(_) => {
                return Err(wrong(
                    PythonException::Type,
                    "server is the name of an MCP server, a string",
                ));
            }
        };
        let unknown = server.as_ref().filter(|name| !known.contains(name));
        if unknown.is_none() && !known.is_empty() {
            return Ok(Self {
                server,
                input: input.clone(),
            });
        }
        let have = match known {
            [] => "this run has none: they are given with --mcp, or in the configuration".to_owned(),
            known => format!("yours are {}", known.join(", ")),
        };
        let told = unknown.map_or_else(String::new, |name| format!(" {name:?}"));
        Err(wrong(
            PythonException::Value,
            &format!("there is no MCP server{told}; {have}"),
        ))
    }

    fn server(&self) -> Result<&str, HostError> {
        let server = self.server.as_deref();
        server.ok_or_else(|| wrong(PythonException::Type, "server is the name of an MCP server, a string"))
    }

    fn named(&self, key: &str) -> Result<&str, HostError> {
        let text = self.input.get(key).and_then(Value::as_str);
        text.ok_or_else(|| wrong(PythonException::Type, &format!("{key} is a string")))
    }

    fn arguments(&self) -> Result<Map<String, Value>, HostError> {
        match self.input.get("arguments") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(_) => Err(wrong(
                PythonException::Type,
                "arguments is a dict, by the tool's parameters",
            )),
        }
    }
}

fn wrong(exception: PythonException, message: &str) -> HostError {
    HostError {
        exception,
        message: message.to_owned(),
    }
}

/// Starts an agent's servers, for its probe to show what they have. One that does not start is told; its calls raise.
pub(super) async fn open(run: &Run, spec: &Spec) -> Result<String, RunError> {
    let Some(names) = spec.mcp.as_deref().filter(|names| !names.is_empty()) else {
        return Ok(String::new());
    };
    let counted = tokio::select! {
        counted = run.mcp.counts(names) => counted,
        () = spec.cancel.cancelled() => return Err(run.why_cancelled()),
    };
    let (text, failed) = notice(&counted);
    if spec.id.depth == 0 {
        failed
            .into_iter()
            .for_each(|failure| run.tell(&spec.id, What::Notice(failure)));
    }
    Ok(text)
}

/// The servers, as the probe shows them, and those that did not start.
fn notice(counted: &[(String, Result<Counts, McpError>)]) -> (String, Vec<String>) {
    let line = |(name, counts): &(String, Result<Counts, McpError>)| match counts {
        Ok(counts) => {
            let Counts {
                tools,
                resources,
                templates,
            } = counts;
            format!("  {name}: {tools} tools, {resources} resources, {templates} resource templates\n")
        }
        Err(error) => format!("  {name}: {error}\n"),
    };
    let lines: String = counted.iter().map(line).collect();
    let failed = counted.iter().filter_map(|(_, counts)| counts.as_ref().err());
    let text = format!(
        "---\nMCP servers ({}), for `await mcp_list_tools(server)`, `mcp_tool_schema(server, tool)`, \
         `mcp_call(server, tool, arguments)`, `mcp_list_resources(server)`, `mcp_list_resource_templates(server)`, \
         `mcp_read_resource(server, uri)`; a sub-agent gets those named in `llm_query(..., mcp=[...])`:\n{lines}",
        counted.len()
    );
    (text, failed.map(ToString::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_server_must_be_the_agents_own() {
        let known = ["files".to_owned()];
        let told = |input: Value, known: &[String]| Asked::of(&input, known).err().map(|error| error.message);
        assert_eq!(told(json!({"server": "files"}), &known), None);
        assert_eq!(told(json!({}), &known), None);
        assert_eq!(
            told(json!({"server": "web"}), &known).unwrap(),
            "there is no MCP server \"web\"; yours are files"
        );
        assert!(told(json!({"server": "web"}), &[]).unwrap().contains("--mcp"));
        assert!(told(json!({"server": 3}), &known).unwrap().contains("a string"));
    }

    #[test]
    fn the_gate_knows_a_tool_by_its_server() {
        assert_eq!(gate_name("mcp_call", &json!({"server": "a", "tool": "b"})), "mcp:a/b");
        assert_eq!(gate_name("mcp_list_tools", &json!({})), "mcp_list_tools");
    }

    #[test]
    fn a_listing_leaves_schemas_out() {
        let entry = json!({"name": "t", "description": "d", "inputSchema": {"type": "object"}});
        assert_eq!(
            listed("s", Listed::Tools, entry),
            json!({"server": "s", "name": "t", "description": "d"})
        );
    }
}
