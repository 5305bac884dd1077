//! The strings within a JSON text: changed one by one, everything between them left as it stands. No recursion, so
//! that a text may nest as deep as it likes.

/// `json` with `change` applied to each of its strings, keys too. A string that does not decode stays as it is.
pub(super) fn map(json: &str, mut change: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        let (between, string) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let (string, after) = string.split_at_checked(length(string)).unwrap_or((string, ""));
        out.push_str(between);
        let decoded = serde_json::from_str::<String>(string);
        let encoded = decoded.and_then(|text| serde_json::to_string(&change(&text)));
        out.push_str(encoded.as_deref().unwrap_or(string));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Bytes of the string that `text` starts with, both quotes included.
fn length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strings_change_and_the_rest_stays() {
        let json = r#"{"a b": [1, "x\"y\\", true], "\ud83d": null}"#;
        assert_eq!(
            map(json, |s| s.to_uppercase()),
            r#"{"A B": [1, "X\"Y\\", true], "\ud83d": null}"#
        );
    }

    #[test]
    fn damaged_and_deep_texts_pass() {
        assert_eq!(map("[\"open", |_| "x".into()), "[\"open");
        let deep = "[".repeat(200_000);
        assert_eq!(map(&deep, |_| "x".into()), deep);
    }

    proptest! {
        #[test]
        fn valid_json_stays_valid(keys in prop::collection::vec("\\PC*", 0..4), text in "\\PC*") {
            let value = serde_json::json!({"keys": keys, "text": text});
            let mapped = map(&value.to_string(), str::to_owned);
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&mapped).unwrap(), value);
        }
    }
}
