//! How deep a value may nest that crosses the engine: FINAL and what a sub-agent is given are recorded, and a record
//! that nests too deep could not be read again.

use crate::store::MAX_NESTING;
use serde_json::Value;

/// The deepest nesting that is taken; records hold the value a few levels down.
const DEEPEST: usize = MAX_NESTING - 10;

/// As deep as values leave the REPL (`DEPTH` in `encode.py`).
const ENCODED: usize = 100;

/// What to tell the code whose value nests too deep; `what` begins the sentence.
pub(super) fn too_deep(what: &str, value: &Value) -> Option<String> {
    let depth = depth(value);
    // What is deeper than that leaves the REPL as text.
    let more = if depth >= ENCODED { " or more" } else { "" };
    (depth > DEEPEST)
        .then(|| format!("{what} nests {depth}{more} levels deep, and at most {DEEPEST} are possible: flatten it."))
}

/// Not recursive: the value decides how deep this goes.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!({"x": inner}))
    }

    #[test]
    fn what_nests_too_deep_is_told() {
        assert_eq!(too_deep("It", &nested(DEEPEST)), None);
        let told = too_deep("It", &nested(DEEPEST + 1)).unwrap();
        assert!(told.starts_with("It nests 91 levels deep"), "{told}");
        let told = too_deep("It", &nested(ENCODED)).unwrap();
        assert!(told.starts_with("It nests 100 or more levels deep"), "{told}");
        let encoder = include_str!("../../assets/python/rlm/encode.py");
        assert!(encoder.contains(&format!("\nDEPTH = {ENCODED}\n")));
    }
}
