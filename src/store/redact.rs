//! Keeping registered secrets out of what is recorded: the caller's function sees every text of a payload, keys and
//! numbers included, before it is stored.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

type Function = dyn Fn(&str) -> Cow<'_, str> + Send + Sync;

/// Replaces secrets in a text. A text without any must come back borrowed.
#[derive(Clone)]
pub struct Redact(Option<Arc<Function>>);

impl Redact {
    /// Changes nothing.
    pub fn nothing() -> Self {
        Self(None)
    }

    /// Uses `function`. It is given decoded texts: what JSON escapes is plain there.
    pub fn with(function: impl Fn(&str) -> Cow<'_, str> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(function)))
    }

    /// There are no secrets.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// `text` without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |function| function(text))
    }

    /// Redacts every text in `value`, and tells whether there was a secret. Nests on the heap: a value may be as deep
    /// as it likes.
    pub fn value(&self, value: &mut Value) -> bool {
        let mut changed = false;
        let mut todo = vec![value];
        while let Some(value) = todo.pop() {
            match value {
                Value::String(text) => changed |= self.replace(text),
                Value::Number(number) => {
                    let text = number.to_string();
                    if let Cow::Owned(redacted) = self.text(&text) {
                        *value = Value::String(redacted);
                        changed = true;
                    }
                }
                Value::Array(items) => todo.extend(items),
                Value::Object(map) => {
                    changed |= self.keys(map);
                    todo.extend(map.values_mut());
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
        changed
    }

    fn replace(&self, text: &mut String) -> bool {
        let redacted = match self.text(text) {
            Cow::Borrowed(_) => return false,
            Cow::Owned(redacted) => redacted,
        };
        *text = redacted;
        true
    }

    fn keys(&self, map: &mut Map<String, Value>) -> bool {
        if !map.keys().any(|key| matches!(self.text(key), Cow::Owned(_))) {
            return false;
        }
        let old = std::mem::take(map);
        map.extend(
            old.into_iter()
                .map(|(key, value)| (self.text(&key).into_owned(), value)),
        );
        true
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_nothing() {
            "Redact(nothing)"
        } else {
            "Redact(…)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hides(secret: &'static str) -> Redact {
        Redact::with(move |text| {
            if text.contains(secret) {
                Cow::Owned(text.replace(secret, "[secret]"))
            } else {
                Cow::Borrowed(text)
            }
        })
    }

    #[test]
    fn texts_keys_and_numbers_are_redacted() {
        let mut value = json!({"a 12345678": ["x12345678y", 12345678, 1, null], "b": {"c": -12345678.5}});
        assert!(hides("12345678").value(&mut value));
        assert_eq!(
            value,
            json!({"a [secret]": ["x[secret]y", "[secret]", 1, null], "b": {"c": "-[secret].5"}})
        );
    }

    #[test]
    fn what_holds_no_secret_is_unchanged() {
        let original = json!({"a": [1, "two", {"b": true}]});
        let mut value = original.clone();
        assert!(!hides("12345678").value(&mut value));
        assert!(!Redact::nothing().value(&mut value));
        assert_eq!(value, original);
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut value = json!("12345678");
        for _ in 0..100_000 {
            value = Value::Array(vec![value]);
        }
        assert!(hides("12345678").value(&mut value));
        while let Value::Array(mut items) = value {
            value = items.pop().unwrap();
        }
        assert_eq!(value, "[secret]");
    }
}
