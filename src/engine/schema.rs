//! Checking FINAL against an output schema (JSON Schema), with errors that a model can act on.

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;
use std::fmt;

/// Errors of one value that are told; a huge list helps nobody.
const MOST_ERRORS: usize = 20;

/// What the schema is called where it refers to itself: it lies nowhere.
const NAME: &str = "schema:///output";

/// A compiled output schema.
pub struct OutputSchema {
    source: Value,
    compiled: Schemas,
    root: SchemaIndex,
}

/// A schema that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON Schema: {0}")]
pub struct BadSchema(pub String);

impl OutputSchema {
    /// Compiles `source`. References are resolved inside it only: nothing is fetched, and no file is read. Patterns are
    /// those of the regex crate, without look-around.
    ///
    /// # Errors
    /// [`BadSchema`] with what is wrong with it.
    pub fn compile(source: &Value) -> Result<Self, BadSchema> {
        let mut compiled = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(NothingElse));
        compiler.add_resource(NAME, source.clone()).map_err(bad)?;
        let root = compiler.compile(NAME, &mut compiled).map_err(bad)?;
        Ok(Self {
            source: source.clone(),
            compiled,
            root,
        })
    }

    /// The schema itself.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// What is wrong with `value`, each with its path; empty when it fits.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        let mut told = Vec::new();
        if let Err(error) = self.compiled.validate(value, self.root) {
            tell(&error, &mut told);
        }
        told
    }
}

/// What is wrong with a schema, in the words of what is wrong with a value.
fn bad(error: CompileError) -> BadSchema {
    match error {
        CompileError::ValidationError { src, .. } => {
            let mut told = Vec::new();
            tell(&src, &mut told);
            BadSchema(told.join("; "))
        }
        other => BadSchema(format!("{other:#}").replace(NAME, "")),
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputSchema").field(&self.source).finish()
    }
}

/// Refuses what is not in the schema itself.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("{url} is not in the schema, and nothing is fetched").into())
    }
}

/// The innermost errors: those around them only say that something inside does not fit.
fn tell(error: &ValidationError<'_, '_>, told: &mut Vec<String>) {
    if told.len() >= MOST_ERRORS {
        return;
    }
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        told.push(format!(
            "{}: {}",
            if place.is_empty() { "(root)" } else { &place },
            error.kind
        ));
    }
    error.causes.iter().for_each(|cause| tell(cause, told));
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
        let error = OutputSchema::compile(&json!({"type": "no such type"}))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("not a valid JSON Schema: /type: value must be one of"),
            "{error}"
        );
        let error = OutputSchema::compile(&json!({"pattern": "("})).unwrap_err().to_string();
        assert!(error.contains("/pattern: ") && !error.contains(NAME), "{error}");
    }

    #[test]
    fn references_stay_inside_the_schema() {
        let inside = json!({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}});
        let schema = OutputSchema::compile(&inside).unwrap();
        assert_eq!(schema.errors(&json!([1, "2"])), ["/1: want integer, but got string"]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{}").unwrap();
        for outside in [
            format!("file://{}", file.path().display()),
            "https://example.com/s.json".into(),
        ] {
            let error = OutputSchema::compile(&json!({"$ref": outside}))
                .unwrap_err()
                .to_string();
            assert!(error.contains("nothing is fetched"), "{error}");
        }
    }

    #[test]
    fn a_value_that_is_wrong_everywhere_is_told_in_short() {
        let schema = OutputSchema::compile(&json!({"items": {"type": "string"}})).unwrap();
        let all_wrong: Vec<u32> = (0..1_000).collect();
        assert_eq!(schema.errors(&json!(all_wrong)).len(), MOST_ERRORS);
    }
}
