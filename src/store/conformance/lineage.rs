//! The registry: minting, names, the latest session, removing, importing.

use super::sample::note;
use super::{Broken, Check, equal, fails};
use crate::store::payload::Cleared;
use crate::store::{EventStore, NewEvent, NewSession, Origin, Select, StoreError};

pub(super) const CASES: &[Check<dyn EventStore>] = &[
    ("an empty store has no sessions", empty),
    ("minted ids are s_<n> and never used again", minting),
    ("bad and unknown ids are told apart and create nothing", ids),
    ("the session in the root is made once", root),
    (
        "the latest session is the one appended to last, whatever the clock says",
        latest,
    ),
    ("branches are never the latest session", branches),
    ("an import is whole or absent", import),
    ("a removed session is gone", removal),
];

fn taken(error: &StoreError) -> bool {
    matches!(error, StoreError::SessionExists { .. })
}

fn mint(store: &dyn EventStore) -> Result<String, Broken> {
    Ok(store.create_session(&NewSession::minted(1))?.id)
}

fn latest_id(store: &dyn EventStore) -> Result<Option<String>, Broken> {
    Ok(store.latest_session()?.map(|row| row.id))
}

fn append(store: &dyn EventStore, id: &str, event: NewEvent) -> Result<(), Broken> {
    let token = store.raise_token(id)?;
    store.append(id, token, &[event])?;
    Ok(())
}

fn empty(store: &dyn EventStore) -> Result<(), Broken> {
    equal("sessions", store.sessions()?, vec![])?;
    equal("latest", store.latest_session()?, None)?;
    equal("last_seq", store.last_seq()?, 0)
}

fn minting(store: &dyn EventStore) -> Result<(), Broken> {
    equal("first", mint(store)?, "s_1".to_owned())?;
    equal("second", mint(store)?, "s_2".to_owned())?;
    store.create_session(&NewSession::named("s_5", 1))?;
    store.create_session(&NewSession::named("podcasts", 1))?;
    equal("after a name of that form", mint(store)?, "s_6".to_owned())?;
    let token = store.raise_token("s_6")?;
    store.remove_session("s_6", token)?;
    equal("after a removal", mint(store)?, "s_7".to_owned())?;
    for id in ["s_6", "s_5", "podcasts"] {
        fails(id, store.create_session(&NewSession::named(id, 1)), taken)?;
    }
    Ok(())
}

fn ids(store: &dyn EventStore) -> Result<(), Broken> {
    let unknown = |error: &StoreError| matches!(error, StoreError::UnknownSession { .. });
    let bad = |error: &StoreError| matches!(error, StoreError::BadSessionId { .. });
    for id in ["s_999", "nope"] {
        fails(id, store.session(id), unknown)?;
    }
    for id in ["../x", "", "a/b", ".x", "-x", "logs", "a'; DROP TABLE event; --"] {
        fails(id, store.session(id), bad)?;
        fails(id, store.create_session(&NewSession::named(id, 1)), bad)?;
    }
    equal("sessions", store.sessions()?.len(), 0)
}

fn root(store: &dyn EventStore) -> Result<(), Broken> {
    let first = store.root_session(&NewSession::in_root(1))?;
    equal("in_root", first.in_root, true)?;
    equal("again", store.root_session(&NewSession::in_root(2))?, first)?;
    fails("a second one", store.create_session(&NewSession::in_root(3)), taken)
}

fn latest(store: &dyn EventStore) -> Result<(), Broken> {
    let (a, b) = (mint(store)?, mint(store)?);
    equal("the newest, before any event", latest_id(store)?, Some(b.clone()))?;
    append(store, &a, note(1))?;
    equal("the one appended to", latest_id(store)?, Some(a.clone()))?;
    append(store, &b, NewEvent { time: -5, ..note(1) })?;
    equal("with an earlier clock", latest_id(store)?, Some(b.clone()))?;
    append(store, &a, note(1))?;
    equal("a repeated append is no activity", latest_id(store)?, Some(b.clone()))?;
    let order: Vec<String> = store.sessions()?.into_iter().map(|row| row.id).collect();
    equal("order", order, vec![b, a])
}

fn branches(store: &dyn EventStore) -> Result<(), Broken> {
    let parent = mint(store)?;
    for origin in [Origin::Fork, Origin::WhatIf] {
        let branch = store.create_session(&NewSession::branch(&parent, origin, 2))?;
        equal(
            "parent",
            (branch.parent.as_deref(), branch.origin),
            (Some(&*parent), origin),
        )?;
        append(store, &branch.id, note(1))?;
        equal("latest", latest_id(store)?, Some(parent.clone()))?;
    }
    equal("sessions", store.sessions()?.len(), 3)
}

fn import(store: &dyn EventStore) -> Result<(), Broken> {
    let clash = NewEvent {
        fact: Cleared::default().into(),
        ..note(1)
    };
    let new = NewSession {
        origin: Origin::Imported,
        ..NewSession::named("there", 5)
    };
    fails("bad batch", store.import_session(&new, &[note(1), clash]), |error| {
        matches!(error, StoreError::IdClash { .. })
    })?;
    equal("nothing was made", store.sessions()?.len(), 0)?;
    let made = store.import_session(&new, &[note(1), note(2)])?;
    equal(
        "row",
        (made.id.as_str(), made.origin, made.events),
        ("there", Origin::Imported, 2),
    )?;
    fails("twice", store.import_session(&new, &[note(3)]), taken)
}

fn removal(store: &dyn EventStore) -> Result<(), Broken> {
    let id = mint(store)?;
    append(store, &id, note(1))?;
    let token = store.raise_token(&id)?;
    store.remove_session(&id, token)?;
    let unknown = |error: &StoreError| matches!(error, StoreError::UnknownSession { .. });
    fails("row", store.session(&id), unknown)?;
    fails("events", store.read(&id, &Select::all()), unknown)?;
    fails("append", store.append(&id, token, &[note(2)]), unknown)?;
    equal("latest", store.latest_session()?, None)?;
    let root = store.root_session(&NewSession::in_root(1))?;
    let token = store.raise_token(&root.id)?;
    store.remove_session(&root.id, token)?;
    let again = store.root_session(&NewSession::in_root(2))?;
    equal("a new one in the root has a new id", again.id == root.id, false)
}
