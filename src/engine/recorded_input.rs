//! The input of a recorded turn: how the log keeps it, and how it is read again. Files are not in the log: their paths
//! are, and those of a session that was imported are a stranger's.

use super::input::{Input, InputError};
use super::session::recorded_structured;
use crate::repl::Context;
use crate::store::payload::TurnStarted;
use serde_json::Value;
use std::path::Path;

/// Where an input file lies, among a turn's settings.
const INPUT_FILE: &str = "input_file";
/// Another machine's record named it.
const IMPORTED: &str = "imported";

/// The context of a recorded turn of the session in `dir`. A file is read again: from `again`, where it is given, else
/// from where it lay.
///
/// # Errors
///
/// [`InputError`] when the file is gone, is no more what its extension says, or was named by a session that was
/// imported.
pub fn recorded_context(started: &TurnStarted, dir: &Path, again: Option<&Path>) -> Result<Context, InputError> {
    let input = Input::recorded_in(started, dir, again)?;
    Ok(input.prepare(recorded_structured(started))?.context)
}

/// Marks a turn as somebody else's: whatever its record names on this machine is not read.
pub fn mark_imported(started: &mut TurnStarted) {
    if let Some(settings) = started.settings.as_object_mut()
        && settings.contains_key(INPUT_FILE)
    {
        settings.insert(IMPORTED.into(), true.into());
    }
}

impl Input {
    /// As the log keeps it: the query, and what else it takes to ask it again.
    pub(super) fn recorded(&self) -> (Value, Value) {
        match self {
            Self::Text(text) => (Value::String(text.clone()), Value::Null),
            Self::Json(value) => (value.clone(), Value::Null),
            Self::File { path, prompt } => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let settings = serde_json::json!({INPUT_FILE: path.to_string_lossy()});
                (Value::String(prompt.clone()), settings)
            }
        }
    }

    /// From what the log kept.
    fn from_record(query: &Value, settings: &Value) -> Self {
        match (settings.get(INPUT_FILE).and_then(Value::as_str), query) {
            (Some(path), query) => Self::File {
                path: path.into(),
                prompt: query.as_str().unwrap_or_default().to_owned(),
            },
            (None, query) => query.clone().into(),
        }
    }

    /// That of a recorded turn of the session in `dir`; a file is `again`, where that is given.
    pub(super) fn recorded_in(started: &TurnStarted, dir: &Path, again: Option<&Path>) -> Result<Self, InputError> {
        let input = Self::from_record(&started.query, &started.settings);
        match (input, again) {
            (Self::File { prompt, .. }, Some(again)) => Ok(Self::File {
                path: again.to_owned(),
                prompt,
            }),
            (Self::File { path, .. }, None) if is_imported(started) && !is_in(&path, dir) => {
                Err(InputError::Elsewhere { path })
            }
            (input, _) => Ok(input),
        }
    }
}

fn is_imported(started: &TurnStarted) -> bool {
    started.settings.get(IMPORTED) == Some(&Value::Bool(true))
}

/// Whether a file is really in a directory, whatever links there are.
fn is_in(path: &Path, dir: &Path) -> bool {
    let (path, dir) = (path.canonicalize(), dir.canonicalize());
    path.is_ok_and(|path| dir.is_ok_and(|dir| path.starts_with(dir)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_come_back_from_the_log() {
        let file = Input::File {
            path: "/data/a.csv".into(),
            prompt: "Count.".into(),
        };
        for input in [Input::from("hello"), Input::from(json!({"a": [1]})), file] {
            let (query, settings) = input.recorded();
            assert_eq!(Input::from_record(&query, &settings), input);
        }
    }

    #[test]
    fn a_file_that_a_strangers_record_names_is_not_read() {
        let (session, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [inside, outside] = [session.path(), elsewhere.path()].map(|dir| dir.join("a.txt"));
        let link = session.path().join("link.txt");
        std::fs::write(&inside, "in").unwrap();
        std::fs::write(&outside, "out").unwrap();
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let of = |path: &Path, imported: bool| {
            let (query, settings) = Input::File {
                path: path.to_owned(),
                prompt: "Count.".into(),
            }
            .recorded();
            let mut started = TurnStarted {
                query,
                settings,
                ..TurnStarted::default()
            };
            if imported {
                mark_imported(&mut started);
            }
            started
        };
        let dir = session.path();
        for (path, imported, read) in [
            (&outside, false, true),
            (&outside, true, false),
            (&link, true, false),
            (&inside, true, true),
        ] {
            let read_again = recorded_context(&of(path, imported), dir, None);
            assert_eq!(read_again.is_ok(), read, "{}", path.display());
        }
        assert!(recorded_context(&of(&outside, true), dir, Some(&outside)).is_ok());
    }
}
