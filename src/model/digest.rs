//! The digest by which code in a transcript and in `code_log` is told to be the same.

/// Odd constant of a multiplicative hash (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Digest of a step's code: equal on every platform and in every version, not meant against forgery.
///
/// ```
/// assert_eq!(fast_rlm::model::code_digest("x = 1"), fast_rlm::model::code_digest("x = 1"));
/// assert_ne!(fast_rlm::model::code_digest("x = 1"), fast_rlm::model::code_digest("x = 2"));
/// ```
pub fn code_digest(code: &str) -> u64 {
    let (words, tail) = code.as_bytes().as_chunks::<8>();
    let mut digest = (code.len() as u64).wrapping_mul(SPREAD);
    for word in words {
        digest = mix(digest ^ u64::from_le_bytes(*word));
    }
    let tail = tail
        .iter()
        .rev()
        .fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
    mix(mix(digest ^ tail))
}

fn mix(word: u64) -> u64 {
    let spread = word.wrapping_mul(SPREAD);
    (spread ^ (spread >> 29)).rotate_left(17)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn is_the_same_in_every_version() {
        assert_eq!(code_digest(""), 0);
        assert_eq!(
            code_digest("FINAL(answer)\n# and a longer tail"),
            16_556_064_230_912_986_253
        );
    }

    #[test]
    fn near_texts_differ() {
        let texts: Vec<String> = (0..20_000).map(|n| format!("x = {n}\nprint(x)")).collect();
        let digests: HashSet<u64> = texts.iter().map(|text| code_digest(text)).collect();
        assert_eq!(digests.len(), texts.len());
        assert_ne!(code_digest("a\0"), code_digest("a"));
    }
}
