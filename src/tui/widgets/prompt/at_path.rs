//! `@path` in a draft: which part of the text it is, and what it is completed to.

use super::content::Content;
use crate::source::paths::PathQuery;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An `@path` that ends at the caret. `@"…` holds one with spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AtPath {
    /// From the `@` to the caret.
    pub(super) range: Range<usize>,
    /// The directories before the last `/`, with it; empty when there is none.
    pub(super) dir: String,
    /// What is typed of the name.
    pub(super) name: String,
}

impl AtPath {
    /// The one that ends at `caret`, if there is one: an `@` at the beginning of a word, and no space since.
    pub(super) fn before(content: &Content, caret: usize) -> Option<Self> {
        let line = content.line(caret);
        let text = content.get(line.start..caret);
        let starts = text.match_indices('@').map(|(at, _)| at).rev();
        let at = starts
            .into_iter()
            .find(|at| begins_word(text.get(..*at).unwrap_or_default()))?;
        let written = text.get(at + 1..).unwrap_or_default();
        let path = match written.strip_prefix('"') {
            Some(quoted) if quoted.contains('"') => return None,
            Some(quoted) => quoted,
            None if written.contains(char::is_whitespace) => return None,
            None => written,
        };
        let has_chip = content.pieces(line.start + at..caret).len() > 1;
        if has_chip {
            return None;
        }
        let split = path.rfind(std::path::is_separator).map_or(0, |slash| slash + 1);
        let (dir, name) = path.split_at_checked(split)?;
        Some(Self {
            range: line.start + at..caret,
            dir: dir.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Where to look. Without a directory everything below the working directory counts; hidden files are asked for
    /// by a dot.
    pub(super) fn query(&self, home: Option<&Path>) -> PathQuery {
        PathQuery {
            dir: self.directory(home),
            deep: self.dir.is_empty(),
            hidden: self.name.starts_with('.'),
        }
    }

    fn directory(&self, home: Option<&Path>) -> PathBuf {
        path_of(&self.dir, home)
    }

    /// The path of an entry that was found.
    pub(super) fn path(&self, entry: &Path, home: Option<&Path>) -> PathBuf {
        self.directory(home).join(entry)
    }

    /// What is written for a directory that is entered; `None` for a name that cannot be typed.
    pub(super) fn entered(&self, entry: &Path) -> Option<String> {
        let entry = entry.to_str().filter(|name| !name.contains(['"', '\n']))?;
        let path = format!("{}{entry}/", self.dir);
        Some(match path.contains(char::is_whitespace) {
            true => format!("@\"{path}"),
            false => format!("@{path}"),
        })
    }
}

/// The path that is written; `~/` is the user's home directory.
pub(super) fn path_of(written: &str, home: Option<&Path>) -> PathBuf {
    match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(written),
    }
}

/// All words of a text that may be an `@path`, with the path as it is written; punctuation behind it is none of it.
pub(super) fn mentions(content: &Content) -> Vec<(Range<usize>, String)> {
    let text = content.text();
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let (before, rest) = (content.get(0..at), content.get(at + 1..text.len()));
        if !begins_word(before) {
            continue;
        }
        let (path, len) = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((path, _)) => (path, path.len() + 2),
            None => {
                let word = rest.split(char::is_whitespace).next().unwrap_or_default();
                let path = word.trim_end_matches([',', ';', ':', '.', '!', '?', ')', ']', '"', '\'']);
                (path, path.len())
            }
        };
        let range = at..at + 1 + len;
        let is_text = content.pieces(range.clone()).len() == 1 && content.chip_at(at).is_none();
        if !path.is_empty() && is_text {
            found.push((range, path.to_owned()));
        }
    }
    found
}

fn begins_word(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '@')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn at(text: &str) -> Option<AtPath> {
        AtPath::before(&Content::from(text), text.len())
    }

    #[rstest]
    #[case("@", "", "")]
    #[case("count @rev", "", "rev")]
    #[case("a\n(@data/re", "data/", "re")]
    #[case("@~/x/.h", "~/x/", ".h")]
    #[case("@\"my data/a b", "my data/", "a b")]
    fn paths_are_found(#[case] text: &str, #[case] dir: &str, #[case] name: &str) {
        let found = at(text).unwrap();
        assert_eq!((found.dir.as_str(), found.name.as_str()), (dir, name));
    }

    #[rstest]
    #[case("me@example.org")]
    #[case("@a b")]
    #[case("@\"a b\" c")]
    #[case("plain")]
    #[case("a@@x")]
    fn other_words_are_left_alone(#[case] text: &str) {
        assert_eq!(at(text), None);
    }

    #[test]
    fn directories_are_entered_and_spaces_are_quoted() {
        let found = at("@da").unwrap();
        assert_eq!(found.entered(Path::new("data")).as_deref(), Some("@data/"));
        assert_eq!(found.entered(Path::new("my data")).as_deref(), Some("@\"my data/"));
        assert_eq!(found.entered(Path::new("a\"b")), None);
        let home = Path::new("/home/me");
        assert_eq!(
            at("@~/x/y").unwrap().path(Path::new("yes.csv"), Some(home)),
            Path::new("/home/me/x/yes.csv")
        );
    }

    #[test]
    fn all_words_that_may_be_paths_are_found() {
        let text = "see @a.csv, (@~/b) and @\"c d\"; not me@x.org, @ or @!";
        let found: Vec<_> = mentions(&Content::from(text))
            .into_iter()
            .map(|(range, path)| (&text[range], path))
            .collect();
        let expected = [("@a.csv", "a.csv"), ("@~/b", "~/b"), ("@\"c d\"", "c d")];
        assert_eq!(found, expected.map(|(text, path)| (text, path.to_owned())));
    }

    #[test]
    fn hidden_files_are_asked_for_by_a_dot() {
        assert!(at("@.").unwrap().query(None).hidden && !at("@x").unwrap().query(None).hidden);
        assert!(at("@x").unwrap().query(None).deep && !at("@d/x").unwrap().query(None).deep);
    }
}
