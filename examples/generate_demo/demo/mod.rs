//! The demo session as files: the winter log of a lighthouse, and eight runs over it.
//!
//! Shared by the generator and by the test that compares its output with what is committed.

mod literal;
mod pickle;
mod probe;
mod state;
mod story;
mod transcript;
mod usage;

use std::collections::BTreeMap;

/// What can go wrong: a story file that does not parse, or an instant out of range.
pub(crate) type Error = Box<dyn std::error::Error>;

/// The demo session's files, by path within its directory.
pub(crate) fn files() -> Result<BTreeMap<String, String>, Error> {
    let runs = story::runs()?;
    let mut files = BTreeMap::new();
    for run in &runs {
        files.insert(run.log_file()?, transcript::write(run)?);
    }
    files.insert("state.json".to_owned(), state::write(&runs)?);
    Ok(files)
}
