//! The names of a session as they were after a step, and what the step did to them.

use super::MemoryKind;
use std::cmp::Ordering;

/// A name at one point of a session's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameAt {
    /// The name.
    pub name: String,
    /// What it is bound to.
    pub kind: MemoryKind,
    /// Python type of a value.
    pub type_name: String,
    /// Preview, source, or the reason why it could not be saved. Raw.
    pub text: String,
    /// `commit` was called on it.
    pub committed: bool,
    /// Digest of its value; equal digests are equal values.
    pub digest: Option<String>,
}

/// The names after a step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesAfter {
    /// The step as screens number it, from 1; 0 for what the run began with.
    pub step: u64,
    /// In code-point order; or why they are not known.
    pub names: Result<Vec<NameAt>, Unkept>,
}

/// Why the names at a point are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unkept {
    /// Of older runs only what they ended with is kept.
    Thinned,
    /// The step ended without its names being saved.
    NotSaved,
    /// A state.json that this program did not write was taken over before the run: the log has none of its names.
    Adopted,
}

impl Unkept {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Thinned => "the names after this step are not kept: of older runs only what they ended with is",
            Self::NotSaved => "the names after this step were not saved",
            Self::Adopted => {
                "what this run began with is not in the event log: it came from a state.json of another program"
            }
        }
    }
}

/// What a step did to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was not there before.
    Added,
    /// It was bound anew, to something else.
    Changed,
    /// It was left alone.
    Same,
    /// It is not there any more.
    Gone,
}

/// Every name of two points in code-point order, with what happened to it; one that is gone as it was before.
pub fn changes<'a>(before: &'a [NameAt], after: &'a [NameAt]) -> Vec<(Change, &'a NameAt)> {
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    let mut changes = Vec::new();
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some(old), Some(new)) => old.name.cmp(&new.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return changes,
        };
        changes.extend(match order {
            Ordering::Less => before.next().map(|old| (Change::Gone, old)),
            Ordering::Greater => after.next().map(|new| (Change::Added, new)),
            Ordering::Equal => before.next().zip(after.next()).map(compared),
        });
    }
}

fn compared<'a>((old, new): (&NameAt, &'a NameAt)) -> (Change, &'a NameAt) {
    let same_value = match (&old.digest, &new.digest) {
        (Some(one), Some(other)) => one == other,
        _ => old.text == new.text && old.digest.is_none() == new.digest.is_none(),
    };
    match same_value && old.kind == new.kind {
        true => (Change::Same, new),
        false => (Change::Changed, new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, digest: &str) -> NameAt {
        NameAt {
            name: name.into(),
            kind: MemoryKind::Variable,
            type_name: "int".into(),
            text: String::new(),
            committed: false,
            digest: (!digest.is_empty()).then(|| digest.into()),
        }
    }

    #[test]
    fn a_step_adds_changes_and_drops() {
        let before = [name("a", "1"), name("b", "1"), name("c", "1"), name("x", "")];
        let after = [name("a", "1"), name("c", "2"), name("d", "1"), name("x", "3")];
        let found: Vec<_> = changes(&before, &after)
            .into_iter()
            .map(|(change, name)| (change, name.name.as_str()))
            .collect();
        use Change::{Added, Changed, Gone, Same};
        assert_eq!(
            found,
            [(Same, "a"), (Gone, "b"), (Changed, "c"), (Added, "d"), (Changed, "x")]
        );
    }

    #[test]
    fn names_that_could_not_be_saved_are_compared_by_their_reason() {
        let (one, other) = (
            name("f", ""),
            NameAt {
                text: "too large".into(),
                ..name("f", "")
            },
        );
        assert_eq!(
            changes(std::slice::from_ref(&one), std::slice::from_ref(&one))[0].0,
            Change::Same
        );
        assert_eq!(changes(&[one], &[other])[0].0, Change::Changed);
    }
}
