//! What a session remembered at an earlier moment, from its log.

use super::journal::{PROJECTED, ProjectError, Projection};
use super::memory::SessionMemory;
use crate::disk::state_doc::StateDoc;
use crate::repl::RestoreSet;
use crate::store::{Select, Store};

/// What state.json held, or would have held, before the event `before` (a `stream_seq`); `None`: what it holds now.
///
/// # Errors
///
/// Those of the store, and what is recorded there but is no state.
pub fn memory_before(store: &Store, session: &str, before: Option<u64>) -> Result<StateDoc, ProjectError> {
    let mut projection = Projection::new(StateDoc::default(), None);
    let mut select = Select::all().only(&PROJECTED).before(before);
    loop {
        let page = store.events.read(session, &select)?;
        page.events.into_iter().try_for_each(|event| projection.apply(event))?;
        match page.next {
            Some(next) => select = select.starting(next),
            None => return projection.into_doc(store, session),
        }
    }
}

/// What a fresh REPL is given back of a memory.
pub fn restore_set(doc: StateDoc) -> RestoreSet {
    SessionMemory::of_doc(doc).restore_set()
}
