//! Text as a terminal shows it: cell widths, wrapping, sanitising, and the one notation for money, durations and
//! counts. Knows nothing else of the program.

mod count;
mod duration;
pub mod glyphs;
mod hidden;
mod money;
mod place;
mod restart;
mod safe;
mod sanitize;
pub mod secret;
mod shared;
mod shown_json;
mod width;
mod wrap;

pub use count::{compact_count, count, cut_mark, plural};
pub(crate) use duration::instant;
pub use duration::{clock_time, date_time, duration, seconds};
pub use glyphs::{Glyphs, ascii};
pub use money::{exact_money, money, parse_nano};
pub use place::{line_and_column, parse_fault, toml_fault, without_picture};
pub use safe::SafeText;
pub use sanitize::Places;
pub use shared::Shared;
pub use shown_json::shown_json;
pub use width::{cell_width, cut, cut_left, fit, fit_right, middle_cut};
pub use wrap::{Row, wrap_line, wrap_stretch};
