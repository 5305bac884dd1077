//! Rows of the `event` table: picked, and read although every column may be damaged.
//!
//! A long session has many: columns are taken by their place, and a payload is decoded where it lies.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows, Statement};

use super::{Failure, registry, signed, unsigned};
use crate::store::{EventRow, Fact, Kind, Page, Select, Skipped, StoredEvent};

/// A page ends early after so many bytes of payloads.
pub(super) const PAGE_BYTES: usize = 8 << 20;

/// All columns of a session's events, in the order of [`column`].
pub(super) const SELECTED: &str = "SELECT global_seq, stream_seq, id, kind, schema, time, payload, turn, step FROM event \
                                   WHERE session = ?1";

/// Places of the columns.
mod column {
    pub(super) const GLOBAL_SEQ: usize = 0;
    pub(super) const STREAM_SEQ: usize = 1;
    pub(super) const ID: usize = 2;
    pub(super) const KIND: usize = 3;
    pub(super) const SCHEMA: usize = 4;
    pub(super) const TIME: usize = 5;
    pub(super) const PAYLOAD: usize = 6;
    pub(super) const TURN: usize = 7;
    pub(super) const STEP: usize = 8;
}

/// The statement for what `select` picks. Kinds are words of this program: they stand in its text, so that SQLite need
/// not look them up for each row.
fn prepare<'c>(connection: &'c Connection, select: &Select) -> rusqlite::Result<rusqlite::CachedStatement<'c>> {
    let mut sql = format!("{SELECTED} AND stream_seq >= ?2 AND stream_seq < ?3");
    if !select.kinds.is_empty() {
        let kinds: Vec<String> = select.kinds.iter().map(|kind| format!("'{kind}'")).collect();
        sql.push_str(&format!(" AND kind IN ({})", kinds.join(", ")));
    }
    if select.turns.is_some() {
        sql.push_str(" AND turn BETWEEN ?5 AND ?6");
    }
    sql.push_str(" ORDER BY stream_seq LIMIT ?4");
    connection.prepare_cached(&sql)
}

fn query<'s>(
    statement: &'s mut Statement<'_>,
    session: i64,
    select: &Select,
    limit: i64,
) -> rusqlite::Result<Rows<'s>> {
    let until = select.until.map_or(i64::MAX, signed);
    match &select.turns {
        None => statement.query((session, signed(select.from), until, limit)),
        Some(turns) => {
            let turns = (i64::from(*turns.start()), i64::from(*turns.end()));
            statement.query((session, signed(select.from), until, limit, turns.0, turns.1))
        }
    }
}

/// One page.
pub(super) fn page(connection: &Connection, id: &str, select: &Select) -> Result<Page, Failure> {
    let session = registry::find(connection, id)?;
    let limit = select.limit.max(1);
    let mut statement = prepare(connection, select)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1;
    let mut rows = query(&mut statement, session.number, select, most)?;
    let (mut page, mut bytes) = (Page::default(), 0);
    while let Some(row) = rows.next()? {
        if page.events.len() + page.skipped.len() == limit || bytes > PAGE_BYTES {
            page.next = Some(unsigned(row.get(column::STREAM_SEQ)?));
            break;
        }
        bytes += size(row);
        match decode(row, &session.row.id) {
            Ok(event) => page.events.push(event),
            Err(skipped) => page.skipped.push(skipped),
        }
    }
    Ok(page)
}

fn size(row: &Row<'_>) -> usize {
    match row.get_ref(column::PAYLOAD) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 0,
    }
}

/// All of them, undecoded.
pub(super) fn scan(
    connection: &Connection,
    id: &str,
    select: &Select,
    take: &mut dyn FnMut(EventRow<'_>) -> bool,
) -> Result<(), Failure> {
    let session = registry::find(connection, id)?;
    let mut statement = prepare(connection, select)?;
    let mut rows = query(&mut statement, session.number, select, -1)?;
    while let Some(row) = rows.next()? {
        if let Ok(Some(row)) = undecoded(row)
            && !take(row)
        {
            break;
        }
    }
    Ok(())
}

fn undecoded<'r>(row: &'r Row<'_>) -> rusqlite::Result<Option<EventRow<'r>>> {
    let kind = text(row, column::KIND).and_then(|tag| tag.parse::<Kind>().ok());
    let (Some(kind), Some(payload)) = (kind, text(row, column::PAYLOAD)) else {
        return Ok(None);
    };
    let known = row.get::<_, u32>(column::SCHEMA)? <= kind.schema() && payload.starts_with('{');
    Ok(known.then_some(EventRow {
        stream_seq: unsigned(row.get(column::STREAM_SEQ)?),
        kind,
        time: row.get(column::TIME)?,
        turn: row.get(column::TURN)?,
        step: row.get(column::STEP)?,
        payload,
    }))
}

/// The event of a row, or why it cannot be understood.
pub(super) fn decode(row: &Row<'_>, session: &str) -> Result<StoredEvent, Skipped> {
    let stream_seq = row.get(column::STREAM_SEQ).map_or(0, unsigned);
    let tag = text(row, column::KIND).unwrap_or_default();
    let skip = |reason: String| Skipped {
        stream_seq,
        kind: tag.to_owned(),
        reason,
    };
    let kind: Kind = tag
        .parse()
        .map_err(|_| skip("unknown kind: made by a newer version, or damaged".into()))?;
    let damaged = |error: rusqlite::Error| skip(error.to_string());
    let schema: u32 = row.get(column::SCHEMA).map_err(damaged)?;
    if schema > kind.schema() {
        return Err(skip(format!("payload version {schema}: made by a newer version")));
    }
    let payload = text(row, column::PAYLOAD).ok_or_else(|| skip("the payload is no text".into()))?;
    if !payload.starts_with('{') {
        return Err(skip("the payload is no JSON object".into()));
    }
    let fact = Fact::from_json(kind, payload).map_err(|error| skip(error.to_string()))?;
    let id = text(row, column::ID).ok_or_else(|| skip("the id is no text".into()))?;
    Ok(StoredEvent {
        global_seq: unsigned(row.get(column::GLOBAL_SEQ).map_err(damaged)?),
        session: session.to_owned(),
        stream_seq,
        id: id.to_owned(),
        time: row.get(column::TIME).map_err(damaged)?,
        turn: row.get(column::TURN).map_err(damaged)?,
        step: row.get(column::STEP).map_err(damaged)?,
        fact,
    })
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Option<&'r str> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}
