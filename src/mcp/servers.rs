//! The servers of a run: started when first needed, started again when they went away, ended together. What they answer
//! is put into the form that the REPL shows.

use super::connection::{Connection, Manner};
use super::error::{McpError, quoted};
use super::spec::ServerSpec;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::Mutex;

/// A server that did not start this many times in a row is not tried again.
const ATTEMPTS: u32 = 3;
/// Tools that are named where one is missing.
const NAMED: usize = 30;

/// What a server has to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Templates of resources' addresses.
    Templates,
}

impl Listed {
    /// Its method, the key of its list, and what a server declares that has any.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools", "tools"),
            Self::Resources => ("resources/list", "resources", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates", "resources"),
        }
    }
}

/// How much a server has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tools.
    pub tools: usize,
    /// Resources.
    pub resources: usize,
    /// Templates of resources' addresses.
    pub templates: usize,
}

/// The servers of one run. Nothing is started before it is asked for.
#[derive(Default)]
pub struct Servers {
    servers: Vec<Server>,
}

struct Server {
    spec: ServerSpec,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    failures: u32,
    counts: Option<Counts>,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.servers.iter().map(|server| &server.spec))
            .finish()
    }
}

impl Servers {
    /// Those declared; of two with the same name the later counts.
    pub fn new(specs: &[ServerSpec]) -> Self {
        let mut servers: Vec<Server> = Vec::new();
        for spec in specs {
            servers.retain(|server| server.spec.name != spec.name);
            servers.push(Server {
                spec: spec.clone(),
                state: Mutex::default(),
            });
        }
        Self { servers }
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.spec.name.clone()).collect()
    }

    /// How much each of these has, or why that is not known. Starts them, all at once.
    pub async fn counts(&self, names: &[String]) -> Vec<(String, Result<Counts, McpError>)> {
        let count = |name: String| async move {
            let counts = self.count(&name).await;
            (name, counts)
        };
        join_all(names.iter().cloned().map(count)).await
    }

    async fn count(&self, name: &str) -> Result<Counts, McpError> {
        let server = self.server(name)?;
        if let Some(counts) = server.state.lock().await.counts {
            return Ok(counts);
        }
        let counts = Counts {
            tools: self.list(name, Listed::Tools).await?.len(),
            resources: self.list(name, Listed::Resources).await?.len(),
            templates: self.list(name, Listed::Templates).await?.len(),
        };
        server.state.lock().await.counts = Some(counts);
        Ok(counts)
    }

    /// What a server lists, as it describes it; nothing of a kind that it does not have.
    ///
    /// # Errors
    ///
    /// [`McpError`].
    pub async fn list(&self, name: &str, what: Listed) -> Result<Vec<Value>, McpError> {
        match self.server(name)?.ask(Ask::List(what)).await? {
            Value::Array(entries) => Ok(entries),
            _ => Ok(Vec::new()),
        }
    }

    /// A tool as its server describes it: `name`, `description`, `inputSchema`.
    ///
    /// # Errors
    ///
    /// [`McpError`].
    pub async fn tool(&self, name: &str, tool: &str) -> Result<Value, McpError> {
        let mut tools = self.list(name, Listed::Tools).await?;
        let of = |entry: &Value| entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        match tools.iter().position(|entry| of(entry) == tool) {
            Some(at) => Ok(tools.swap_remove(at)),
            None => Err(McpError::NoTool {
                server: name.to_owned(),
                tool: tool.to_owned(),
                known: tools.iter().take(NAMED).map(of).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Calls a tool. Its structured result where it has one; else the text of its only part; else its parts.
    ///
    /// # Errors
    ///
    /// [`McpError::Tool`] with the tool's words where it failed; else [`McpError`].
    pub async fn call(&self, name: &str, tool: &str, arguments: &Map<String, Value>) -> Result<Value, McpError> {
        let params = json!({"name": tool, "arguments": arguments});
        let mut result = self.request(name, "tools/call", params).await?;
        let content = result.get_mut("content").map(Value::take).unwrap_or_default();
        if result.get("isError").and_then(Value::as_bool).unwrap_or_default() {
            return Err(McpError::Tool {
                server: name.to_owned(),
                tool: tool.to_owned(),
                message: quoted(&texts(&content)),
            });
        }
        match result.get_mut("structuredContent").map(Value::take) {
            Some(structured) if !structured.is_null() => Ok(structured),
            _ => Ok(plain(content)),
        }
    }

    /// The content of a resource: its text where that is all, else its parts.
    ///
    /// # Errors
    ///
    /// [`McpError`].
    pub async fn read(&self, name: &str, uri: &str) -> Result<Value, McpError> {
        let mut result = self.request(name, "resources/read", json!({"uri": uri})).await?;
        let contents = result.get_mut("contents").map(Value::take).unwrap_or_default();
        Ok(only(contents))
    }

    async fn request(&self, name: &str, method: &str, params: Value) -> Result<Value, McpError> {
        self.server(name)?.ask(Ask::Request(method, params)).await
    }

    fn server(&self, name: &str) -> Result<&Server, McpError> {
        let found = self.servers.iter().find(|server| server.spec.name == name);
        found.ok_or_else(|| McpError::Unknown(name.to_owned()))
    }

    /// Ends all of them, within two seconds: each is given the time to end by itself.
    pub async fn close(&self) {
        join_all(self.servers.iter().map(|server| server.close(Manner::Polite))).await;
    }

    /// Ends all of them at once.
    pub async fn kill(&self) {
        join_all(self.servers.iter().map(|server| server.close(Manner::AtOnce))).await;
    }
}

/// What is asked of a server.
enum Ask<'a> {
    /// A request with its parameters.
    Request(&'a str, Value),
    /// A whole list; empty where the server says that it has none of it.
    List(Listed),
}

impl Ask<'_> {
    async fn of(&self, connection: &Connection) -> Result<Value, McpError> {
        match self {
            Self::Request(method, params) => connection.request(method, params.clone()).await,
            Self::List(what) => {
                let (method, key, capability) = what.words();
                match connection.offers(capability) {
                    true => connection.list(method, key).await.map(Value::Array),
                    false => Ok(Value::Array(Vec::new())),
                }
            }
        }
    }
}

impl Server {
    /// Asks it something. One that has forgotten its session is asked once more, in a new one: it did
    /// not do what it was asked. Any other that is gone is started again by the next call.
    async fn ask(&self, ask: Ask<'_>) -> Result<Value, McpError> {
        let connection = self.connection().await?;
        let answer = ask.of(&connection).await;
        let Err(error) = &answer else { return answer };
        if error.ends_connection() {
            self.forget(&connection).await;
        }
        match error {
            McpError::Forgotten { .. } => ask.of(&*self.connection().await?).await,
            _ => answer,
        }
    }

    async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            return Ok(connection.clone());
        }
        if state.failures >= ATTEMPTS {
            return Err(McpError::Start {
                server: self.spec.name.clone(),
                reason: format!("it failed {ATTEMPTS} times and is not tried again"),
            });
        }
        match Connection::open(&self.spec).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.failures = 0;
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(error) => {
                state.failures += 1;
                Err(error)
            }
        }
    }

    /// Lets go of a connection that is of no use, unless another has taken its place.
    async fn forget(&self, connection: &Arc<Connection>) {
        let mut state = self.state.lock().await;
        if state
            .connection
            .as_ref()
            .is_some_and(|held| Arc::ptr_eq(held, connection))
        {
            state.connection = None;
        }
        drop(state);
        // Of a connection that is of no use there is nothing to wait for.
        connection.close(Manner::AtOnce).await;
    }

    async fn close(&self, manner: Manner) {
        let connection = self.state.lock().await.connection.take();
        if let Some(connection) = connection {
            connection.close(manner).await;
        }
    }
}

/// The text of a list of nothing but texts, each on a line of its own; else the list.
fn plain(parts: Value) -> Value {
    let list = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_text = |part: &Value| part.get("type").and_then(Value::as_str).unwrap_or("text") == "text";
    let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned()).filter(|_| is_text(part));
    match list.iter().map(text).collect::<Option<Vec<_>>>() {
        Some(lines) if !lines.is_empty() => lines.join("\n").into(),
        _ => parts,
    }
}

/// The text of a list's only entry, if it is one of text; else the list.
fn only(parts: Value) -> Value {
    match parts.as_array().map(Vec::len) {
        Some(1) => plain(parts),
        _ => parts,
    }
}

/// The texts among parts, one a line.
fn texts(parts: &Value) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    let said = texts.collect::<Vec<_>>().join("\n");
    if said.is_empty() {
        "it did not say why".into()
    } else {
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_as_plain_as_it_can_be() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(plain(json!([text("a")])), json!("a"));
        assert_eq!(plain(json!([text("a"), text("b")])), json!("a\nb"));
        let picture = json!({"type": "image", "data": "aa", "mimeType": "image/png"});
        for parts in [json!([picture]), json!([text("a"), picture]), json!([])] {
            assert_eq!(plain(parts.clone()), parts);
        }
        // Files of one address keep what says which is which.
        let files = json!([{"uri": "x:1", "text": "a"}, {"uri": "x:2", "text": "b"}]);
        assert_eq!(only(files.clone()), files);
        assert_eq!(only(json!([{"uri": "x:1", "text": "a"}])), json!("a"));
        assert_eq!(
            texts(&json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])),
            "a\nb"
        );
        assert_eq!(texts(&Value::Null), "it did not say why");
    }

    #[test]
    fn the_later_of_two_servers_with_one_name_counts() {
        let servers = Servers::new(&[ServerSpec::stdio("a", "x", &[]), ServerSpec::stdio("a", "y", &[])]);
        assert_eq!(servers.names(), ["a"]);
        assert!(format!("{servers:?}").contains("a: y"));
    }
}
