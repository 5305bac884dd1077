//! Pickles, protocol 4, of the few types that the story's memory holds; Python loads them as they are.

use super::literal::{Literal, read};
use serde_json::Value;

const PROTO_4: [u8; 2] = [0x80, 4];
const MARK: u8 = b'(';
const STOP: u8 = b'.';
const STACK_GLOBAL: u8 = 0x93;
const TUPLE2: u8 = 0x86;
const REDUCE: u8 = b'R';
/// `re.UNICODE`, the flag of every pattern over str.
const UNICODE: i64 = 32;

/// `pickle.dumps(value, 4)`, without the memo that Python's own writer would add.
pub(crate) fn dumps(value: &Value) -> Vec<u8> {
    let mut out = PROTO_4.to_vec();
    push(&mut out, value);
    out.push(STOP);
    out
}

fn push(out: &mut Vec<u8>, value: &Value) {
    match read(value) {
        Literal::Tuple(items) => {
            out.push(MARK);
            items.iter().for_each(|item| push(out, item));
            out.push(b't');
        }
        Literal::Pattern(pattern) => push_pattern(out, pattern),
        Literal::Plain(Value::Null) => out.push(b'N'),
        Literal::Plain(Value::Bool(flag)) => out.push(if *flag { 0x88 } else { 0x89 }),
        Literal::Plain(Value::Number(number)) => push_number(out, number),
        Literal::Plain(Value::String(text)) => push_text(out, text),
        Literal::Plain(Value::Array(items)) => {
            out.extend([b']', MARK]);
            items.iter().for_each(|item| push(out, item));
            out.push(b'e');
        }
        Literal::Plain(Value::Object(map)) => {
            out.extend([b'}', MARK]);
            for (key, item) in map {
                push_text(out, key);
                push(out, item);
            }
            out.push(b'u');
        }
    }
}

/// `re._compile(pattern, UNICODE)`, which is how Python pickles a pattern.
fn push_pattern(out: &mut Vec<u8>, pattern: &str) {
    push_text(out, "re");
    push_text(out, "_compile");
    out.push(STACK_GLOBAL);
    push_text(out, pattern);
    push_int(out, UNICODE);
    out.extend([TUPLE2, REDUCE]);
}

fn push_number(out: &mut Vec<u8>, number: &serde_json::Number) {
    match number.as_i64() {
        Some(int) => push_int(out, int),
        None => {
            out.push(b'G');
            out.extend(number.as_f64().unwrap_or(f64::NAN).to_be_bytes());
        }
    }
}

fn push_int(out: &mut Vec<u8>, int: i64) {
    if let Ok(byte) = u8::try_from(int) {
        out.extend([b'K', byte]);
    } else if let Ok(word) = i32::try_from(int) {
        out.push(b'J');
        out.extend(word.to_le_bytes());
    } else {
        out.extend([0x8a, 8]);
        out.extend(int.to_le_bytes());
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(text.as_bytes());
}
