//! Durations and instants as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::time::SystemTime;

/// A duration in milliseconds: `0 ms`, `840 ms`, `12.4 s`, `3m 07s`, `2h 05m`, `3d 04h`. Rounded, never to a form
/// like `60.0 s`.
///
/// ```
/// assert_eq!(fast_rlm::text::duration(187_300), "3m 07s");
/// ```
pub fn duration(ms: u64) -> String {
    let rounded = |unit: u64| ms.saturating_add(unit / 2) / unit;
    let (tenths, seconds, minutes, hours) = (rounded(100), rounded(1_000), rounded(60_000), rounded(3_600_000));
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ if seconds < 3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ if minutes < 1_440 => format!("{}h {:02}m", minutes / 60, minutes % 60),
        _ => format!("{}d {:02}h", hours / 24, hours % 24),
    }
}

/// The same of a number of seconds that nobody measured finer: `57 s`, never `57.0 s`.
pub fn seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => duration(seconds.saturating_mul(1_000)),
    }
}

/// The time of day of an instant (unix milliseconds), in the local zone or in UTC: `14:03:27`; `?` for an instant no
/// calendar has.
pub fn clock_time(unix_ms: i64, utc: bool) -> String {
    formatted(unix_ms, utc, "%H:%M:%S")
}

/// Date and time of an instant (unix milliseconds), in the local zone or in UTC: `2026-11-29 14:03:27`; `?` for an
/// instant no calendar has.
pub fn date_time(unix_ms: i64, utc: bool) -> String {
    formatted(unix_ms, utc, "%Y-%m-%d %H:%M:%S")
}

/// What a clock shows, as an instant of the calendar; of one that is set to where no calendar reaches, the calendar's end.
pub(crate) fn instant(clock: SystemTime) -> Timestamp {
    let end = if clock < SystemTime::UNIX_EPOCH {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::try_from(clock).unwrap_or(end)
}

fn formatted(unix_ms: i64, utc: bool, format: &str) -> String {
    let zone = if utc { TimeZone::UTC } else { TimeZone::system() };
    let at = Timestamp::from_millisecond(unix_ms).map(|at| at.to_zoned_datetime(zone));
    at.map_or_else(|_| "?".into(), |at| at.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_beyond_every_calendar_is_survived() {
        let far = Duration::from_secs(400_000_000_000);
        assert_eq!(instant(SystemTime::UNIX_EPOCH + far), Timestamp::MAX);
        assert_eq!(instant(SystemTime::UNIX_EPOCH - far), Timestamp::MIN);
        let day = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
        assert_eq!(instant(day), Timestamp::from_second(86_400).unwrap());
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        for (ms, shown) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (12_449, "12.4 s"),
            (59_949, "59.9 s"),
            (59_950, "1m 00s"),
            (187_000, "3m 07s"),
            (3_599_499, "59m 59s"),
            (3_599_500, "1h 00m"),
            (7_500_000, "2h 05m"),
            (86_370_000, "1d 00h"),
            (273_600_000, "3d 04h"),
        ] {
            assert_eq!(duration(ms), shown, "{ms}");
        }
        assert!(duration(u64::MAX).ends_with('h'));
    }

    #[test]
    fn whole_seconds_have_no_fraction() {
        assert_eq!(
            [0, 57, 59, 60, 187].map(seconds),
            ["0 s", "57 s", "59 s", "1m 00s", "3m 07s"]
        );
    }

    #[test]
    fn instants_in_utc() {
        assert_eq!(date_time(1_795_956_211_985, true), "2026-11-29 12:43:31");
        assert_eq!(clock_time(1_795_956_211_985, true), "12:43:31");
        assert_eq!(clock_time(-1, true), "23:59:59");
        assert_eq!(
            (date_time(i64::MAX, true), clock_time(i64::MIN, false)),
            ("?".into(), "?".into())
        );
    }
}
