//! The event store on SQLite.

use std::path::Path;

use rusqlite::{OptionalExtension, Transaction, named_params};

use super::database::{Database, Durability};
use super::registry::{self, Keyed};
use super::{Failure, format, pieces, rows, signed, unsigned};
use crate::store::{
    EventRow, EventStore, NewEvent, NewSession, Page, Select, SessionRow, StoreError, StoredEvent, Token,
};

/// `events.db`, or the same tables in memory.
pub struct SqliteEvents(Database);

impl SqliteEvents {
    /// Opens the file for writing, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::StoreTooNew`], [`StoreError::NotAStore`] (the file was not touched then), and the file system's.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Database::open(path, &format::EVENTS).map(Self)
    }

    /// Opens the file for reading. Appends fail; no byte of the file changes.
    ///
    /// # Errors
    ///
    /// As [`SqliteEvents::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Database::open_read_only(path, &format::EVENTS).map(Self)
    }

    /// An empty store for reading: what a file that is not there reads as.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn absent() -> Result<Self, StoreError> {
        Database::absent(&format::EVENTS).map(Self)
    }

    /// An empty store in memory.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn in_memory() -> Result<Self, StoreError> {
        Database::in_memory(&format::EVENTS).map(Self)
    }
}

impl EventStore for SqliteEvents {
    fn create_session(&self, new: &NewSession) -> Result<SessionRow, StoreError> {
        self.import_session(new, &[])
    }

    fn import_session(&self, new: &NewSession, events: &[NewEvent]) -> Result<SessionRow, StoreError> {
        self.0
            .write("creating a session in", Durability::Process, |transaction| {
                let session = registry::create(transaction, new)?;
                let id = session.row.id.clone();
                append(transaction, session, events)?;
                Ok(registry::find(transaction, &id)?.row)
            })
    }

    fn root_session(&self, new: &NewSession) -> Result<SessionRow, StoreError> {
        self.0
            .write("creating a session in", Durability::Process, |transaction| {
                if let Some(found) = registry::in_root(transaction)? {
                    return Ok(found);
                }
                let new = NewSession {
                    in_root: true,
                    ..new.clone()
                };
                Ok(registry::create(transaction, &new)?.row)
            })
    }

    fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.0
            .read("reading", |connection| Ok(registry::find(connection, id)?.row))
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.0.read("reading", registry::by_activity)
    }

    fn latest_session(&self) -> Result<Option<SessionRow>, StoreError> {
        self.0.read("reading", registry::latest)
    }

    fn remove_session(&self, id: &str, token: Token) -> Result<(), StoreError> {
        self.0
            .write("removing a session from", Durability::Process, |transaction| {
                registry::remove(transaction, id, token)
            })
    }

    fn raise_token_above(&self, id: &str, above: Token) -> Result<Token, StoreError> {
        self.0
            .write("taking over a session of", Durability::Power, |transaction| {
                registry::raise(transaction, id, above)
            })
    }

    fn append(&self, id: &str, token: Token, events: &[NewEvent]) -> Result<Vec<StoredEvent>, StoreError> {
        let durable = events.iter().any(|event| event.fact.kind().is_durable());
        let durability = if durable {
            Durability::Power
        } else {
            Durability::Process
        };
        self.0.write("appending to", durability, |transaction| {
            let session = registry::find(transaction, id)?;
            registry::check_token(&session.row, token)?;
            append(transaction, session, events)
        })
    }

    fn read(&self, id: &str, select: &Select) -> Result<Page, StoreError> {
        self.0.read("reading", |connection| rows::page(connection, id, select))
    }

    fn scan(&self, id: &str, select: &Select, take: &mut dyn FnMut(EventRow<'_>) -> bool) -> Result<(), StoreError> {
        self.0
            .read("reading", |connection| rows::scan(connection, id, select, take))
    }

    fn last_seq(&self) -> Result<u64, StoreError> {
        self.0.read("reading", |connection| {
            let last = connection
                .prepare_cached("SELECT coalesce(max(global_seq), 0) FROM event")?
                .query_row([], |row| row.get(0))?;
            Ok(unsigned(last))
        })
    }
}

fn append(transaction: &Transaction<'_>, session: Keyed, events: &[NewEvent]) -> Result<Vec<StoredEvent>, Failure> {
    let mut next = session.row.events;
    let mut stored = Vec::with_capacity(events.len());
    for event in events {
        let there = find_event(transaction, &session, event)?;
        stored.push(match there {
            Some(there) => there,
            None => {
                let inserted = insert(transaction, &session, next, event)?;
                next += 1;
                inserted
            }
        });
    }
    if next > session.row.events {
        let mut statement = transaction.prepare_cached(
            "UPDATE session SET events = ?2, active = ?3, last_seq = (SELECT max(global_seq) FROM event) WHERE number \
             = ?1",
        )?;
        let active = events.last().map_or(session.row.active, |event| event.time);
        statement.execute((session.number, signed(next), active))?;
    }
    Ok(stored)
}

fn find_event(
    transaction: &Transaction<'_>,
    session: &Keyed,
    event: &NewEvent,
) -> Result<Option<StoredEvent>, Failure> {
    let sql = format!("{} AND id = ?2", rows::selected());
    let found = transaction
        .prepare_cached(&sql)?
        .query_row((session.number, &event.id), |row| {
            Ok(rows::event(transaction, row, &session.row.id).map(|(event, _)| event))
        })
        .optional()?;
    let clash = || StoreError::IdClash {
        session: session.row.id.clone(),
        id: event.id.clone(),
    };
    match found {
        None => Ok(None),
        Some(Ok(there)) if there.fact.kind() == event.fact.kind() => Ok(Some(there)),
        Some(_) => Err(clash().into()),
    }
}

fn insert(
    transaction: &Transaction<'_>,
    session: &Keyed,
    stream_seq: u64,
    event: &NewEvent,
) -> Result<StoredEvent, Failure> {
    let payload = event.fact.encode()?;
    let kind = event.fact.kind();
    let mut statement = transaction.prepare_cached(
        "INSERT INTO event (session, stream_seq, id, kind, schema, time, payload, turn, step) VALUES (:session, \
         :stream_seq, :id, :kind, :schema, :time, :payload, :turn, :step)",
    )?;
    statement.execute(named_params! {
        ":session": session.number,
        ":stream_seq": signed(stream_seq),
        ":id": event.id,
        ":kind": kind.as_str(),
        ":schema": kind.schema(),
        ":time": event.time,
        ":payload": pieces::store(transaction, kind, &payload)?,
        ":turn": event.turn,
        ":step": event.step,
    })?;
    Ok(StoredEvent {
        global_seq: unsigned(transaction.last_insert_rowid()),
        session: session.row.id.clone(),
        stream_seq,
        id: event.id.clone(),
        time: event.time,
        turn: event.turn,
        step: event.step,
        fact: event.fact.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::payload::StepEnded;
    use crate::store::sqlite::rows::PAGE_BYTES;

    fn step(number: u32, output: &str) -> NewEvent {
        let ended = StepEnded {
            output: output.to_owned(),
            ..StepEnded::default()
        };
        NewEvent::of_step(0, number, 1, ended.into())
    }

    #[test]
    fn a_full_disk_keeps_the_step_before_and_the_retry_works_once_there_is_space() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteEvents::open(&dir.path().join("events.db")).unwrap();
        let id = store.create_session(&NewSession::minted(1)).unwrap().id;
        let token = store.raise_token(&id).unwrap();
        store.append(&id, token, &[step(0, "first")]).unwrap();
        let limit = |pages: i64| {
            store.0.maintain("limiting", |connection| {
                connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            })
        };
        limit(1).unwrap(); // SQLite takes the present size for it.

        let large = [step(1, &"x".repeat(100_000))];
        let error = store.append(&id, token, &large).unwrap_err();
        let StoreError::Io { source, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        assert!(
            error.to_string().contains("events.db") && error.to_string().contains("free some space"),
            "{error}"
        );
        assert_eq!(store.session(&id).unwrap().events, 1);

        limit(1_000_000).unwrap();
        store.append(&id, token, &large).unwrap();
        assert_eq!(store.read(&id, &Select::all()).unwrap().events.len(), 2);
    }

    #[test]
    fn a_page_ends_before_it_grows_too_large() {
        let store = SqliteEvents::in_memory().unwrap();
        let id = store.create_session(&NewSession::minted(1)).unwrap().id;
        let token = store.raise_token(&id).unwrap();
        let output = "x".repeat(PAGE_BYTES / 2 + 1);
        for number in 0..3 {
            store.append(&id, token, &[step(number, &output)]).unwrap();
        }
        let page = store.read(&id, &Select::all()).unwrap();
        assert_eq!((page.events.len(), page.next), (2, Some(2)));
        assert_eq!(store.read_all(&id, &Select::all()).unwrap().events.len(), 3);
    }
}
