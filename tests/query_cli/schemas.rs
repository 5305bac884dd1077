//! Schemas that ask for more work than a machine does: refused before anything is checked.

use super::{Place, script};
use serde_json::{Value, json};

/// Each definition is the one before it, twice.
fn bomb() -> Value {
    let twice = |n: u32| json!({"anyOf": [{"$ref": format!("#/$defs/a{n}")}, {"$ref": format!("#/$defs/a{n}")}]});
    let mut definitions: serde_json::Map<String, Value> = (1..40).map(|n| (format!("a{n}"), twice(n - 1))).collect();
    definitions.insert("a0".into(), json!({"type": "integer"}));
    json!({"$defs": definitions, "$ref": "#/$defs/a39"})
}

#[test]
fn one_of_a_model_is_an_error_in_its_code() {
    let place = Place::new();
    let bomb = serde_json::to_string(&bomb().to_string()).unwrap();
    let code = format!(
        "import json\ntry:\n    await llm_query('x', schema=json.loads({bomb}))\nexcept ValueError as error:\n    FINAL(str(error))"
    );
    let rules = [
        script::rule(json!({"depth": 0}), &[&code]),
        script::rule(json!({"depth": 1}), &["FINAL('text')"]),
    ];
    let told = place.rules(&rules).answer();
    assert!(
        told.starts_with("schema: ") && told.contains("(root) unfolds"),
        "{told}"
    );
    assert!(told.contains("Write each alternative once"), "{told}");
}

#[test]
fn one_that_is_given_is_wrong_usage() {
    let place = Place::new();
    place.file("bomb.json", &bomb().to_string());
    let ran = place.steps(&["FINAL(1)"]).option("--output-schema", "bomb.json").run();
    ran.refused(2, &["output schema", "(root) unfolds", "Write each alternative once"]);
}
