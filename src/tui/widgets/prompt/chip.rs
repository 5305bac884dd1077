//! What stands in a draft as one unit: a folded paste, an attached file.

use crate::text::{compact_count, count};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A unit of a draft that is moved over, deleted and undone as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chip {
    /// A paste that would fill the box; it is sent whole.
    Pasted {
        /// Its text, raw.
        text: Arc<str>,
        /// Its lines, counted once.
        lines: usize,
    },
    /// A file: the query's context.
    File {
        /// Where it lies.
        path: PathBuf,
        /// Its bytes when it was chosen; `None` after a restart.
        size: Option<u64>,
    },
}

impl Chip {
    /// A folded paste.
    pub(super) fn pasted(text: &str) -> Self {
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.ends_with('\n'));
        Self::Pasted {
            text: text.into(),
            lines,
        }
    }

    /// What the box shows for it, raw.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Pasted { text, lines: 0 | 1 } => format!("[pasted {} bytes]", count(text.len() as u128)),
            Self::Pasted { lines, .. } => format!("[pasted {} lines]", count(*lines as u128)),
            Self::File { path, size: None } => format!("[{}]", file_name(path)),
            Self::File { path, size: Some(size) } => {
                format!("[{} {}B]", file_name(path), compact_count(u128::from(*size)))
            }
        }
    }

    /// What is sent in its place: a paste is sent whole, a file is spoken of by its name.
    pub(super) fn sent(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Pasted { text, .. } => (&**text).into(),
            Self::File { path, .. } => file_name(path).into(),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_say_how_much_they_stand_for() {
        assert_eq!(Chip::pasted(&"x\n".repeat(1234)).label(), "[pasted 1,234 lines]");
        assert_eq!(Chip::pasted("a\nb").label(), "[pasted 2 lines]");
        assert_eq!(Chip::pasted(&"x".repeat(5000)).label(), "[pasted 5,000 bytes]");
        let file = |size| Chip::File {
            path: "data/reviews.jsonl".into(),
            size,
        };
        assert_eq!(file(Some(1_234_567)).label(), "[reviews.jsonl 1.2MB]");
        assert_eq!(file(None).label(), "[reviews.jsonl]");
        assert_eq!(file(None).sent(), "reviews.jsonl");
    }
}
