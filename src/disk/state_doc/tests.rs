use super::*;
use serde_json::{Value, json};

fn round_trip(text: &str) -> Value {
    let mut out = Vec::new();
    StateDoc::parse(text.as_bytes()).unwrap().write(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn everything_unknown_survives_at_every_level() {
    let state = json!({
        "version": 2, "queries": [{"query": "q", "final": {"a": [1.50, null]}, "x": 1}], "pending_query": null,
        "code_log": [{"q": 0, "step": 1, "ok": true, "code": "a = 1", "y": [2]}],
        "variables": {"a": {"pickle_b64": "gARLAS4=", "type": "int", "preview": "1", "comment": null, "note": null,
                            "committed": false, "z": {"deep": true}}},
        "functions": {"f": "def f(): pass"}, "dropped": {"g": "generator"}, "later": {"any": ["thing"]}
    });
    assert_eq!(round_trip(&state.to_string()), state);
}

#[test]
fn exact_numbers_are_not_rewritten() {
    let text = r#"{"version":2,"queries":[{"query":"q","final":1e400}]}"#;
    let mut out = Vec::new();
    StateDoc::parse(text.as_bytes()).unwrap().write(&mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains(r#""final":1e400"#));
}

#[test]
fn version_1_without_links_and_null_tables() {
    let doc = StateDoc::parse(br#"{"version":1,"queries":[{"query":"a"}],"variables":null,"code_log":null}"#).unwrap();
    assert_eq!(doc.queries.len(), 1);
    assert!(doc.queries[0].result().is_none(), "an absent final is None, not null");
    assert!(doc.variables.is_empty() && doc.code_log.is_empty());
}

#[test]
fn a_newer_version_is_refused_and_named() {
    let error = StateDoc::parse(br#"{"version":3}"#).unwrap_err();
    assert!(matches!(error, StateDocError::Newer { found: 3 }));
}

#[test]
fn damage_is_refused_with_its_place() {
    let error = StateDoc::parse(b"{\"version\":2,\n\"queries\":[").unwrap_err();
    assert!(matches!(error, StateDocError::Damaged { line: 2, .. }), "{error}");
}

#[test]
fn leftovers_of_a_longer_file_are_ignored() {
    assert_eq!(round_trip("{\"version\":2}\"x\":1}}")["version"], 2);
}

#[test]
fn pickles_are_slices_of_the_text() {
    let doc = StateDoc::parse(br#"{"variables":{"a":{"pickle_b64":"gARLAS4="},"b":{"pickle_b64":7}}}"#).unwrap();
    assert_eq!(doc.variables["a"].pickle_b64(), Some("gARLAS4="));
    assert_eq!(doc.variables["b"].pickle_b64(), None);
}

#[test]
fn new_rows_have_the_known_keys() {
    let result = RawValue::from_string("[1,2]".into()).unwrap();
    let row = QueryRow::new("q", &result, Some("logs/r.jsonl"), "7-x").unwrap();
    assert_eq!(
        row.raw().get(),
        r#"{"query":"q","final":[1,2],"log_file":"logs/r.jsonl","run_id":"7-x"}"#
    );
    let step = CodeRow::new(0, 1, true, "a = 1", "7-x").unwrap();
    assert_eq!(
        (step.q(), step.step(), step.ok(), step.code()),
        (0, 1, true, "a = 1".to_owned())
    );
}
