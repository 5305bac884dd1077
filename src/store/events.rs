//! The trait of event stores. Every implementation must pass `conformance::events`.

use super::{EventRow, Kind, NewEvent, NewSession, Page, Select, SessionRow, StoreError, StoredEvent, Token};

/// Rows that are looked at first for the last event of some kinds: those of a usual turn.
const LOOKED_AT_ONCE: u64 = 64;

/// An append-only log of events with a registry of its sessions. Shared by threads; calls block.
///
/// An append is one transaction: all of its events are in the log, or none. It survives the death of the process at
/// once, and a power cut as soon as it holds (or is followed by) an event whose [`Kind`](super::Kind) is durable.
pub trait EventStore: Send + Sync {
    /// Creates a session and returns its row. Ids are never used again, not even a removed session's.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadSessionId`], [`StoreError::SessionExists`] (also when a session is in the root already).
    fn create_session(&self, new: &NewSession) -> Result<SessionRow, StoreError>;

    /// Creates a session that already has `events`, in one transaction.
    ///
    /// # Errors
    ///
    /// As [`EventStore::create_session`]; nothing is created then.
    fn import_session(&self, new: &NewSession, events: &[NewEvent]) -> Result<SessionRow, StoreError>;

    /// The session that keeps its files in the storage directory itself, created if there is none: once, however many
    /// threads and processes ask.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn root_session(&self, new: &NewSession) -> Result<SessionRow, StoreError>;

    /// The row of the session `id`.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadSessionId`], [`StoreError::UnknownSession`].
    fn session(&self, id: &str) -> Result<SessionRow, StoreError>;

    /// All sessions, the most recently active one first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError>;

    /// The most recently active session; branches ([`Origin::is_branch`](super::Origin::is_branch)) do not count.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn latest_session(&self) -> Result<Option<SessionRow>, StoreError>;

    /// Removes a session and its events. Its id stays taken.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`], [`StoreError::UnknownSession`].
    fn remove_session(&self, id: &str, token: Token) -> Result<(), StoreError>;

    /// Raises the session's fencing token, to above `above` too, and returns it, durably: every earlier token fails
    /// from now on. Only for who holds the session's lock.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    fn raise_token_above(&self, id: &str, above: Token) -> Result<Token, StoreError>;

    /// [`EventStore::raise_token_above`] nothing but the session's own.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    fn raise_token(&self, id: &str) -> Result<Token, StoreError> {
        self.raise_token_above(id, Token(0))
    }

    /// Appends `events` to the session in order and returns them as stored. An event whose id is there already is not
    /// appended: the stored one is returned in its place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`] when `token` is not the session's, [`StoreError::IdClash`],
    /// [`StoreError::UnknownSession`]; nothing is appended then.
    fn append(&self, id: &str, token: Token, events: &[NewEvent]) -> Result<Vec<StoredEvent>, StoreError>;

    /// One page of a session's events, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`]. A row that cannot be understood is no error: it is in [`Page::skipped`].
    fn read(&self, id: &str, select: &Select) -> Result<Page, StoreError>;

    /// Hands each event that `select` picks to `take`, in order and undecoded, until that gives `false`: for readers
    /// that want little of much. Pages do not count; rows that cannot be understood are left out. `take` must not call
    /// the store.
    ///
    /// # Errors
    ///
    /// As [`EventStore::read`].
    fn scan(&self, id: &str, select: &Select, take: &mut dyn FnMut(EventRow<'_>) -> bool) -> Result<(), StoreError> {
        for event in self.read_all(id, select)?.events {
            let payload = event.fact.encode()?;
            let row = EventRow {
                stream_seq: event.stream_seq,
                kind: event.fact.kind(),
                time: event.time,
                turn: event.turn,
                step: event.step,
                payload: &payload,
            };
            if !take(row) {
                break;
            }
        }
        Ok(())
    }

    /// The highest `global_seq` so far, 0 before the first event: cheap to ask, to see whether something was added.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn last_seq(&self) -> Result<u64, StoreError>;

    /// The last event of these kinds (empty: of any), looked for from the end: a long session is not gone through for
    /// it.
    ///
    /// # Errors
    ///
    /// As [`EventStore::read`].
    fn last_of(&self, id: &str, kinds: &[Kind]) -> Result<Option<StoredEvent>, StoreError> {
        let (mut until, mut rows) = (self.session(id)?.events, LOOKED_AT_ONCE);
        while until > 0 {
            let from = until.saturating_sub(rows);
            let select = Select::all().only(kinds).starting(from).before(Some(until));
            let last = self.read_all(id, &select)?.events.pop();
            if last.is_some() {
                return Ok(last);
            }
            (until, rows) = (from, rows.saturating_mul(4));
        }
        Ok(None)
    }

    /// All that [`EventStore::read`] gives for `select`, page by page.
    ///
    /// # Errors
    ///
    /// As [`EventStore::read`].
    fn read_all(&self, id: &str, select: &Select) -> Result<Page, StoreError> {
        let mut all = self.read(id, select)?;
        while let Some(next) = all.next {
            let page = self.read(id, &select.clone().starting(next))?;
            all.events.extend(page.events);
            all.skipped.extend(page.skipped);
            all.next = page.next;
        }
        Ok(all)
    }
}
