//! Clocks of a Python whose clocks cannot be set: `python3` shows the time as it is, and not as it was recorded.

use super::report::Mismatch;
use crate::repl::Backend;

/// What reads a clock, or holds what does.
const CLOCKS: [&str; 10] = [
    "time",
    "datetime",
    "date",
    "now",
    "today",
    "monotonic",
    "perf_counter",
    "time_ns",
    "strftime",
    "uuid1",
];

/// Whether a step may come out differently because of the time: it names a clock, and cannot be shown the recorded one.
pub(super) fn differ(backend: Backend, code: Option<&str>) -> bool {
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    let names = |code: &str| code.split(|char| !is_name(char)).any(|word| CLOCKS.contains(&word));
    backend == Backend::Python3 && code.is_some_and(names)
}

/// A mismatch with what may be its reason.
pub(super) fn explain(mismatch: Mismatch) -> Mismatch {
    Mismatch {
        what: format!(
            "{} (the step names a clock, and python3 shows the time of now)",
            mismatch.what
        ),
        ..mismatch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_step_that_names_a_clock_there_is_in_doubt() {
        let reads = "import time\nprint(time.time())";
        assert!(differ(Backend::Python3, Some(reads)));
        assert!(!differ(Backend::Sandbox, Some(reads)), "its clocks are as recorded");
        assert!(!differ(Backend::Python3, Some("runtime = times + 1")));
        assert!(!differ(Backend::Python3, None));
    }
}
