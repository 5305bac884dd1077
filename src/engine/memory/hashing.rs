//! Digests of the pickles that a session came with. A store knows values by them, and for a large session they take as
//! long as a step: so they are taken by a thread of its own, while a REPL restores the values.

use crate::repl::{Pickle, RestoreSet};
use crate::store::Digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Characters of pickles that are worth a thread.
const LARGE: usize = 1 << 20;

/// The thread that takes them.
#[derive(Debug)]
pub(super) struct Hashing(JoinHandle<Vec<(String, Digest)>>);

impl Hashing {
    /// Begins with the pickles of `set`; `None` where they are small, or there is no thread for it: they can
    /// wait until they are asked for.
    pub(super) fn begin(set: &RestoreSet) -> Option<Self> {
        let saved = set.variables.iter().filter_map(|saved| match &saved.pickle {
            Pickle::Base64(text) => Some((saved.name.clone(), Arc::clone(text))),
            Pickle::Bytes(_) => None,
        });
        let saved: Vec<_> = saved.collect();
        let all: usize = saved.iter().map(|(_, text)| text.len()).sum();
        if all <= LARGE {
            return None;
        }
        thread::Builder::new().spawn(|| digests(saved)).ok().map(Self)
    }

    /// The digests, by name, once they are all there.
    pub(super) fn done(self) -> Vec<(String, Digest)> {
        self.0.join().unwrap_or_default()
    }
}

fn digests(saved: Vec<(String, Arc<str>)>) -> Vec<(String, Digest)> {
    let mut pickle = Vec::new();
    let digest = |(name, text): (String, Arc<str>)| {
        pickle.clear();
        STANDARD.decode_vec(text.as_bytes(), &mut pickle).ok()?;
        Some((name, Digest::of(&pickle)))
    };
    saved.into_iter().filter_map(digest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::SavedVariable;

    fn saved(name: &str, text: &str) -> SavedVariable {
        SavedVariable {
            name: name.into(),
            pickle: Pickle::Base64(text.into()),
            comment: None,
            note: None,
            committed: false,
        }
    }

    #[test]
    fn large_ones_are_hashed_and_what_is_no_base64_is_left_out() {
        let pickle = vec![7; 2 << 20];
        let set = RestoreSet {
            variables: vec![
                saved("large", &STANDARD.encode(&pickle)),
                saved("broken", "!!"),
                saved("small", "aGk="),
            ],
            ..RestoreSet::default()
        };
        let done = Hashing::begin(&set).unwrap().done();
        let wanted = [
            ("large".to_owned(), Digest::of(&pickle)),
            ("small".to_owned(), Digest::of(b"hi")),
        ];
        assert_eq!(done, wanted);
    }

    #[test]
    fn small_ones_wait() {
        let set = RestoreSet {
            variables: vec![saved("small", "aGk=")],
            ..RestoreSet::default()
        };
        assert!(Hashing::begin(&set).is_none());
    }
}
