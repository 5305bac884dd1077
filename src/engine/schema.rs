//! Checking FINAL against an output schema (JSON Schema), with errors that a model can act on.

use jsonschema::Validator;
use serde_json::Value;

/// Errors of one value that are told; a huge list helps nobody.
const MOST_ERRORS: usize = 20;

/// A compiled output schema.
#[derive(Debug)]
pub struct OutputSchema {
    source: Value,
    validator: Validator,
}

/// A schema that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON Schema: {0}")]
pub struct BadSchema(pub String);

impl OutputSchema {
    /// Compiles `source`. References are resolved inside it only: nothing is fetched.
    ///
    /// # Errors
    /// [`BadSchema`] with what is wrong with it.
    pub fn compile(source: &Value) -> Result<Self, BadSchema> {
        let validator = jsonschema::validator_for(source).map_err(|error| BadSchema(error.to_string()))?;
        Ok(Self {
            source: source.clone(),
            validator,
        })
    }

    /// The schema itself.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// What is wrong with `value`, each with its path; empty when it fits.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(value).take(MOST_ERRORS);
        errors
            .map(|error| format!("{}: {error}", place(&error.instance_path().to_string())))
            .collect()
    }
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "(root)" } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_their_paths() {
        let schema = OutputSchema::compile(&json!({
            "type": "object", "required": ["n"], "properties": {"n": {"type": "number"}, "l": {"minItems": 1}}
        }))
        .unwrap();
        assert_eq!(schema.errors(&json!({"n": 1})), Vec::<String>::new());
        let errors = schema.errors(&json!({"n": "7", "l": []}));
        assert!(errors.iter().any(|e| e.starts_with("/n: ")), "{errors:?}");
        assert!(errors.iter().any(|e| e.starts_with("/l: ")), "{errors:?}");
        assert!(schema.errors(&json!({}))[0].starts_with("(root): "));
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(OutputSchema::compile(&json!({"type": "no such type"})).is_err());
    }
}
