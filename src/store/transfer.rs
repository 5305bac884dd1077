//! Carrying a session from one store to another.

use super::{
    At, Digest, EventStore, NewEvent, NewSession, Origin, Select, SessionRow, Store, StoreError, StoredEvent, Token,
};
use crate::model::Time;

/// Copies the session `id` with its events, namespaces and parked questions into another store, under its own id or
/// `as_id`. Times, turns and event ids stay. Events that cannot be understood are not copied; their number is returned.
///
/// # Errors
///
/// [`StoreError::BadTurn`] if an event names a turn that was never started, [`StoreError::SessionExists`]; the other
/// store has no such session then.
pub fn copy_session(
    from: &Store,
    id: &str,
    to: &Store,
    as_id: Option<&str>,
    time: Time,
) -> Result<(SessionRow, usize), StoreError> {
    let page = from.events.read_all(id, &Select::all())?;
    check_turns(id, &page.events)?;
    let new = NewSession {
        origin: Origin::Imported,
        ..NewSession::named(as_id.unwrap_or(id), time)
    };
    let events: Vec<NewEvent> = page.events.into_iter().map(NewEvent::from).collect();
    let copied = to.events.import_session(&new, &events)?;
    let token = to.events.raise_token_above(&copied.id, to.flow.token(&copied.id)?)?;
    let flow = copy_flow(from, id, to, &copied.id, token);
    if let Err(error) = flow {
        remove(to.events.as_ref(), &copied.id, token);
        return Err(error);
    }
    Ok((to.events.session(&copied.id)?, page.skipped.len()))
}

/// The first error is the one to tell.
fn remove(events: &dyn EventStore, id: &str, token: Token) {
    let _ = events.remove_session(id, token);
}

fn check_turns(session: &str, events: &[StoredEvent]) -> Result<(), StoreError> {
    let mut started = std::collections::HashSet::new();
    for event in events {
        let Some(turn) = event.turn else { continue };
        if matches!(event.fact, super::Fact::TurnStarted(_)) {
            started.insert(turn);
        } else if !started.contains(&turn) {
            return Err(StoreError::BadTurn {
                session: session.to_owned(),
                turn,
            });
        }
    }
    Ok(())
}

fn copy_flow(from: &Store, id: &str, to: &Store, as_id: &str, token: Token) -> Result<(), StoreError> {
    to.flow.fence(as_id, token)?;
    for at in from.flow.points(id)? {
        copy_point(from, id, at, to, as_id, token)?;
    }
    for question in from.flow.parked(id)? {
        to.flow.park(as_id, token, &question)?;
    }
    Ok(())
}

fn copy_point(from: &Store, id: &str, at: At, to: &Store, as_id: &str, token: Token) -> Result<(), StoreError> {
    let Some(namespace) = from.flow.namespace(id, at)? else {
        return Ok(());
    };
    let digests: Vec<_> = namespace.bindings.iter().filter_map(|binding| binding.digest).collect();
    let put = |digests: Vec<Digest>| {
        let values = digests.iter().filter_map(|digest| from.flow.value(digest).transpose());
        let values: Vec<Vec<u8>> = values.collect::<Result<_, _>>()?;
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        to.flow.put_namespace(as_id, token, &namespace, &values)
    };
    match put(to.flow.missing(&digests)?) {
        // Another session of that store needed one no more, and it was freed in between.
        Err(StoreError::MissingValue { .. }) => put(digests),
        done => done,
    }
}
