//! The upkeep of a store: values that nothing needs, sessions in which nothing was asked, a state.json that is gone.

use super::target::{look_into, open, place};
use super::{Failure, print};
use crate::cli::query::Exit;
use crate::lab::{self, Source};
use crate::store::{Storage, Store};
use crate::text::plural;
use std::path::Path;

/// Shows what could be freed, or frees it.
pub(super) fn gc(dir: &Path, free: bool) -> Result<Exit, Failure> {
    look_into(dir)?;
    let store = match free {
        true => Storage::dir(dir).open()?,
        false => Store::open_read_only(dir)?,
    };
    let freed = store.flow.collect(!free)?;
    let done = if free { "freed" } else { "to be freed with --free" };
    print(&format!(
        "{}, {} {done}",
        plural(freed.values.into(), "value", "values"),
        plural(freed.bytes.into(), "byte", "bytes")
    ))?;
    Ok(Exit::Done)
}

/// Removes a session in which nothing was asked; false where something was asked meanwhile.
pub(super) fn prune(store: &Store, dir: &Path, id: &str) -> Result<bool, Failure> {
    let row = store.events.session(id)?;
    let source = Source {
        store: store.clone(),
        session: id.to_owned(),
        dir: place(dir, &row),
    };
    Ok(lab::prune(&source)?)
}

/// Writes state.json anew from the log.
pub(super) fn rebuild(session: &str, dir: &Path) -> Result<Exit, Failure> {
    let session = open(session, dir)?;
    session.rebuild()?;
    print(&format!("{}/state.json is what the log says", session.dir().display()))?;
    Ok(Exit::Done)
}
