//! The JSON schema of configuration files, for editors and checkers.

use super::option::{Kind, Opt};
use super::table::OPTIONS;
use serde_json::{Map, Value, json};

/// The schema (draft 2020-12). TOML and YAML files are checked by it alike.
pub fn schema() -> Value {
    let properties: Map<String, Value> = OPTIONS
        .iter()
        .map(|option| (option.name.to_owned(), property(option)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of fast-rlm",
        "description": "fast-rlm.toml, config.toml, rlm_config.yaml. Made from the program's table of options.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(option: &Opt) -> Value {
    let mut made = Map::new();
    made.insert("description".into(), option.doc.into());
    let mut form = match option.kind {
        Kind::Text | Kind::Model | Kind::File | Kind::NameOrFile => json!({"type": "string"}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Count(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Dollars => json!({"type": "number", "minimum": 0}),
        Kind::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Kind::Agents => agents(),
        Kind::Keys => keys(),
    };
    or_nothing(&mut form);
    if let Value::Object(form) = form {
        made.extend(form);
    }
    if !option.default.is_empty() {
        made.insert("default".into(), option.default_value());
    }
    Value::Object(made)
}

/// A name with nothing behind it, or with null, sets nothing.
fn or_nothing(form: &mut Value) {
    if let Some(words) = form.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    if let Some(kind) = form.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
}

fn keys() -> Value {
    // One key, or a list of them.
    let chords = json!({"type": ["string", "array"], "items": {"type": "string"}});
    let actions = json!({"type": "object", "additionalProperties": chords});
    json!({"type": "object", "additionalProperties": actions})
}

fn agents() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let by_name = json!({"type": "object", "additionalProperties": text});
    // A pointer, one with conditions, or a list of these.
    let field = json!({"type": ["string", "object"]});
    let places = json!({"anyOf": [field, {"type": "array", "items": field}]});
    let usage = json!({"type": "object", "additionalProperties": places});
    // Those from model_flag on are the Python package's: the program translates them.
    let agent = json!({
        "type": "object",
        "required": ["command"],
        "additionalProperties": false,
        "properties": {
            "command": text, "args": texts, "env": by_name, "output": {"enum": ["text", "json", "lines"]},
            "reply": places, "reasoning": places, "error": places, "usage": usage, "refuse_when_set": texts,
            "pass_on": texts, "model_flag": text, "system_prompt_flag": text, "prompt_via": {"enum": ["stdin", "arg"]},
            "extract": {"type": "object"}, "error_flag": {"type": "object"}, "forbid_env": texts, "tested_versions": text,
        },
    });
    json!({"type": "object", "additionalProperties": agent})
}
