//! What a query gives back.

use crate::engine::{Question, Spent};
use crate::model::CostSum;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// FINAL's value as JSON. Python's `None` is null; docs/formats-final.md says what becomes of values that JSON does
    /// not have. Null while the query is suspended.
    pub value: Value,
    /// Something in it is not JSON by nature and was converted (a set, a date, NaN, 2**70).
    pub converted: bool,
    /// The query waits for an answer to this; the next text sent to the session, from any process, is taken for it.
    pub suspended: Option<Question>,
    /// What the query used, sub-agents included.
    pub usage: Spent,
    /// Steps of the root.
    pub steps: u64,
    /// Its root run.
    pub run_id: String,
    /// Its transcript; an ephemeral session's goes with the session.
    pub transcript: PathBuf,
}

impl Output {
    /// The answer as text: a string as it is, anything else as indented JSON, null as `None`.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.value {
            Value::String(text) => Cow::Borrowed(text),
            Value::Null => Cow::Borrowed("None"),
            other => Cow::Owned(format!("{other:#}")),
        }
    }

    /// What the query cost. Prints as what is known, and marks what is not.
    pub fn cost(&self) -> CostSum {
        let unknown = self.usage.unknown_costs;
        CostSum {
            nano: self.usage.nano,
            known: self.usage.calls.saturating_sub(unknown),
            unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn output(value: Value) -> Output {
        Output {
            value,
            converted: false,
            suspended: None,
            usage: Spent {
                nano: 1_500_000,
                unknown_costs: 1,
                calls: 3,
                ..Spent::default()
            },
            steps: 1,
            run_id: "1".into(),
            transcript: PathBuf::new(),
        }
    }

    #[test]
    fn text_is_for_people() {
        assert_eq!(output(json!("a \"b\"")).text(), "a \"b\"");
        assert_eq!(output(Value::Null).text(), "None");
        assert_eq!(output(json!([1])).text(), "[\n  1\n]");
    }

    #[test]
    fn calls_without_a_price_are_not_free() {
        let cost = output(Value::Null).cost();
        assert_eq!((cost.nano, cost.known, cost.unknown), (1_500_000, 2, 1));
    }
}
