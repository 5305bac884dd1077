//! Decimal dollars as exact integers.

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};
use std::fmt;

/// Digits after the point of a nano-dollar amount.
const NANO_DIGITS: i64 = 9;

/// Reads decimal dollars (`0.0000378`, `3.78e-5`, `2`) as nano-dollars, digit by digit: no float is involved.
///
/// Finer than a nano-dollar is rounded half up, but what is not zero stays at least 1, so that it is never shown as
/// free. `None` for what is no amount: signs other than `+`, words, `NaN`, or more than fits.
#[must_use]
pub fn parse_nano_dollars(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if whole.is_empty() && fraction.is_empty() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // The first digit stands for 10^(whole digits - 1); `kept` digits of the number are whole nano-dollars.
    let kept = i64::try_from(whole.len()).ok()? + i64::from(exponent) + NANO_DIGITS;
    scale(digits(), kept)
}

fn scale(digits: impl Iterator<Item = u8>, kept: i64) -> Option<i64> {
    let mut amount = 0i64;
    let mut nonzero = false;
    let mut round_up = false;
    let mut seen = 0i64;
    for digit in digits {
        let value = i64::from(digit - b'0');
        nonzero |= value != 0;
        if seen < kept {
            amount = amount.checked_mul(10)?.checked_add(value)?;
        } else if seen == kept {
            round_up = value >= 5;
        }
        seen += 1;
    }
    if amount == 0 && !nonzero {
        return Some(0);
    }
    // A positive exponent asks for more digits than were written. Beyond 19 the product cannot fit.
    for _ in 0..kept.saturating_sub(seen).clamp(0, 20) {
        amount = amount.checked_mul(10)?;
    }
    amount.checked_add(i64::from(round_up)).map(|amount| amount.max(1))
}

/// Deserialises dollars, written as a number or as text, into nano-dollars.
pub(super) fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Dollars)
}

/// The shortest text of a float is the decimal that was written, so floats lose nothing here.
struct Dollars;

impl Visitor<'_> for Dollars {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount in US dollars, like \"0.60\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i64, E> {
        parse_nano_dollars(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        let cases = [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0e99", Some(0)),
            ("4e-9", Some(4)),
            ("0.0000378", Some(37_800)),
            ("3.78e-5", Some(37_800)),
            ("0.00499", Some(4_990_000)),
            ("0.1", Some(100_000_000)),
            ("0.30000000000000004", Some(300_000_000)),
            ("1234.5", Some(1_234_500_000_000)),
            ("1.5E3", Some(1_500_000_000_000)),
            (".5", Some(500_000_000)),
            ("2.", Some(2_000_000_000)),
            ("+1", Some(1_000_000_000)),
            ("0.0000000005", Some(1)),
            ("1.0000000005", Some(1_000_000_001)),
            ("1e-30", Some(1)),
            ("9223372036.854775807", Some(i64::MAX)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_nano_dollars(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_unknown() {
        for text in [
            "",
            ".",
            "-1e-9",
            "-0.1",
            "NaN",
            "inf",
            "1e",
            "1,5",
            "0x10",
            "9223372036.854775808",
            "1e99",
            "1e-99999999999",
        ] {
            assert_eq!(parse_nano_dollars(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_comes_back_from_its_decimal(nano in 0i64..=i64::MAX) {
            let text = format!("{}.{:09}", nano / 1_000_000_000, nano % 1_000_000_000);
            prop_assert_eq!(parse_nano_dollars(&text), Some(nano));
            let scientific = format!("{nano}e-9");
            prop_assert_eq!(parse_nano_dollars(&scientific), Some(nano));
        }

        #[test]
        fn any_text_is_survived(text in "[-+0-9.eE]{0,40}") {
            prop_assert!(parse_nano_dollars(&text).is_none_or(|amount| amount >= 0));
        }
    }
}
