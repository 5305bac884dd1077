//! What tests of the library's sessions share: a scripted model, and a look at all bytes of a directory.

use async_trait::async_trait;
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::store::Digest;
use fast_rlm::{Config, Person, Question, Session};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model that runs, whatever it is asked, the part of one program that is for the query.
const MODEL: &str = r#"
rules:
  - when: {}
    at_end: last
    replies:
      - code: |
          if context == "bind":
              letters = ["a", "b"]  # in order
              commit("letters", note="two of them")
              stream = (letter for letter in letters)
              def double(letter):
                  return letter * 2
              FINAL("bound")
          elif context == "for ever":
              import asyncio
              await asyncio.sleep(3600)
          elif context == "use":
              FINAL(letters)
          elif context == "is it there":
              FINAL("letters" in globals())
          elif context == "count":
              counted = 0
              FINAL(counted)
          elif context == "and on":
              counted += 1
              FINAL(counted)
          elif context == "book":
              try:
                  answer = await ask("Book the 7:40?", options=["yes", "no"])
              except RuntimeError:
                  answer = "nobody"
              FINAL(answer)
          elif context == "environment":
              import os
              print(os.environ["TOKEN"])
              FINAL(len(os.environ["TOKEN"]))
"#;

pub(crate) fn config() -> Config {
    let scripted = Scripted::from_yaml(MODEL, &Settings::default()).unwrap();
    Config::default().provider(Arc::new(scripted))
}

/// The session `s` in `dir`.
pub(crate) fn session_in(dir: &Path) -> Session {
    Session::open(dir, "s").unwrap().config(config())
}

/// Says no.
pub(crate) struct SaysNo;

#[async_trait]
impl Person for SaysNo {
    async fn ask(&self, _question: &Question) -> Option<String> {
        Some("no".into())
    }
}

/// All files under `dir` with what they hold.
pub(crate) fn bytes_of(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    found
}

/// A digest of each file under a directory, but for what SQLite's readers share with its writers.
#[derive(Debug, PartialEq)]
pub(crate) struct Digests(BTreeMap<PathBuf, Digest>);

impl Digests {
    pub(crate) fn of(dir: &Path) -> Self {
        let shared = |path: &Path| path.to_string_lossy().ends_with("-wal") || path.to_string_lossy().ends_with("-shm");
        let files = bytes_of(dir).into_iter().filter(|(path, _)| !shared(path));
        Self(files.map(|(path, bytes)| (path, Digest::of(&bytes))).collect())
    }
}
