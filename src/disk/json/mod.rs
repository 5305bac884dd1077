//! A pull scanner over JSON that comes window by window: from a slice, or from a file of any size in bounded memory.
//!
//! It is made for files that nobody vouches for. It goes past what is not asked for without keeping it, never
//! recurses, takes what can be understood (lone surrogates, unknown escapes, invalid UTF-8, `NaN`) and says that it
//! did. What it captures of values of unknown shape is their text; `serde_json` judges that.

mod clip;
mod input;
mod scanner;
mod strings;
mod value;

pub(crate) use clip::{Clip, Clipped};
pub(crate) use input::{FileInput, Input, SliceInput};
pub(crate) use scanner::{Fault, Repairs, Scanner};
pub(crate) use value::{Captured, Value};
