//! Text as a terminal shows it: cell widths, wrapping, sanitising, and the one notation for money, durations and counts.
//! Knows nothing else of the program.

pub mod secret;
