//! Counts with separators, compact counts, and plurals.

/// Powers of a thousand, by their SI prefixes.
const UNITS: [&str; 10] = ["k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];

/// `166,708`.
pub fn count(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// At most five cells: `999`, `12.3k`, `167k`, `4.1M`, `2.0G`.
///
/// ```
/// assert_eq!(fast_rlm::text::compact_count(166_708), "167k");
/// ```
pub fn compact_count(n: u128) -> String {
    if n < 1_000 {
        return n.to_string();
    }
    let mut unit: u128 = 1;
    for name in UNITS {
        unit *= 1_000;
        let tenths = n.saturating_add(unit / 20) / (unit / 10);
        if tenths < 1_000 {
            return format!("{}.{}{name}", tenths / 10, tenths % 10);
        }
        let whole = n.saturating_add(unit / 2) / unit;
        if whole < 1_000 {
            return format!("{whole}{name}");
        }
    }
    ">999Q".into()
}

/// `1 step`, `8 steps`.
pub fn plural(n: u128, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// The mark that stands where something was left out of a text of so many bytes.
pub fn cut_mark(total: u64) -> String {
    format!("…[cut: {} bytes in all]…", count(u128::from(total)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn separates_thousands() {
        assert_eq!([0, 999, 1_000, 166_708].map(count), ["0", "999", "1,000", "166,708"]);
    }

    #[test]
    fn rounds_to_the_next_unit() {
        for (n, shown) in [
            (1_000, "1.0k"),
            (12_345, "12.3k"),
            (99_949, "99.9k"),
            (99_950, "100k"),
            (166_708, "167k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (4_100_000, "4.1M"),
            (2_000_000_000, "2.0G"),
            (1 << 60, "1.2E"),
            (u128::MAX, ">999Q"),
        ] {
            assert_eq!(compact_count(n), shown, "{n}");
        }
    }

    #[test]
    fn plurals() {
        assert_eq!(
            [0, 1, 1_200].map(|n| plural(n, "step", "steps")),
            ["0 steps", "1 step", "1,200 steps"]
        );
    }

    proptest! {
        #[test]
        fn compact_counts_stay_compact(n: u128, shift in 0u32..128) {
            prop_assert!(compact_count(n >> shift).len() <= 5);
        }
    }
}
