//! Step 0: the code that shows an agent what it was given, and what that prints.

use super::literal::{cut, repr};
use serde_json::Value;

/// Longest text that the probe prints whole; of a longer one, as many characters at either end.
const WHOLE: usize = 500;
/// Characters shown of each value of a dict.
const EACH: usize = 200;

/// The probe's code, as transcripts keep it.
pub(crate) const CODE: &str = r#"def _show(value, most):
    text = str(value)
    return text if len(text) <= most else text[:most] + "...[truncated]"

if isinstance(context, dict):
    print("Context type: dict")
    print(f"Keys ({len(context)}): {list(context)}")
    print("---")
    for _key, _value in context.items():
        _size = f", len={len(_value)}" if hasattr(_value, "__len__") else ""
        print(f"  [{_key!r}] ({type(_value).__name__}{_size}): {_show(_value, 200)}")
else:
    print("Context type: ", type(context))
    print("Context length:", len(context))
    if len(context) <= 500:
        print("Context: ", context)
    else:
        print("First 500 characters of str(context): ", context[:500])
        print("---")
        print("Last 500 characters of str(context): ", context[-500:])"#;

/// What the probe of a sub-agent prints.
pub(crate) fn sub_agent(context: &Value, schema: Option<&str>) -> String {
    let schema = schema.map_or(String::new(), |text| {
        format!("Required output schema for FINAL (JSON Schema):\n{text}\n---\n")
    });
    format!("{schema}{}---\nAvailable tools: (none provided)", show(context))
}

/// What the probe of a root prints: its query, and the names that were restored.
pub(crate) fn root(query: &str, restored: &[String]) -> String {
    let mut out = show(&Value::String(query.to_owned()));
    out.push_str("---\nAvailable tools: (none provided)\n---\nThis run belongs to a resumable session.\n");
    if !restored.is_empty() {
        out.push_str(&format!("Restored into this REPL ({}):\n", restored.len()));
        restored.iter().for_each(|name| out.push_str(&format!("  {name}\n")));
    }
    out
}

fn show(context: &Value) -> String {
    match context {
        Value::Object(map) => {
            let keys: Vec<_> = map.keys().map(|key| repr(&Value::String(key.clone()))).collect();
            let mut out = format!(
                "Context type: dict\nKeys ({}): [{}]\n---\n",
                keys.len(),
                keys.join(", ")
            );
            for (key, value) in keys.iter().zip(map.values()) {
                out.push_str(&format!("  [{key}] ({}): {}\n", kind(value), cut(&plain(value), EACH)));
            }
            out
        }
        other => show_text(&plain(other)),
    }
}

fn show_text(text: &str) -> String {
    let length = text.chars().count();
    let head = format!("Context type:  <class 'str'>\nContext length: {length}\n");
    if length <= WHOLE {
        return format!("{head}Context:  {text}\n");
    }
    let first: String = text.chars().take(WHOLE).collect();
    let last: String = text.chars().skip(length - WHOLE).collect();
    format!("{head}First 500 characters of str(context):  {first}\n---\nLast 500 characters of str(context):  {last}\n")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| repr(value), str::to_owned)
}

fn kind(value: &Value) -> String {
    match value {
        Value::String(text) => format!("str, len={}", text.chars().count()),
        Value::Array(items) => format!("list, len={}", items.len()),
        Value::Object(map) => format!("dict, len={}", map.len()),
        Value::Bool(_) => "bool".to_owned(),
        Value::Null => "NoneType".to_owned(),
        Value::Number(_) => "int".to_owned(),
    }
}
