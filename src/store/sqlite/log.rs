//! The event store on SQLite.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::database::{Database, Durability};
use super::registry::{self, Keyed};
use super::{Failure, format, signed, unsigned};
use crate::store::{
    EventStore, Fact, Kind, NewEvent, NewSession, Page, Select, SessionRow, Skipped, StoreError, StoredEvent, Token,
};

/// A page ends early after so many bytes of payloads.
const PAGE_BYTES: usize = 8 << 20;

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
        self.0.read("reading", |connection| page(connection, id, select))
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
    let mut statement = transaction.prepare_cached(
        "SELECT global_seq, stream_seq, id, kind, schema, time, payload, turn, step FROM event WHERE session = ?1 AND \
         id = ?2",
    )?;
    let found = statement
        .query_row((session.number, &event.id), |row| Ok(decode(row, &session.row.id)))
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
        ":payload": payload,
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

fn page(connection: &Connection, id: &str, select: &Select) -> Result<Page, Failure> {
    let session = registry::find(connection, id)?;
    let kinds: Vec<&str> = select.kinds.iter().map(|kind| kind.as_str()).collect();
    let kinds = serde_json::to_string(&kinds).map_err(|source| StoreError::Encode { source })?;
    let (first, last) = select
        .turns
        .clone()
        .map_or((None, None), |turns| (Some(*turns.start()), Some(*turns.end())));
    let mut statement = connection.prepare_cached(
        "SELECT global_seq, stream_seq, id, kind, schema, time, payload, turn, step FROM event WHERE session = \
         :session AND stream_seq >= :from AND (:kinds = '[]' OR kind IN (SELECT value FROM json_each(:kinds))) AND \
         (:first IS NULL OR turn BETWEEN :first AND :last) ORDER BY stream_seq LIMIT :limit",
    )?;
    let limit = select.limit.max(1);
    let mut rows = statement.query(named_params! {
        ":session": session.number,
        ":from": signed(select.from),
        ":kinds": kinds,
        ":first": first,
        ":last": last,
        ":limit": i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1,
    })?;
    let (mut page, mut bytes) = (Page::default(), 0);
    while let Some(row) = rows.next()? {
        if page.events.len() + page.skipped.len() == limit || bytes > PAGE_BYTES {
            page.next = Some(unsigned(row.get("stream_seq")?));
            break;
        }
        bytes += row
            .get_ref("payload")?
            .as_bytes_or_null()
            .ok()
            .flatten()
            .map_or(0, <[u8]>::len);
        match decode(row, &session.row.id) {
            Ok(event) => page.events.push(event),
            Err(skipped) => page.skipped.push(skipped),
        }
    }
    Ok(page)
}

/// Reads a row whose every column may be damaged.
fn decode(row: &Row<'_>, session: &str) -> Result<StoredEvent, Skipped> {
    let stream_seq = row.get("stream_seq").map_or(0, unsigned);
    let tag = text(row, "kind").unwrap_or_default();
    let skip = |reason: String| Skipped {
        stream_seq,
        kind: tag.clone(),
        reason,
    };
    let kind: Kind = tag
        .parse()
        .map_err(|_| skip("unknown kind: made by a newer version, or damaged".into()))?;
    let column = |error: rusqlite::Error| skip(error.to_string());
    let schema: u32 = row.get("schema").map_err(column)?;
    if schema > kind.schema() {
        return Err(skip(format!("payload version {schema}: made by a newer version")));
    }
    let payload = text(row, "payload").ok_or_else(|| skip("the payload is no text".into()))?;
    if !payload.starts_with('{') {
        return Err(skip("the payload is no JSON object".into()));
    }
    let fact = Fact::from_json(kind, &payload).map_err(|error| skip(error.to_string()))?;
    Ok(StoredEvent {
        global_seq: unsigned(row.get("global_seq").map_err(column)?),
        session: session.to_owned(),
        stream_seq,
        id: text(row, "id").ok_or_else(|| skip("the id is no text".into()))?,
        time: row.get("time").map_err(column)?,
        turn: row.get("turn").map_err(column)?,
        step: row.get("step").map_err(column)?,
        fact,
    })
}

fn text(row: &Row<'_>, column: &str) -> Option<String> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::payload::StepEnded;

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
