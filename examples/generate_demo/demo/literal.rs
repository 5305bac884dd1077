//! Values of the story's memory: JSON, with `{"!tuple": […]}` and `{"!pattern": "…"}` for what JSON lacks, and how
//! Python prints them.

use serde_json::Value;

/// A value, by what Python makes of it.
pub(crate) enum Literal<'a> {
    /// A tuple's items.
    Tuple(&'a [Value]),
    /// A compiled regular expression.
    Pattern(&'a str),
    /// Anything else.
    Plain(&'a Value),
}

/// What `value` stands for.
pub(crate) fn read(value: &Value) -> Literal<'_> {
    match (value.get("!tuple"), value.get("!pattern")) {
        (Some(Value::Array(items)), _) => Literal::Tuple(items),
        (_, Some(Value::String(pattern))) => Literal::Pattern(pattern),
        _ => Literal::Plain(value),
    }
}

/// `repr(value)`.
pub(crate) fn repr(value: &Value) -> String {
    match read(value) {
        Literal::Tuple(items) => format!("({})", list(items)),
        Literal::Pattern(pattern) => format!("re.compile({})", quote(pattern)),
        Literal::Plain(Value::Null) => "None".to_owned(),
        Literal::Plain(Value::Bool(flag)) => if *flag { "True" } else { "False" }.to_owned(),
        Literal::Plain(Value::Number(number)) => number.to_string(),
        Literal::Plain(Value::String(text)) => quote(text),
        Literal::Plain(Value::Array(items)) => format!("[{}]", list(items)),
        Literal::Plain(Value::Object(map)) => {
            let pairs: Vec<_> = map.iter().map(|(k, v)| format!("{}: {}", quote(k), repr(v))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

fn list(items: &[Value]) -> String {
    items.iter().map(repr).collect::<Vec<_>>().join(", ")
}

/// A string as Python quotes it; the story has no other control character than the newline.
fn quote(text: &str) -> String {
    let mark = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(mark);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\\' => out.push_str("\\\\"),
            c if c == mark => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(mark);
    out
}

/// The first `limit` characters of `text`, marked where some are missing.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...[truncated]", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
