//! FINAL values: text decoded, everything else as compact JSON.

use crate::model::{Final, FinalShape};

use super::json::{Captured, Fault, Input, Scanner};

/// Reads the value of a `final` or `result` key, at most `cap` bytes of it.
pub(crate) fn read_final<I: Input>(scanner: &mut Scanner<I>, cap: usize) -> Result<Final, Fault> {
    let shape = match scanner.peek()? {
        Some(b'"') => {
            let text = scanner.text(cap)?;
            return Ok(Final::Value {
                shape: FinalShape::Text,
                text,
            });
        }
        Some(b'{') => FinalShape::Object,
        Some(b'[') => FinalShape::List,
        Some(b't' | b'f') => FinalShape::Bool,
        _ => FinalShape::Number,
    };
    let Captured { text, sound } = scanner.capture(cap)?;
    if text == "null" {
        return Ok(Final::Null);
    }
    let shape = if sound { shape } else { FinalShape::Raw };
    Ok(Final::Value { shape, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::json::SliceInput;

    fn read(json: &str) -> (FinalShape, String) {
        match read_final(&mut Scanner::new(SliceInput::new(json.as_bytes(), 0)), 1 << 20).unwrap() {
            Final::Value { shape, text } => (shape, text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shapes() {
        assert_eq!(read(r#""a\nb""#), (FinalShape::Text, "a\nb".into()));
        assert_eq!(
            read(" [1, {\"a\": null}] "),
            (FinalShape::List, r#"[1,{"a":null}]"#.into())
        );
        assert_eq!(read("1e400"), (FinalShape::Number, "1e400".into()));
        assert_eq!(read("true"), (FinalShape::Bool, "true".into()));
        assert_eq!(read("NaN"), (FinalShape::Raw, "NaN".into()));
        assert_eq!(read("[1,,2]"), (FinalShape::Raw, "[1,,2]".into()));
        assert_eq!(
            read(r#"{"a":"\ud83d"}"#),
            (FinalShape::Object, r#"{"a":"\ufffd"}"#.into())
        );
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(&deep), (FinalShape::Raw, deep));
    }
}
