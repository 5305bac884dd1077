//! Money: integer nano-dollars, and one notation for them everywhere.

use super::count::count;

/// Nano-dollars of a dollar and of a cent.
const DOLLAR: u128 = 1_000_000_000;
const CENT: u128 = 10_000_000;

/// `$0.41`, `$1,234.50`; below a cent three significant digits: `$0.0000378`; `$0` only for a real zero.
///
/// ```
/// use fast_rlm::text::money;
///
/// assert_eq!(money(47_232_400), "$0.05");
/// assert_eq!(money(4_990_000), "$0.00499");
/// ```
pub fn money(nano: i128) -> String {
    let size = nano.unsigned_abs();
    if size >= CENT {
        let cents = rounded(size, CENT);
        return format!("{}${}.{:02}", sign(nano), count(cents / 100), cents % 100);
    }
    let digits = size.checked_ilog10().map_or(0, |log| log + 1);
    let unit = 10_u128.pow(digits.saturating_sub(3));
    exact(nano, rounded(size, unit) * unit)
}

/// The exact value, without trailing zeros: `$0.0472324`, `$1,234.5`.
pub fn exact_money(nano: i128) -> String {
    exact(nano, nano.unsigned_abs())
}

fn exact(signed: i128, size: u128) -> String {
    let fraction = format!("{:09}", size % DOLLAR);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}${}{point}{fraction}", sign(signed), count(size / DOLLAR))
}

fn sign(nano: i128) -> &'static str {
    if nano < 0 { "-" } else { "" }
}

fn rounded(size: u128, unit: u128) -> u128 {
    size / unit + u128::from(size % unit >= unit.div_ceil(2))
}

/// Nano-dollars of a JSON number's text (`0.0000378`, `4e-9`), exact, rounded half to even below a nano-dollar, but to nothing only what is nothing;
/// `None` when it is no number or too large for an `i64`.
pub fn parse_nano(number: &str) -> Option<i64> {
    let number = number.trim();
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let digits = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|byte| i128::from(byte - b'0'));
    let point = i64::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(9)?;
    let size = match round_digits(digits, point)? {
        // What is there is never nothing.
        0 if (whole.bytes().chain(fraction.bytes())).any(|byte| byte != b'0') => 1,
        size => size,
    };
    i64::try_from(if negative { -size } else { size }).ok()
}

/// The number whose decimal point comes after `point` digits, rounded half to even; `None` when it is too large.
fn round_digits(digits: impl Iterator<Item = i128>, point: i64) -> Option<i128> {
    let (mut value, mut half, mut beyond, mut at) = (0_i128, 0, false, 0_i64);
    for digit in digits {
        if at < point {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else if at == point {
            half = digit;
        } else {
            beyond |= digit != 0;
        }
        at += 1;
    }
    for _ in at..point {
        if value == 0 {
            break;
        }
        value = value.checked_mul(10)?;
    }
    let up = half > 5 || half == 5 && (beyond || value % 2 == 1);
    // With more than one place before the first digit, not even half a nano-dollar is left.
    Some(value + i128::from(up && point >= 0))
}

fn parse_exponent(exponent: &str) -> Option<i64> {
    let (negative, digits) = match exponent.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Any exponent beyond this is as good as this one.
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_notation_for_all_sizes() {
        for (number, shown, exactly) in [
            ("0", "$0", "$0"),
            ("4e-9", "$0.000000004", "$0.000000004"),
            ("0.0000378", "$0.0000378", "$0.0000378"),
            ("0.000123456", "$0.000123", "$0.000123456"),
            ("0.00499", "$0.00499", "$0.00499"),
            ("0.009999", "$0.01", "$0.009999"),
            ("0.0472324", "$0.05", "$0.0472324"),
            ("0.41", "$0.41", "$0.41"),
            ("0.995", "$1.00", "$0.995"),
            ("1234.5", "$1,234.50", "$1,234.5"),
            ("-1e-9", "-$0.000000001", "-$0.000000001"),
            ("-2.5", "-$2.50", "-$2.5"),
        ] {
            let nano = i128::from(parse_nano(number).expect(number));
            assert_eq!(
                (money(nano).as_str(), exact_money(nano).as_str()),
                (shown, exactly),
                "{number}"
            );
        }
    }

    #[test]
    fn numbers_are_read_without_floats() {
        for (number, nano) in [
            ("0.1", 100_000_000),
            ("0.3", 300_000_000),
            ("1.005e0", 1_005_000_000),
            ("12E+2", 1_200_000_000_000),
            ("0.0000000005", 1),
            ("0.0000000015", 2),
            ("0.00000000050000000000000000001", 1),
            ("9e-10", 1),
            ("9e-11", 1),
            ("6e-400", 1),
            ("0e400", 0),
            ("-0", 0),
            (" 1.50 ", 1_500_000_000),
            ("9223372036.854775807", i64::MAX),
        ] {
            assert_eq!(parse_nano(number), Some(nano), "{number}");
        }
        for number in [
            "1e400",
            "9223372036.854775808",
            "",
            "-",
            ".",
            "NaN",
            "inf",
            "1e",
            "1.2.3",
            "0x1",
            "1e9999999999999999999",
        ] {
            assert_eq!(parse_nano(number), None, "{number}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_exactly_reads_back(nano: i64) {
            let shown = exact_money(i128::from(nano)).replace(['$', ','], "");
            prop_assert_eq!(parse_nano(&shown), Some(nano));
        }

        #[test]
        fn only_zero_is_shown_as_zero(nano: i128) {
            let shown = money(nano);
            prop_assert_eq!(shown.bytes().any(|byte| matches!(byte, b'1'..=b'9')), nano != 0);
        }

        #[test]
        fn any_text_is_a_number_or_none(text in "[-+0-9.eE]{0,12}") {
            prop_assert!(parse_nano(&text).is_none() || text.parse::<f64>().is_ok());
        }
    }
}
