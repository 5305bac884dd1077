//! Answers of a person that a repeated step may not have come to use: no answer is lost.

use super::Agent;
use crate::repl::{StepErrorKind, StepOutcome};

impl Agent {
    /// A step that ran again, to use answers, and raised tells the model what they were, and which name it missed. That
    /// is part of its traceback: whoever goes on later is told, too, and a replay compares what was raised.
    pub(super) fn keep_answers(&self, outcome: &mut StepOutcome) {
        let Some(tape) = self.talk.tape() else { return };
        let answers: Vec<String> = tape.questions().answered_ones().map(told).collect();
        let Some(error) = outcome
            .error
            .as_mut()
            .filter(|error| error.kind != StepErrorKind::Cancelled)
        else {
            return;
        };
        if answers.is_empty() {
            return;
        }
        let why = missing(&error.text)
            .and_then(|name| self.not_kept(name))
            .unwrap_or_default();
        error.text = format!(
            "[{}. This step ran again from its start to go on with that, and raised{why}. Use the answer; do not ask \
             again.]\n{}",
            answers.join("; "),
            error.text
        );
    }

    fn not_kept(&self, name: &str) -> Option<String> {
        let reason = self.keeper.as_ref()?.memory.doc().dropped.get(name)?;
        Some(format!(": the name {name} was not kept while it waited ({reason})"))
    }
}

fn told((question, answer): (&str, &str)) -> String {
    format!("The question {question:?} was answered: {answer:?}")
}

/// The name that a traceback says is missing.
fn missing(traceback: &str) -> Option<&str> {
    let last = traceback.trim_end().lines().last()?;
    let name = last.strip_prefix("NameError: name '")?;
    name.split('\'').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_is_read_off_the_last_line() {
        let traceback = "Traceback (most recent call last):\n  File \"<step 2>\"\nNameError: name 'g' is not defined\n";
        assert_eq!(missing(traceback), Some("g"));
        assert_eq!(missing("NameError: name 'g' is not defined\nKeyError: 'g'\n"), None);
        assert_eq!(missing(""), None);
    }
}
