//! What a directory holds, to see that it did not change.

use fast_rlm::store::Digest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A digest of each file under a directory, but for what SQLite's readers share with its writers.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Digest> {
    let (mut found, mut open) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let shared = ["-wal", "-shm"].iter().any(|end| path.to_string_lossy().ends_with(end));
            match path.is_dir() {
                true => open.push(path),
                false if shared => {}
                false => drop(found.insert(path.clone(), Digest::of(&std::fs::read(path).unwrap()))),
            }
        }
    }
    found
}
