//! What a query is asked about: a prompt, a structured value, or a file with a prompt.

use super::agent::{context, context_chars, task};
use super::truncate::head;
use crate::disk::advice::on_named;
use crate::disk::files::open_regular;
use crate::disk::whole::{LARGEST_NAMED, read_text};
use crate::repl::{Context, ContextKind};
use crate::text::{parse_fault, without_picture};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// The input of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The prompt is the context.
    Text(String),
    /// A structured context: a dict, a list, or a scalar.
    Json(Value),
    /// The file is the context, the prompt the instruction.
    File {
        /// Where it is.
        path: PathBuf,
        /// What to do with it.
        prompt: String,
    },
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            other => Self::Json(other),
        }
    }
}

/// An input file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It could not be read.
    #[error("cannot read the input file {}: {cause}; {}", path.display(), on_named(cause))]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A session that was imported names it, which may name any file of this machine.
    #[error(
        "the input file {} is not read: a session that was imported names it; give the file with --input-file",
        path.display()
    )]
    Elsewhere {
        /// Which.
        path: PathBuf,
    },
    /// It is not what its extension says.
    #[error("the input file {} is not valid {format}: {what}", path.display())]
    Parse {
        /// Which.
        path: PathBuf,
        /// What it should be.
        format: &'static str,
        /// What is wrong, with line and column.
        what: String,
    },
}

/// An input, ready for the root agent.
pub(super) struct Prepared {
    pub(super) context: Context,
    pub(super) chars: usize,
    /// As the ledger keeps it.
    pub(super) query: String,
    pub(super) task: String,
    /// Added before the caller's instruction.
    pub(super) instruction: Option<String>,
}

impl Input {
    /// The file that is meant, where it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Text(_) | Self::Json(_) => None,
        }
    }

    /// Reads what has to be read. Without `structured`, a dict or a list becomes JSON text.
    pub(super) fn prepare(self, structured: bool) -> Result<Prepared, InputError> {
        let prepared = match self {
            Self::Text(text) => prepared(Value::String(text)),
            Self::Json(value) => prepared(value),
            Self::File { path, prompt } => prepare_file(&path, prompt)?,
        };
        Ok(if structured { prepared } else { prepared.plain() })
    }
}

impl Prepared {
    /// With JSON text in the place of a dict or a list, which the model is told of a file's.
    fn plain(mut self) -> Self {
        if let Context::Json(value) = &self.context {
            self.context = Context::Text(value.to_string().into());
            if let Some(instruction) = &mut self.instruction {
                instruction.push_str(" It is a string: JSON text.");
            }
        }
        self
    }
}

fn prepared(value: Value) -> Prepared {
    let query = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Prepared {
        chars: context_chars(&value),
        task: task(None, &value),
        context: context(value),
        query,
        instruction: None,
    }
}

/// By extension: JSON and YAML become a value, JSON lines a list, anything else is text, and the model is told which.
fn prepare_file(path: &Path, prompt: String) -> Result<Prepared, InputError> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let read = |path: &Path| {
        read_text(path, LARGEST_NAMED).map_err(|cause| InputError::Read {
            path: path.to_owned(),
            cause,
        })
    };
    let bad = |format, what: String| InputError::Parse {
        path: path.to_owned(),
        format,
        what,
    };
    let (context, chars, kind) = match extension.as_str() {
        "json" => valued(
            serde_json::from_str(&read(path)?).map_err(|e| bad("JSON", parse_fault(&e.to_string())))?,
            "JSON",
        ),
        // The first line says what and where; a picture of the place follows it.
        "yaml" | "yml" => valued(
            serde_saphyr::from_str(&read(path)?)
                .map_err(|e| bad("YAML", parse_fault(without_picture(&e.to_string()))))?,
            "YAML",
        ),
        "jsonl" | "ndjson" => valued(
            json_lines(&read(path)?).map_err(|what| bad("JSON lines", what))?,
            "JSON lines",
        ),
        _ => (file_context(path), file_chars(path)?, "text"),
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let told = match (kind, extension.is_empty()) {
        ("text", false) => format!("`context` is the text of the file {name} (a .{extension} file)."),
        _ => format!("`context` is the content of the file {name} ({kind})."),
    };
    // Without a prompt the file is all that is asked, and says itself what to do.
    let (query, task, instruction) = match prompt.trim().is_empty() {
        true => (name.clone(), name, told),
        false => (
            format!("{prompt} ({name})"),
            prompt.clone(),
            format!("{prompt}\n\n{told}"),
        ),
    };
    Ok(Prepared {
        context,
        chars,
        query,
        task: head(&task, 200).0.to_owned(),
        instruction: Some(instruction),
    })
}

fn valued(value: Value, kind: &'static str) -> (Context, usize, &'static str) {
    let chars = context_chars(&value);
    (context(value), chars, kind)
}

fn json_lines(text: &str) -> Result<Value, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let values = lines.map(|(i, line)| {
        serde_json::from_str(line).map_err(|e| format!("line {}: {}", i + 1, parse_fault(&e.to_string())))
    });
    values.collect::<Result<Vec<Value>, String>>().map(Value::Array)
}

fn file_context(path: &Path) -> Context {
    Context::File {
        path: path.to_owned(),
        kind: ContextKind::Text,
    }
}

/// Its bytes stand for its characters: a large file is not read twice to count them.
fn file_chars(path: &Path) -> Result<usize, InputError> {
    let fail = |cause| InputError::Read {
        path: path.to_owned(),
        cause,
    };
    let (_, metadata) = open_regular(path).map_err(fail)?;
    Ok(usize::try_from(metadata.len()).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(name: &str, content: &str) -> Result<Prepared, InputError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        Input::File {
            path,
            prompt: "Count.".into(),
        }
        .prepare(true)
    }

    fn value(prepared: &Prepared) -> Value {
        match &prepared.context {
            Context::Json(value) => (**value).clone(),
            Context::Text(text) => Value::String(text.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_become_what_their_extension_says() {
        assert_eq!(value(&file("a.json", r#"{"x": [1]}"#).unwrap()), json!({"x": [1]}));
        assert_eq!(value(&file("a.yaml", "x:\n  - 1\n").unwrap()), json!({"x": [1]}));
        assert_eq!(
            value(&file("a.ndjson", "1\n\n{\"b\":2}\n").unwrap()),
            json!([1, {"b": 2}])
        );
        let text = file("a.csv", "x,y\n").unwrap();
        assert!(matches!(text.context, Context::File { .. }) && text.chars == 4);
        assert!(text.instruction.unwrap().contains("a .csv file"));
        assert_eq!(text.query, "Count. (a.csv)");
    }

    #[test]
    fn a_file_without_a_prompt_is_the_whole_input() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("task.txt");
        std::fs::write(&path, "Count to three.").unwrap();
        let prompt = String::new();
        let prepared = Input::File { path, prompt }.prepare(true).unwrap();
        assert_eq!(
            (prepared.query.as_str(), prepared.task.as_str()),
            ("task.txt", "task.txt")
        );
        assert!(prepared.instruction.unwrap().starts_with("`context` is the text"));
    }

    #[test]
    fn errors_say_which_file_and_where() {
        let error = file("a.jsonl", "1\n{\n").err().unwrap().to_string();
        assert!(error.contains("a.jsonl") && error.contains("line 2"), "{error}");
        let error = Input::File {
            path: "/nonexistent/x.json".into(),
            prompt: String::new(),
        }
        .prepare(true)
        .err()
        .unwrap();
        assert!(error.to_string().contains("/nonexistent/x.json"));
    }

    #[test]
    fn a_prompt_is_its_own_context() {
        let text = Input::from("Hello\nworld").prepare(true).unwrap();
        assert_eq!(
            (text.query.as_str(), text.task.as_str(), text.chars),
            ("Hello\nworld", "Hello", 11)
        );
        let structured = Input::from(json!({"a": 1})).prepare(true).unwrap();
        assert_eq!(structured.query, r#"{"a":1}"#);
    }

    #[test]
    fn unstructured_inputs_are_text() {
        let list = Input::from(json!([{"a": 1.5}, "é"])).prepare(false).unwrap();
        assert_eq!((value(&list), list.chars), (json!(r#"[{"a":1.5},"é"]"#), 15));
        assert_eq!(list.query, r#"[{"a":1.5},"é"]"#);
        let text = Input::from("[1]").prepare(false).unwrap();
        assert_eq!(value(&text), json!("[1]"));
        let yaml = file("a.yaml", "x: [1]\n").unwrap().plain();
        assert_eq!(value(&yaml), json!(r#"{"x":[1]}"#));
        assert!(
            yaml.instruction
                .unwrap()
                .ends_with("(YAML). It is a string: JSON text.")
        );
    }
}
