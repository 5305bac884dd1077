//! Ticks of a time axis: round steps, labels that do not touch.

use super::viewport::Viewport;

/// Steps between ticks, in milliseconds.
const STEPS: [u64; 30] = [
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    10_800_000,
    21_600_000,
    43_200_000,
    DAY,
    2 * DAY,
    7 * DAY,
    30 * DAY,
    90 * DAY,
    365 * DAY,
];
const DAY: u64 = 86_400_000;

/// A tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    /// Its cell.
    pub(super) cell: u16,
    /// Its moment.
    pub(super) at: u64,
}

/// The step between ticks that are at least `apart` cells from each other on `width` cells.
pub(super) fn step_for(view: &Viewport, width: u16, apart: u16) -> u64 {
    let span = view.range().end - view.range().start;
    let least = u128::from(span) * u128::from(apart) / u128::from(width.max(1));
    let fits = STEPS.into_iter().find(|step| u128::from(*step) >= least);
    fits.unwrap_or_else(|| u64::try_from(least).unwrap_or(u64::MAX).max(1))
}

/// The visible ticks: multiples of `step`, counted from `origin` (so that a wall clock's ticks are round too).
pub(super) fn ticks(view: &Viewport, width: u16, step: u64, origin: u64) -> Vec<Tick> {
    let range = view.range();
    let step = step.max(1);
    let first = range.start + (step - (range.start.wrapping_add(origin % step)) % step) % step;
    let most = usize::from(width) + 1;
    let moments = (0..)
        .map_while(|i: u64| first.checked_add(step.checked_mul(i)?))
        .take(most);
    moments
        .take_while(|at| *at < range.end)
        .filter_map(|at| view.cell_of(at, width).map(|cell| Tick { cell, at }))
        .collect()
}

/// The label of a moment counted from the start: `0`, `250ms`, `1.5s`, `1m30s`, `2h05m`, `3d04h`, as fine as `step`.
pub(super) fn elapsed(ms: u64, step: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    match ms {
        0 => "0".into(),
        _ if ms < 1_000 => format!("{ms}ms"),
        _ if ms < 60_000 && step.is_multiple_of(1_000) => format!("{seconds}s"),
        _ if ms < 60_000 => format!("{}s", decimals(ms, step)),
        _ if minutes < 60 && step.is_multiple_of(60_000) => format!("{minutes}m"),
        _ if minutes < 60 && step.is_multiple_of(1_000) => format!("{minutes}m{:02}s", seconds % 60),
        _ if step < 1_000 => format!("{minutes}m{:0>4}s", decimals(ms % 60_000, step)),
        _ if ms < DAY && step < 60_000 => format!("{hours}h{:02}m{:02}", minutes % 60, seconds % 60),
        _ if ms < DAY => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{}d{:02}h", hours / 24, hours % 24),
    }
}

/// Seconds with as many decimals as the step needs.
fn decimals(ms: u64, step: u64) -> String {
    let (whole, rest) = (ms / 1_000, ms % 1_000);
    match step {
        _ if step.is_multiple_of(1_000) => format!("{whole}"),
        _ if step.is_multiple_of(100) => format!("{whole}.{}", rest / 100),
        _ if step.is_multiple_of(10) => format!("{whole}.{:02}", rest / 10),
        _ => format!("{whole}.{rest:03}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        let view = Viewport::new(47_000);
        let step = step_for(&view, 80, 12);
        assert_eq!(step, 10_000);
        let labels: Vec<_> = ticks(&view, 80, step, 0)
            .iter()
            .map(|tick| elapsed(tick.at, step))
            .collect();
        assert_eq!(labels, ["0", "10s", "20s", "30s", "40s"]);
    }

    #[test]
    fn a_clock_that_starts_between_ticks_still_has_round_ones() {
        let view = Viewport::new(120_000);
        let moments: Vec<_> = ticks(&view, 60, 60_000, 25_000).iter().map(|tick| tick.at).collect();
        assert_eq!(moments, [35_000, 95_000]);
    }

    #[test]
    fn labels_are_as_fine_as_the_step() {
        assert_eq!(elapsed(250, 50), "250ms");
        assert_eq!(elapsed(1_500, 500), "1.5s");
        assert_eq!(elapsed(1_505, 5), "1.505s");
        assert_eq!(elapsed(90_000, 30_000), "1m30s");
        assert_eq!(elapsed(120_000, 60_000), "2m");
        assert_eq!(elapsed(61_200, 200), "1m01.2s");
        assert_eq!(elapsed(7_500_000, 300_000), "2h05m");
        assert_eq!(elapsed(270_000_000, DAY), "3d03h");
    }

    proptest! {
        #[test]
        fn ticks_keep_apart(total in 1u64..1 << 50, width in 0u16..300, apart in 1u16..20, origin: u64) {
            let view = Viewport::new(total);
            let step = step_for(&view, width, apart);
            let ticks = ticks(&view, width, step, origin);
            for pair in ticks.windows(2) {
                prop_assert!(pair[1].cell - pair[0].cell + 1 >= apart.min(width));
            }
        }
    }
}
