//! Text as a terminal shows it: cell widths, wrapping, sanitising, and the one notation for money, durations and
//! counts. Knows nothing else of the program.

mod count;
mod duration;
mod money;
mod safe;
pub mod secret;
mod width;
mod wrap;

pub use count::{compact_count, count, plural};
pub use duration::{clock_time, date_time, duration};
pub use money::{exact_money, money, parse_nano};
pub use safe::SafeText;
pub use width::{cell_width, cut, fit};
pub use wrap::{Row, wrap_line};
