//! From the arguments of `llm_query` to what a sub-agent is started with. Sub-agents inherit nothing but what is
//! handed to them by name.

use super::Spec;
use crate::engine::clock;
use crate::engine::event::AgentId;
use crate::engine::gate::Tool;
use crate::engine::nesting::too_deep;
use crate::engine::schema::OutputSchema;
use crate::engine::settings::Settings;
use crate::engine::truncate::head;
use crate::provider::Cancel;
use crate::repl::{Context, HostError, PythonException, ToolModule};
use serde_json::Value;
use std::sync::Arc;

/// Characters of a task's line.
const TASK_LEN: usize = 200;

/// One `llm_query`, checked.
pub(super) struct Delegation {
    context: Value,
    /// Characters of the context.
    pub(super) chars: usize,
    instruction: Option<String>,
    schema: Option<OutputSchema>,
    /// Names of the tools that are handed over.
    tools: Vec<String>,
    /// Names of the MCP servers that are.
    mcp: Vec<String>,
}

/// What the caller has to hand over, and whether all of it is where none is named.
pub(super) struct Owned<'a> {
    pub(super) tools: (&'a [String], bool),
    pub(super) mcp: (&'a [String], bool),
    /// Dicts and lists are handed over as such, and schemas count.
    pub(super) structured: bool,
}

/// Checks the arguments of a call or of a whole batch before any sub-agent starts.
pub(super) fn delegations(args: &[&Value], owned: &Owned<'_>) -> Result<Vec<Delegation>, HostError> {
    args.iter().map(|args| Delegation::check(args, owned)).collect()
}

impl Delegation {
    fn check(args: &Value, owned: &Owned<'_>) -> Result<Self, HostError> {
        let context = args.get("context").cloned().unwrap_or_default();
        if let Some(told) = too_deep("the sub-agent's context", &context) {
            return Err(bad_value(told));
        }
        let context = handed(context, owned.structured);
        Ok(Self {
            chars: context_chars(&context),
            context,
            instruction: args.get("instruction").and_then(Value::as_str).map(str::to_owned),
            schema: schema(args.get("schema").filter(|_| owned.structured))?,
            tools: granted("tool", args.get("tools"), owned.tools)?,
            mcp: granted("MCP server", args.get("mcp"), owned.mcp)?,
        })
    }

    pub(super) fn into_spec(self, settings: &Settings, parent: &Spec, cancel: Cancel) -> Spec {
        let id = AgentId {
            run_id: clock::new_run_id(clock::now()).into(),
            parent: Some(Arc::clone(&parent.id.run_id)),
            depth: parent.id.depth + 1,
        };
        Spec {
            id,
            cancel,
            model: settings.sub_model.clone(),
            task: task(self.instruction.as_deref(), &self.context),
            context_chars: self.chars,
            context: context(self.context),
            instruction: self.instruction,
            schema: self.schema,
            tools: handed_over(&parent.tools, &self.tools),
            host_tools: host_tools(&parent.host_tools, &self.tools),
            mcp: (!self.mcp.is_empty()).then_some(self.mcp),
            preamble: None,
            keeper: None,
            journal: parent.journal.clone(),
            onward: None,
        }
    }
}

/// A string stays a string; anything else is a Python value made from JSON.
pub(crate) fn context(value: Value) -> Context {
    match value {
        Value::String(text) => Context::Text(text.into()),
        other => Context::Json(Arc::new(other)),
    }
}

/// A value as an agent is handed it: without `structured`, JSON text in the place of anything but a string.
pub(crate) fn handed(value: Value, structured: bool) -> Value {
    match value {
        Value::String(_) => value,
        _ if structured => value,
        other => Value::String(other.to_string()),
    }
}

/// Characters of a string, or of the JSON text of anything else.
pub(in crate::engine) fn context_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    }
}

/// What an agent is given to do, in one line.
pub(in crate::engine) fn task(instruction: Option<&str>, context: &Value) -> String {
    let text = match (instruction, context) {
        (Some(instruction), _) => instruction.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    };
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    head(line, TASK_LEN).0.to_owned()
}

fn schema(source: Option<&Value>) -> Result<Option<OutputSchema>, HostError> {
    let Some(source) = source.filter(|source| !source.is_null()) else {
        return Ok(None);
    };
    let compiled = OutputSchema::compile(source);
    compiled
        .map(Some)
        .map_err(|error| bad_value(format!("schema: {error}")))
}

fn bad_value(message: String) -> HostError {
    HostError {
        exception: PythonException::Value,
        message,
    }
}

/// The tools or servers a sub-agent gets: those named, which must be the caller's own; unnamed, none or (where it is
/// set) all.
fn granted(what: &str, named: Option<&Value>, (known, inherit): (&[String], bool)) -> Result<Vec<String>, HostError> {
    let Some(named) = named.and_then(Value::as_array) else {
        return Ok(if inherit { known.to_vec() } else { Vec::new() });
    };
    let names: Vec<String> = named.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(names),
        Some(unknown) => {
            let have = if known.is_empty() {
                "you have none".to_owned()
            } else {
                format!("yours are {}", known.join(", "))
            };
            Err(bad_value(format!(
                "there is no {what} {unknown:?} to hand over; {have}"
            )))
        }
    }
}

fn host_tools(tools: &[Arc<dyn Tool>], names: &[String]) -> Vec<Arc<dyn Tool>> {
    let named = |tool: &&Arc<dyn Tool>| names.contains(&tool.describe().name);
    tools.iter().filter(named).cloned().collect()
}

/// The modules that hold the tools handed over, narrowed to them.
fn handed_over(modules: &[ToolModule], names: &[String]) -> Vec<ToolModule> {
    if names.is_empty() {
        return Vec::new();
    }
    let narrowed = modules.iter().map(|module| ToolModule {
        only: Some(names.to_vec()),
        ..module.clone()
    });
    narrowed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unnamed_tools_are_none_and_named_ones_must_exist() {
        let known = ["search".to_owned(), "fetch".to_owned()];
        let granted = |named: Value, inherit| granted("tool", Some(&named), (&known, inherit));
        assert_eq!(granted(Value::Null, false).unwrap(), Vec::<String>::new());
        assert_eq!(granted(Value::Null, true).unwrap(), known);
        assert_eq!(
            granted(json!([]), true).unwrap(),
            Vec::<String>::new(),
            "an explicit empty list grants nothing"
        );
        assert_eq!(granted(json!(["fetch"]), false).unwrap(), ["fetch"]);
        let error = granted(json!(["write"]), true).unwrap_err();
        assert_eq!(error.exception, PythonException::Value);
        assert!(
            error.message.contains("write") && error.message.contains("search, fetch"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_bad_schema_fails_before_anything_starts() {
        let args = [
            json!({"context": "x"}),
            json!({"context": "y", "schema": {"type": "nonsense"}}),
        ];
        let owned = Owned {
            tools: (&[], false),
            mcp: (&[], false),
            structured: true,
        };
        let args: Vec<_> = args.iter().collect();
        assert!(delegations(&args, &owned).is_err());
        let plain = Owned {
            structured: false,
            ..owned
        };
        assert!(delegations(&args, &plain).is_ok(), "no schema counts");
    }

    #[test]
    fn contexts_are_measured_in_characters() {
        assert_eq!(context_chars(&json!("日本")), 2);
        assert_eq!(context_chars(&json!(["日本"])), 6);
        assert_eq!(task(None, &json!("\n  Count.\nMore")), "Count.");
        assert_eq!(task(Some("Do it"), &json!({})), "Do it");
    }
}
