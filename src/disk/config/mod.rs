//! Configuration: which options there are, the files and variables that set them, and changing them in a file.
//!
//! One table ([`OPTIONS`]) names every option once. Reading, errors, `--help`, `fast-rlm config`, `docs/config.md` and the
//! JSON schema all come from it. What an option does is not known here.
//!
//! Precedence, the strongest first: flags (the command line's business), environment, the project's files, the user's
//! files, defaults.

mod document;
mod error;
mod layers;
mod option;
mod page;
mod places;
pub mod save;
mod schema;
mod suggest;
mod table;
mod variables;

pub use document::{Form, Node};
pub use error::ConfigError;
pub use layers::{Effective, Origin, Setting, Unknown, load, load_here, parse_nodes, read_nodes, read_small};
pub use option::{Flag, Kind, Opt, Part, is_name, model_path};
pub use page::markdown;
pub use places::{Place, Whose, places, user_dir};
pub use schema::schema;
pub use suggest::nearest;
pub use table::{OPTIONS, find};
#[cfg(feature = "engine")]
pub(crate) use variables::is_no_text;
