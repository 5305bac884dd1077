//! Carrying a session from one store to another.

use super::{
    At, Digest, Fact, NewEvent, NewSession, Origin, Page, Select, SessionRow, SessionWriter, Store, StoreError,
    StoredEvent, Token,
};
use crate::model::Time;
use std::collections::HashSet;

/// Bytes of one namespace's values, before compression, that are carried over: what a REPL could hold and more.
const LARGEST_NAMESPACE: u64 = 1 << 30;

/// How a session is copied.
pub struct Copying<'a> {
    /// Its id in the other store; its own unless given.
    pub as_id: Option<&'a str>,
    /// When.
    pub time: Time,
    /// A copy of it into the other store was cut before it was whole: what is there already stays.
    pub goes_on: bool,
    /// Changes each event's fact on its way.
    pub change: &'a dyn Fn(&mut Fact),
}

/// Copies the session `id` with its events, namespaces and parked questions into another store, under its own id or
/// `as_id`.
///
/// # Errors
///
/// As [`Copying::copy`].
pub fn copy_session(
    from: &Store,
    id: &str,
    to: &Store,
    as_id: Option<&str>,
    time: Time,
) -> Result<(SessionRow, usize), StoreError> {
    let copying = Copying {
        as_id,
        time,
        goes_on: false,
        change: &|_| (),
    };
    copying.copy(from, id, to)
}

impl Copying<'_> {
    /// Copies the session `id` with its events, namespaces and parked questions into another store. Times, turns and
    /// event ids stay. Events that cannot be understood are not copied; their number is returned.
    ///
    /// Everything is looked at before anything is written, and no more than a page of it is held at a time: the session
    /// may be a stranger's.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadTurn`] if an event names a turn that was never started, [`StoreError::TooLarge`],
    /// [`StoreError::SessionExists`]; the other store has no such session then.
    pub fn copy(&self, from: &Store, id: &str, to: &Store) -> Result<(SessionRow, usize), StoreError> {
        let skipped = check(from, id)?;
        let copied = self.row(to, self.as_id.unwrap_or(id))?;
        let row = self.fill(from, id, to, &copied.id);
        // The first error is the one to tell.
        let row = row.inspect_err(|_| drop(remove_session(to, &copied.id)))?;
        Ok((row, skipped))
    }

    fn fill(&self, from: &Store, id: &str, to: &Store, as_id: &str) -> Result<SessionRow, StoreError> {
        let token = SessionWriter::take_over(to, as_id)?.token();
        // Events last: a session that has them all is whole.
        copy_flow(from, id, to, as_id, token)?;
        self.copy_events(from, id, to, as_id, token)?;
        to.events.session(as_id)
    }

    /// The session's row in the other store.
    fn row(&self, to: &Store, id: &str) -> Result<SessionRow, StoreError> {
        let begun = |row: &SessionRow| row.origin == Origin::Imported && !row.in_root;
        if self.goes_on
            && let Some(row) = to.events.session(id).ok().filter(begun)
        {
            return Ok(row);
        }
        to.events.create_session(&NewSession {
            origin: Origin::Imported,
            ..NewSession::named(id, self.time)
        })
    }

    fn copy_events(&self, from: &Store, id: &str, to: &Store, as_id: &str, token: Token) -> Result<(), StoreError> {
        pages(from, id, |page| {
            let mut events: Vec<NewEvent> = page.events.into_iter().map(NewEvent::from).collect();
            events.iter_mut().for_each(|event| (self.change)(&mut event.fact));
            to.events.append(as_id, token, &events).map(drop)
        })
    }
}

/// Removes a session's part of the log and its namespaces. Only for who holds its lock, or where it has no directory.
pub(crate) fn remove_session(store: &Store, id: &str) -> Result<(), StoreError> {
    let token = SessionWriter::take_over(store, id)?.token();
    store.flow.forget(id, token)?;
    store.events.remove_session(id, token)
}

/// Whether each event names a turn that was started before it, and each value is what it says; how many events cannot
/// be understood.
fn check(from: &Store, id: &str) -> Result<usize, StoreError> {
    let (mut started, mut skipped) = (HashSet::new(), 0);
    pages(from, id, |page| {
        skipped += page.skipped.len();
        page.events
            .iter()
            .try_for_each(|event| check_turn(id, event, &mut started))
    })?;
    for at in from.flow.points(id)? {
        check_point(from, id, at)?;
    }
    Ok(skipped)
}

fn check_turn(session: &str, event: &StoredEvent, started: &mut HashSet<u32>) -> Result<(), StoreError> {
    match event.turn {
        Some(turn) if matches!(event.fact, Fact::TurnStarted(_)) => drop(started.insert(turn)),
        Some(turn) if !started.contains(&turn) => {
            return Err(StoreError::BadTurn {
                session: session.to_owned(),
                turn,
            });
        }
        _ => {}
    }
    Ok(())
}

fn check_point(from: &Store, id: &str, at: At) -> Result<(), StoreError> {
    let bindings = from
        .flow
        .namespace(id, at)?
        .map(|namespace| namespace.bindings)
        .unwrap_or_default();
    let bytes = bindings
        .iter()
        .map(|binding| binding.bytes)
        .fold(0, u64::saturating_add);
    match bytes > LARGEST_NAMESPACE {
        true => Err(StoreError::TooLarge {
            session: id.to_owned(),
            bytes,
            most: LARGEST_NAMESPACE,
        }),
        false => Ok(()),
    }
}

/// Gives each page of a session's events to `take`.
fn pages(from: &Store, id: &str, mut take: impl FnMut(Page) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let mut select = Select::all();
    loop {
        let page = from.events.read(id, &select)?;
        let next = page.next;
        take(page)?;
        match next {
            Some(next) => select = select.starting(next),
            None => return Ok(()),
        }
    }
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
