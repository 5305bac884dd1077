//! The forms in which programs write a value: in base64, as a number in a pickle, escaped as in JSON, in Python or in its
//! bytes, and percent-encoded. Where they are looked for is the registry's business.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Decodes one character; with how many bytes it took.
pub(super) type Decode = fn(&[u8]) -> Option<(char, usize)>;

/// The encodings character by character: each with the byte that begins an encoded one.
pub(super) const ENCODINGS: [(u8, Decode); 4] = [
    (b'\\', escaped),
    (b'\\', escaped_bytes),
    (b'\\', escaped_twice),
    (b'%', percent),
];

/// The base64 characters that depend on `value` alone when `offset` bytes stand before it.
pub(super) fn base64_cores(value: &[u8], offset: usize) -> [String; 2] {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value);
    // Six bits a character: those that begin inside the offset or end after the value belong to the neighbours too.
    let first = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
        .map(|text| text.get(first..end).unwrap_or_default().to_owned())
}

/// A number as pickles write it (protocols 2 and on), with the opcode before it: alone, its bytes turn up by chance.
pub(super) fn pickled(number: u64) -> Vec<Vec<u8>> {
    let bytes = number.to_le_bytes();
    let used = bytes.len() - (number.leading_zeros() / 8) as usize;
    // A byte for the sign, where the highest bit would be taken for it.
    let signed = used + usize::from(number.leading_zeros().is_multiple_of(8));
    let mut long = vec![0x8a, u8::try_from(signed).unwrap_or(u8::MAX)];
    long.extend(bytes.iter().take(used));
    let short = i32::try_from(number).map(|number| [&b"J"[..], &number.to_le_bytes()].concat());
    [Some(long), short.ok()].into_iter().flatten().collect()
}

/// Decodes one backslash escape of JSON or Python.
pub(super) fn escaped(text: &[u8]) -> Option<(char, usize)> {
    let rest = text.strip_prefix(b"\\")?;
    match rest.first()? {
        b'n' => Some(('\n', 2)),
        b't' => Some(('\t', 2)),
        b'r' => Some(('\r', 2)),
        b'b' => Some(('\u{8}', 2)),
        b'f' => Some(('\u{c}', 2)),
        b'x' => Some((char::from_u32(hex(rest.get(1..3)?)?)?, 4)),
        b'U' => Some((char::from_u32(hex(rest.get(1..9)?)?)?, 10)),
        b'u' => unicode_escape(rest),
        mark @ (b'"' | b'\'' | b'\\' | b'/') => Some((char::from(*mark), 2)),
        _ => None,
    }
}

/// Decodes one character of a Python bytes literal, where each byte of its UTF-8 is an escape of its own; `None` also where
/// more text could complete it.
pub(super) fn escaped_bytes(text: &[u8]) -> Option<(char, usize)> {
    let byte = |at: usize| u8::try_from(hex(text.get(at..at + 4)?.strip_prefix(b"\\x")?)?).ok();
    let length = match byte(0) {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => return escaped(text),
    };
    let escapes = text.get(..length * 4)?;
    let bytes: Option<Vec<u8>> = (0..length).map(|number| byte(number * 4)).collect();
    let decoded = bytes.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.chars().next());
    decoded
        .map(|decoded| (decoded, escapes.len()))
        .or_else(|| escaped(text))
}

/// Bytes of the longest escape.
const LONGEST_ESCAPE: usize = 12;

/// Decodes one character that is escaped twice, as in JSON within JSON; or once, as the inner one leaves what the outer one
/// escapes.
pub(super) fn escaped_twice(text: &[u8]) -> Option<(char, usize)> {
    match escaped(text)? {
        ('\\', _) => inner_escape(text).or_else(|| escaped(text)),
        once => Some(once),
    }
}

/// The escape that stands in `text` when its own escapes are decoded.
fn inner_escape(text: &[u8]) -> Option<(char, usize)> {
    let mut inner = [0; LONGEST_ESCAPE];
    let mut ends = [0; LONGEST_ESCAPE];
    let mut end = 0;
    for filled in 0..LONGEST_ESCAPE {
        let rest = text.get(end..)?;
        let literal = || rest.first().map(|byte| (char::from(*byte), 1));
        let (c, taken) = escaped(rest).or_else(literal)?;
        end += taken;
        *inner.get_mut(filled)? = u8::try_from(c).ok().filter(u8::is_ascii)?;
        *ends.get_mut(filled)? = end;
        if let Some((decoded, taken)) = inner.get(..=filled).and_then(escaped) {
            return Some((decoded, *ends.get(taken.checked_sub(1)?)?));
        }
    }
    None
}

/// `uXXXX`, or the two halves of a surrogate pair.
fn unicode_escape(rest: &[u8]) -> Option<(char, usize)> {
    let high = hex(rest.get(1..5)?)?;
    if let Some(single) = char::from_u32(high) {
        return Some((single, 6));
    }
    let low = hex(rest.get(5..11)?.strip_prefix(b"\\u")?)?;
    let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let decoded = char::decode_utf16(pair).next()?.ok()?;
    Some((decoded, 12))
}

/// Decodes one character whose UTF-8 bytes are percent-encoded; a plus sign is a space.
pub(super) fn percent(text: &[u8]) -> Option<(char, usize)> {
    if text.first() == Some(&b'+') {
        return Some((' ', 1));
    }
    let mut bytes = Vec::with_capacity(4);
    while bytes.len() < 4 {
        let encoded = text.get(bytes.len() * 3..bytes.len() * 3 + 3)?.strip_prefix(b"%")?;
        bytes.push(u8::try_from(hex(encoded)?).ok()?);
        if let Ok(decoded) = std::str::from_utf8(&bytes) {
            return decoded.chars().next().map(|decoded| (decoded, bytes.len() * 3));
        }
    }
    None
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}
