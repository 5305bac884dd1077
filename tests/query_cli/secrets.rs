//! Values given with `--env` are visible in the REPL and nowhere else.

use super::Place;
use serde_json::json;
use std::path::Path;

const SECRET: &str = "hunter2-and-\"quotes\"";

/// Every file below `dir` that holds the secret in a form that is looked for.
fn leaks(dir: &Path, found: &mut Vec<String>) {
    use base64::Engine as _;
    let forms = [
        SECRET.to_owned(),
        SECRET.replace('"', "\\\""),
        SECRET.replace('"', "%22"),
        base64::engine::general_purpose::STANDARD.encode(SECRET),
    ];
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            leaks(&entry.path(), found);
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        for form in &forms {
            if bytes.windows(form.len()).any(|part| part == form.as_bytes()) {
                found.push(format!("{form} in {}", entry.path().display()));
            }
        }
    }
}

#[test]
fn a_secret_is_in_no_file_and_no_output() {
    let place = Place::new();
    let steps = [
        "import os, base64, json\nkey = os.environ['KEY']\nprint(key, json.dumps(key), base64.b64encode(key.encode()).decode())",
        "inside = {'deep': [key]}\ncommit('key', note='it is ' + key)\nprint(inside)\nraise ValueError(key)",
        "child = await llm_query({'k': key}, instruction='use ' + key)\nprint(child)",
        "length = len(key)\nFINAL({'key': key, 'length': length})",
    ];
    let rules = [
        crate::running::script::rule(json!({"depth": 0}), &steps),
        crate::running::script::rule(json!({"depth": 1}), &["import os\nFINAL([context, os.environ['KEY']])"]),
    ];
    let query = place
        .rules(&rules)
        .session(&place.session_dir())
        .option("--verbosity", "full");
    let ran = query.option("--env", format!("KEY={SECRET}")).arg("--json").run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["final"]["length"], json!(SECRET.len()), "the REPL had it");
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    assert!(!ran.out.contains("hunter2"), "{}", ran.out);
    let mut found = Vec::new();
    leaks(&place.session_dir(), &mut found);
    assert_eq!(found, Vec::<String>::new());
    let dropped = place.session().state()["dropped"].clone();
    assert_eq!(
        (&dropped["key"], &dropped["inside"]),
        (&json!("holds a secret"), &json!("holds a secret"))
    );
    assert!(place.session().names("variables").contains(&"length".to_owned()));
}
