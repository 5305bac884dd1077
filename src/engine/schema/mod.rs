//! Checking FINAL against an output schema (JSON Schema), with errors that a model can act on.

mod effort;

use super::truncate::head;
use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use effort::{Effort, TooMuch, Unfolding};
use serde_json::{Value, json};
use std::fmt;

/// Errors of one value that are told; a huge list helps nobody.
const MOST_ERRORS: usize = 20;

/// Characters that are told of one error.
const MOST_TOLD: usize = 500;

/// Told of a value that would take too long to check.
const TOO_MUCH: &str = "(root): checking it takes too long: the alternatives and references of the schema multiply \
                        with every level of the value. Make the value smaller, or less nested";

/// What the schema is called where it refers to itself: it lies nowhere.
const NAME: &str = "schema:///output";

/// Told of a value that does not fit and is too large to keep all that may be wrong with it.
const UNTOLD: &str = "(root): it does not fit, and is too large to say where: check parts of it yourself";

/// What the schema is called that nothing fits but what does not fit the schema: checking against it keeps no errors.
const OPPOSITE: &str = "schema:///opposite";

/// Bytes of stack for the deepest check that is done.
const STACK: usize = 32 << 20;

/// The check could not begin.
const NO_THREAD: &str = "(root): it cannot be checked now: the system refused a thread (ulimit -u)";

/// A compiled output schema.
pub struct OutputSchema {
    source: Value,
    compiled: Schemas,
    root: SchemaIndex,
    opposite: SchemaIndex,
}

/// A schema that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    /// It is none; with why.
    #[error("not a valid JSON Schema: {0}")]
    Invalid(String),
    /// Checking any value against it would take too long; with the place in it.
    #[error(
        "{0} unfolds to too many schemas to check a value against: its references and alternatives ($ref, anyOf, \
         oneOf, allOf) multiply. Write each alternative once"
    )]
    Unbounded(String),
}

impl OutputSchema {
    /// Compiles `source`, unless checking against it would take too long. References are resolved inside it only:
    /// nothing is fetched, and no file is read. Patterns are those of the regex crate, without look-around.
    ///
    /// # Errors
    /// [`BadSchema`] with what is wrong with it.
    pub fn compile(source: &Value) -> Result<Self, BadSchema> {
        if let Some(place) = Unfolding::of(source).bomb() {
            return Err(BadSchema::Unbounded(placed(place).to_owned()));
        }
        let mut compiled = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(NothingElse));
        compiler.add_resource(NAME, source.clone()).map_err(bad)?;
        let opposite = json!({"not": {"$ref": NAME}});
        compiler.add_resource(OPPOSITE, opposite).map_err(bad)?;
        let root = compiler.compile(NAME, &mut compiled).map_err(bad)?;
        let opposite = compiler.compile(OPPOSITE, &mut compiled).map_err(bad)?;
        Ok(Self {
            source: source.clone(),
            compiled,
            root,
            opposite,
        })
    }

    /// The schema itself.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// What is wrong with `value`, each with its path; empty when it fits.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        with_room(|| self.checked(value)).unwrap_or_else(|| vec![NO_THREAD.to_owned()])
    }

    fn checked(&self, value: &Value) -> Vec<String> {
        match Unfolding::of(&self.source).bears(value) {
            Err(TooMuch) => return vec![TOO_MUCH.to_owned()],
            Ok(Effort::Untold) => {
                let is_wrong = self.compiled.validate(value, self.opposite).is_ok();
                return is_wrong.then(|| UNTOLD.to_owned()).into_iter().collect();
            }
            Ok(Effort::Told) => {}
        }
        let mut told = Vec::new();
        if let Err(error) = self.compiled.validate(value, self.root) {
            tell(&error, &mut told);
        }
        told
    }
}

/// Does work that recurses as deep as schemas and values nest: on a stack of its own, which is large enough.
fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let thread = std::thread::Builder::new().stack_size(STACK);
    std::thread::scope(|scope| thread.spawn_scoped(scope, work).ok()?.join().ok())
}

/// What is wrong with a schema, in the words of what is wrong with a value.
fn bad(error: CompileError) -> BadSchema {
    match error {
        CompileError::ValidationError { src, .. } => {
            let mut told = Vec::new();
            tell(&src, &mut told);
            BadSchema::Invalid(told.join("; "))
        }
        other => BadSchema::Invalid(format!("{other:#}").replace(NAME, "")),
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

/// A place as it is told.
fn placed(place: &str) -> &str {
    if place.is_empty() { "(root)" } else { place }
}

/// The innermost errors: those around them only say that something inside does not fit.
fn tell(error: &ValidationError<'_, '_>, told: &mut Vec<String>) {
    if told.len() >= MOST_ERRORS {
        return;
    }
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        let whole = format!("{}: {}", placed(&place), error.kind);
        told.push(head(&whole, MOST_TOLD).0.to_owned());
    }
    error.causes.iter().for_each(|cause| tell(cause, told));
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn one_that_cannot_be_checked_is_refused_with_its_place() {
        let twice = |n: u32| json!({"anyOf": [{"$ref": format!("#/$defs/a{n}")}, {"$ref": format!("#/$defs/a{n}")}]});
        let mut definitions: serde_json::Map<String, Value> =
            (1..40).map(|n| (format!("a{n}"), twice(n - 1))).collect();
        definitions.insert("a0".into(), json!({"type": "integer"}));
        let bomb = json!({"$defs": definitions, "properties": {"x": {"$ref": "#/$defs/a39"}}});
        let error = OutputSchema::compile(&bomb).unwrap_err().to_string();
        assert!(
            error.contains("unfolds to too many schemas") && error.starts_with('/'),
            "{error}"
        );
    }

    #[test]
    fn a_value_that_would_take_too_long_is_told_so() {
        let twice = |n: u32| {
            json!({"properties": {"x": {"anyOf": [
            {"$ref": format!("#/$defs/a{n}")}, {"$ref": format!("#/$defs/a{n}")}]}}})
        };
        let mut definitions: serde_json::Map<String, Value> =
            (1..40).map(|n| (format!("a{n}"), twice(n - 1))).collect();
        definitions.insert("a0".into(), json!({"type": "integer"}));
        let schema = OutputSchema::compile(&json!({"$defs": definitions, "$ref": "#/$defs/a39"})).unwrap();
        let value = (0..39).fold(json!("text"), |inner, _| json!({"x": inner}));
        assert_eq!(schema.errors(&value), [TOO_MUCH]);
    }

    #[test]
    fn a_large_value_is_checked_without_keeping_what_is_wrong() {
        let schema = OutputSchema::compile(&json!({"items": {"anyOf": [
            {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}, "$defs": {"n": {"type": "string"}}}))
        .unwrap();
        let mut value: Vec<Value> = vec![json!("x"); 200_000];
        assert_eq!(schema.errors(&json!(value)), Vec::<String>::new());
        value[199_999] = json!(1);
        assert_eq!(schema.errors(&json!(value)), [UNTOLD]);
    }

    #[test]
    fn the_deepest_that_is_followed_does_not_overflow() {
        let tree = json!({"$defs": {"t": {"anyOf": [{"type": "string"}, {"allOf": [{"$ref": "#/$defs/u"}]}]},
            "u": {"properties": {"x": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"});
        let schema = OutputSchema::compile(&tree).unwrap();
        for depth in 1..110 {
            let value = (0..depth).fold(json!("text"), |inner, _| json!({"x": inner}));
            let errors = schema.errors(&value);
            assert!(errors.is_empty() || errors == [TOO_MUCH], "{depth}: {errors:?}");
        }
    }

    #[test]
    fn a_value_that_is_wrong_everywhere_is_told_in_short() {
        let schema = OutputSchema::compile(&json!({"items": {"type": "string"}})).unwrap();
        let all_wrong: Vec<u32> = (0..1_000).collect();
        assert_eq!(schema.errors(&json!(all_wrong)).len(), MOST_ERRORS);
    }
}
