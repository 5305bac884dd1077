//! The human in the loop: who answers `ask`, and what happens when nobody is there.

use crate::repl::{HostError, PythonException};
use crate::text::secret::Secrets;
use async_trait::async_trait;
use serde_json::Value;

/// A question of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Which `ask` of its step, 0-based.
    pub number: u32,
    /// The question.
    pub text: String,
    /// Answers to choose from; empty: any.
    pub options: Vec<String>,
}

/// Someone who answers.
#[async_trait]
pub trait Person: Send + Sync {
    /// Waits for the answer; `None` when nobody will give one now: the run parks.
    async fn ask(&self, question: &Question) -> Option<String>;
}

impl Question {
    /// From the arguments of `ask`; the number is still to be given.
    pub(crate) fn from_call(args: &Value) -> Result<Self, HostError> {
        let bad = |message: &str| HostError {
            exception: PythonException::Type,
            message: message.into(),
        };
        let text = args.get("question").and_then(Value::as_str);
        let text = text.ok_or_else(|| bad("ask(question, options=None): the question must be a string"))?;
        let options = args.get("options").and_then(Value::as_array);
        let options = options.into_iter().flatten().map(|option| match option {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        Ok(Self {
            number: 0,
            text: text.to_owned(),
            options: options.collect(),
        })
    }

    /// Without secrets, as it may be shown and kept.
    pub(crate) fn redacted(&self, secrets: &Secrets) -> Self {
        let hide = |text: &String| secrets.redact(text).into_owned();
        Self {
            number: self.number,
            text: hide(&self.text),
            options: self.options.iter().map(hide).collect(),
        }
    }

    /// The option that a person chose, who was shown `shown`; any other answer as it is.
    pub(super) fn chosen(&self, shown: &Self, answer: String) -> String {
        let place = shown.options.iter().position(|option| *option == answer);
        place
            .and_then(|place| self.options.get(place).cloned())
            .unwrap_or(answer)
    }

    /// Whether `answer` is one of the options, where there are any.
    pub fn takes(&self, answer: &str) -> bool {
        self.options.is_empty() || self.options.iter().any(|option| option == answer)
    }
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        match self.options.as_slice() {
            [] => Ok(()),
            options => write!(f, " [{}]", options.join(" | ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_bind_the_answer() {
        let question = Question::from_call(&json!({"question": "Book it?", "options": ["yes", 7]})).unwrap();
        assert_eq!(question.to_string(), "Book it? [yes | 7]");
        assert!(question.takes("7") && !question.takes("no"));
        let open = Question::from_call(&json!({"question": "Where?", "options": null})).unwrap();
        assert!(open.takes("anywhere"));
        assert!(Question::from_call(&json!({"question": 1})).is_err());
    }

    #[test]
    fn a_person_is_shown_no_secret_and_can_choose_one() {
        let secrets = Secrets::default();
        secrets.register("KEY", "hunter2-hunter2").unwrap();
        let asked = json!({"question": "Use hunter2-hunter2?", "options": ["no", "hunter2-hunter2"]});
        let question = Question::from_call(&asked).unwrap();
        let shown = question.redacted(&secrets);
        assert_eq!(shown.to_string(), "Use [secret KEY]? [no | [secret KEY]]");
        assert_eq!(question.chosen(&shown, "[secret KEY]".into()), "hunter2-hunter2");
        assert_eq!(question.chosen(&shown, "no".into()), "no");
    }
}
