use super::*;
use serde_json::json;

/// Each definition is the one before it, twice: by `word`, and inside a property where `deeper`.
fn doubling(count: usize, word: &str, deeper: bool) -> Value {
    let mut definitions = Map::new();
    definitions.insert("a0".into(), json!({"type": "integer"}));
    for n in 1..count {
        let before = json!({"$ref": format!("#/$defs/a{}", n - 1)});
        let twice = json!({word: [before, before]});
        let this = if deeper {
            json!({"properties": {"x": twice}})
        } else {
            twice
        };
        definitions.insert(format!("a{n}"), this);
    }
    json!({"$defs": definitions, "$ref": format!("#/$defs/a{}", count - 1)})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("text"), |inner, _| json!({"x": inner}))
}

#[test]
fn what_doubles_is_refused_however_it_is_written() {
    for word in ALTERNATIVES {
        let schema = doubling(40, word, false);
        assert!(Unfolding::of(&schema).bomb().is_some(), "{word}");
        assert_eq!(Unfolding::of(&schema).bears(&json!("text")), Err(TooMuch), "{word}");
    }
    let mut by_name = doubling(40, "anyOf", false);
    for (name, definition) in by_name["$defs"].as_object_mut().unwrap() {
        definition["$anchor"] = name.as_str().into();
    }
    let by_name = by_name.to_string().replace("#/$defs/", "#");
    let by_name = serde_json::from_str(&by_name).unwrap();
    assert!(Unfolding::of(&by_name).bomb().is_some());
    let escaped = doubling(40, "anyOf", false)
        .to_string()
        .replace("$defs/a", "%24defs/%61");
    assert!(Unfolding::of(&serde_json::from_str(&escaped).unwrap()).bomb().is_some());
}

#[test]
fn what_doubles_with_the_value_is_refused_with_the_value() {
    let schema = doubling(40, "anyOf", true);
    let unfolding = Unfolding::of(&schema);
    assert_eq!(unfolding.bomb(), None);
    assert_eq!(unfolding.bears(&nested(3)), Ok(Effort::Told));
    assert_eq!(unfolding.bears(&nested(39)), Err(TooMuch));
}

#[test]
fn a_chain_that_is_too_deep_to_follow_is_refused() {
    let chain = |count: usize| {
        let next = |n: usize| json!({"$ref": format!("#/$defs/a{}", n + 1)});
        let mut definitions: Map<String, Value> = (0..count).map(|n| (format!("a{n}"), next(n))).collect();
        definitions.insert(format!("a{count}"), json!({"type": "string"}));
        json!({"$defs": definitions, "$ref": "#/$defs/a0"})
    };
    assert_eq!(Unfolding::of(&chain(200)).bomb(), None);
    assert!(Unfolding::of(&chain(2_000)).bomb().is_some());
}

#[test]
fn ordinary_schemas_bear_large_values() {
    let row = json!({"type": "object", "required": ["n", "s"], "additionalProperties": false, "properties": {
        "n": {"type": "integer"}, "s": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    let rows = json!({"type": "array", "items": row});
    let value: Value = (0..200_000).map(|n| json!({"n": n, "s": "x"})).collect();
    assert_eq!(Unfolding::of(&rows).bomb(), None);
    assert_eq!(Unfolding::of(&rows).bears(&value), Ok(Effort::Untold));
    let tree = json!({"$id": "https://example.com/tree", "type": "object", "properties": {
        "x": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "y": {"$ref": "tree"}}});
    assert_eq!(Unfolding::of(&tree).bomb(), None);
    assert_eq!(Unfolding::of(&tree).bears(&nested(80)), Ok(Effort::Told));
}

#[test]
fn one_that_is_itself_ends() {
    let schema = json!({"anyOf": [{"type": "integer"}, {"$ref": "#"}]});
    assert_eq!(Unfolding::of(&schema).bomb(), None);
    assert_eq!(Unfolding::of(&schema).bears(&json!("x")), Ok(Effort::Told));
}

#[test]
fn lists_of_what_is_wanted_count_for_every_part() {
    let words: Vec<u32> = (0..20_000).collect();
    let schema = json!({"items": {"enum": words}});
    let value: Value = (0..20_000).map(|_| json!("x")).collect();
    assert_eq!(Unfolding::of(&schema).bears(&value), Err(TooMuch));
}
