//! Values as writers meant them: counts, flags and instants from whatever JSON they were put into, and what was odd.

use crate::model::{Cost, Time};
use crate::text::parse_nano;

use super::json::Value;

/// Numbers below this are seconds since the epoch, not milliseconds: as milliseconds they would lie in 1970.
const SECONDS_BELOW: f64 = 1e11;

/// Something that was taken, with what was odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken<T> {
    pub(crate) value: T,
    pub(crate) odd: Option<&'static str>,
}

impl<T> Taken<T> {
    fn clean(value: T) -> Self {
        Self { value, odd: None }
    }

    fn odd(value: T, what: &'static str) -> Self {
        Self { value, odd: Some(what) }
    }
}

/// A count: `12`; `12.0` and `"12"` count too, and everything else is unknown.
pub(crate) fn count(value: Value<'_>) -> Taken<Option<u64>> {
    match value {
        Value::Null => Taken::clean(None),
        Value::Number(text) => match text.parse() {
            Ok(number) => Taken::clean(Some(number)),
            Err(_) => whole(text),
        },
        Value::Text(text) => {
            let inner = text.trim();
            let number = inner.parse().ok().or_else(|| whole(inner).value);
            let what = match number {
                Some(_) => "a number as a string; read as the number",
                None => "a string that is no count; taken as unknown",
            };
            Taken::odd(number, what)
        }
        Value::Bool(_) | Value::Nested => Taken::odd(None, "no number; taken as unknown"),
    }
}

/// A count that is not written as one: `12.0` and `1.2e1` are whole numbers all the same.
fn whole(text: &str) -> Taken<Option<u64>> {
    /// Largest number up to which every whole one has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match text.parse::<f64>() {
        Ok(number) if number < 0.0 => Taken::odd(None, "a negative count; taken as unknown"),
        Ok(number) if number <= EXACT && number.fract() == 0.0 => Taken::clean(Some(number as u64)),
        Ok(number) if number.fract() == 0.0 || number.is_infinite() => {
            Taken::odd(None, "a number out of range; taken as unknown")
        }
        Ok(_) => Taken::odd(None, "no whole number; taken as unknown"),
        Err(_) => Taken::odd(None, "no number; taken as unknown"),
    }
}

/// A cost in dollars, exact; unknown when absent, null, or no number.
pub(crate) fn cost(value: Value<'_>) -> Taken<Cost> {
    let known = |text: &str| parse_nano(text).map_or(Cost::Unknown, Cost::Known);
    match value {
        Value::Null => Taken::clean(Cost::Unknown),
        Value::Number(text) => match known(text) {
            Cost::Unknown => Taken::odd(Cost::Unknown, "no cost that can be counted; taken as unknown"),
            Cost::Known(nano) if nano < 0 => Taken::odd(Cost::Known(nano), "a negative cost; counted as it is"),
            cost => Taken::clean(cost),
        },
        Value::Text(text) => match known(text) {
            Cost::Unknown => Taken::odd(Cost::Unknown, "a string that is no cost; taken as unknown"),
            cost => Taken::odd(cost, "a number as a string; read as the number"),
        },
        Value::Bool(_) | Value::Nested => Taken::odd(Cost::Unknown, "no number; taken as unknown"),
    }
}

/// An instant: ISO 8601 with or without a zone (UTC then), or a number of milliseconds, or of seconds.
pub(crate) fn instant(value: Value<'_>) -> Taken<Option<Time>> {
    const NONE: &str = "no instant; taken as unknown";
    match value {
        Value::Null => Taken::clean(None),
        Value::Number(text) => match epoch(text) {
            None => Taken::odd(None, NONE),
            time => Taken::clean(time),
        },
        Value::Text(text) => match written(text.trim()) {
            None => Taken::odd(None, NONE),
            time => Taken::clean(time),
        },
        Value::Bool(_) | Value::Nested => Taken::odd(None, NONE),
    }
}

fn epoch(text: &str) -> Option<Time> {
    let number: f64 = text.parse().ok()?;
    let ms = if number.abs() < SECONDS_BELOW {
        number * 1000.0
    } else {
        number
    };
    let ms = ms.is_finite().then_some(ms.round() as i64)?;
    jiff::Timestamp::from_millisecond(ms).is_ok().then_some(ms)
}

fn written(text: &str) -> Option<Time> {
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_millisecond());
    }
    if let Ok(local) = text.parse::<jiff::civil::DateTime>() {
        let at = jiff::tz::TimeZone::UTC.to_timestamp(local).ok()?;
        return Some(at.as_millisecond());
    }
    epoch(text)
}

/// A flag; what is no flag is false.
pub(crate) fn flag(value: Value<'_>) -> Taken<bool> {
    match value {
        Value::Bool(flag) => Taken::clean(flag),
        Value::Null => Taken::clean(false),
        Value::Number(text) => Taken::odd(text.parse::<f64>().is_ok_and(|n| n != 0.0), "a number as a flag"),
        Value::Text(text) => Taken::odd(text.eq_ignore_ascii_case("true"), "a string as a flag"),
        Value::Nested => Taken::odd(false, "no flag; taken as false"),
    }
}

/// A text; numbers and flags as they are written.
pub(crate) fn text(value: Value<'_>) -> Taken<Option<String>> {
    match value {
        Value::Null => Taken::clean(None),
        Value::Text(text) => Taken::clean(Some(text.to_owned())),
        Value::Number(text) => Taken::odd(Some(text.to_owned()), "a number where text belongs; read as text"),
        Value::Bool(flag) => Taken::odd(Some(flag.to_string()), "a flag where text belongs; read as text"),
        Value::Nested => Taken::odd(None, "an array or object where text belongs; left out"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_writers_meant_them() {
        let number = |text| count(Value::Number(text));
        assert_eq!(number("18446744073709551615"), Taken::clean(Some(u64::MAX)));
        assert_eq!(number("12.0"), Taken::clean(Some(12)));
        assert_eq!(count(Value::Text("12")).value, Some(12));
        for unknown in [
            "123456789012345678901234567890",
            "1e400",
            "-1",
            "-0.5",
            "1.5",
            "NaN",
            "Infinity",
            "x",
        ] {
            assert_eq!(number(unknown).value, None, "{unknown}");
            assert!(number(unknown).odd.is_some(), "{unknown}");
        }
        assert_eq!(count(Value::Null), Taken::clean(None));
    }

    #[test]
    fn costs_are_exact_or_unknown() {
        let number = |text| cost(Value::Number(text)).value;
        assert_eq!(number("0.04723240"), Cost::Known(47_232_400));
        assert_eq!(number("0"), Cost::Known(0));
        assert_eq!(number("-1e-9"), Cost::Known(-1));
        assert_eq!(number("1e400"), Cost::Unknown);
        assert_eq!(number("NaN"), Cost::Unknown);
        assert_eq!(cost(Value::Text("0.5")).value, Cost::Known(500_000_000));
        assert_eq!(cost(Value::Null), Taken::clean(Cost::Unknown));
    }

    #[test]
    fn instants_in_every_form_are_the_same() {
        let iso = [
            "2026-11-29T12:00:00.500Z",
            "2026-11-29T14:00:00.5+02:00",
            "2026-11-29T12:00:00.500",
            "1795953600500",
        ];
        for text in iso {
            assert_eq!(instant(Value::Text(text)).value, Some(1_795_953_600_500), "{text}");
        }
        assert_eq!(instant(Value::Number("1795953600500")).value, Some(1_795_953_600_500));
        assert_eq!(instant(Value::Number("1795953600.5")).value, Some(1_795_953_600_500));
        for none in ["1e400", "99999999999999999999", "NaN"] {
            assert_eq!(instant(Value::Number(none)).value, None, "{none}");
        }
        assert_eq!(instant(Value::Text("yesterday")).value, None);
    }
}
