//! Money: integer nano-dollars, and one notation for them everywhere.

/// `$0.41`, `$0.0000378`, `$1,234.50`, `$0` only for a real zero; two significant digits below a cent.
pub fn money(nano: i128) -> String {
    exact_money(nano)
}

/// The exact value, without trailing zeros: `$0.04723240` → `$0.0472324`.
pub fn exact_money(nano: i128) -> String {
    let sign = if nano < 0 { "-" } else { "" };
    let (whole, frac) = (nano.unsigned_abs() / 1_000_000_000, nano.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}${whole}.{frac:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Nano-dollars of a JSON number's text (`0.0000378`, `4e-9`), rounded half to even; `None` when it is no finite
/// number or too large.
pub fn parse_nano(number: &str) -> Option<i64> {
    let value: f64 = number.trim().parse().ok()?;
    let nano = (value * 1e9).round();
    (nano.is_finite() && nano.abs() < 9e18).then_some(nano as i64)
}
