//! Rows of the `event` table: picked, and read although every column may be damaged.
//!
//! A long session has many: columns are taken by their place, and a payload is decoded where it lies.

use std::ops::RangeInclusive;

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Row, Rows, Statement};

use super::registry::Keyed;
use super::{Failure, pieces, registry, signed, unsigned};
use crate::store::{EventRow, Fact, Kind, Page, Select, Skipped, StoredEvent};

/// A page ends early after so many bytes of payloads.
pub(super) const PAGE_BYTES: usize = 8 << 20;

/// So many kinds are most of a session's rows.
const MANY_KINDS: usize = 3;

/// All columns, in the order of [`column`].
const COLUMNS: &str = "SELECT global_seq, stream_seq, id, kind, schema, time, payload, turn, step FROM event";

/// All columns of a session's events, looked up.
pub(super) fn selected() -> String {
    format!("{COLUMNS} WHERE session = ?1")
}

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

/// The statement for what `select` picks, of one kind or of all.
fn prepare<'c>(
    connection: &'c Connection,
    select: &Select,
    kind: Option<Kind>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut sql = format!("{} AND stream_seq >= ?2 AND stream_seq < ?3", selected());
    // The signs keep SQLite from other indexes than that of the turn, or of the kind: it cannot know how few rows they
    // find.
    match (kind, &select.turns) {
        (Some(_), Some(_)) => sql.push_str(" AND +kind = ?4"),
        (Some(_), None) => sql.push_str(" AND kind = ?4"),
        (None, _) => {}
    }
    match &select.turns {
        Some(turns) if turns.start() == turns.end() => sql.push_str(" AND turn = ?5"),
        Some(_) => sql.push_str(" AND turn BETWEEN ?5 AND ?6"),
        None => {}
    }
    sql.push_str(" ORDER BY stream_seq");
    connection.prepare_cached(&sql)
}

fn query<'s>(
    statement: &'s mut Statement<'_>,
    session: i64,
    select: &Select,
    kind: Option<Kind>,
) -> rusqlite::Result<Rows<'s>> {
    let (from, until) = (signed(select.from), select.until.map_or(i64::MAX, signed));
    let (first, last) = select.turns.clone().map_or((0, 0), RangeInclusive::into_inner);
    statement.raw_bind_parameter(1, session)?;
    statement.raw_bind_parameter(2, from)?;
    statement.raw_bind_parameter(3, until)?;
    let more = [
        (4, kind.map(|kind| kind.as_str().to_owned().into())),
        (5, Some(first.into())),
        (6, Some(last.into())),
    ];
    let most = statement.parameter_count();
    for (place, value) in more.into_iter().filter(|(place, _)| *place <= most) {
        let value: Option<rusqlite::types::Value> = value;
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(statement.raw_query())
}

/// The rows of a whole session as the table has them, where most rows in between are its own: looking up each by an
/// index would take longer than passing over what is not wanted. `None` where that is not so.
fn lying_together<'c>(
    connection: &'c Connection,
    session: &Keyed,
    select: &Select,
) -> rusqlite::Result<Option<(CachedStatement<'c>, i64, i64)>> {
    let of_few_kinds = (1..MANY_KINDS).contains(&select.kinds.len());
    if select.turns.is_some() || select.from > 0 || select.until.is_some() || of_few_kinds {
        return Ok(None);
    }
    let bounds = connection
        .prepare_cached(
            "SELECT (SELECT global_seq FROM event WHERE session = ?1 ORDER BY stream_seq LIMIT 1), (SELECT global_seq \
             FROM event WHERE session = ?1 ORDER BY stream_seq DESC LIMIT 1)",
        )?
        .query_row([session.number], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
    let (Some(first), Some(last)) = bounds else {
        return Ok(None);
    };
    if unsigned(last.saturating_sub(first)) > session.row.events.saturating_mul(2) {
        return Ok(None);
    }
    let kinds: Vec<String> = select.kinds.iter().map(|kind| format!("'{kind}'")).collect();
    let wanted = match kinds.is_empty() {
        true => String::new(),
        false => format!(" AND kind IN ({})", kinds.join(", ")),
    };
    let sql = format!(
        "{COLUMNS} NOT INDEXED WHERE +session = ?1 AND global_seq BETWEEN ?2 AND ?3{wanted} ORDER BY global_seq"
    );
    Ok(Some((connection.prepare_cached(&sql)?, first, last)))
}

/// Goes through the rows that `select` picks, in order, until `take` has enough. Each kind is looked up by itself and
/// the rows are merged: neither is anything else gone through, nor does SQLite sort what comes of it.
fn walk(
    connection: &Connection,
    keyed: &Keyed,
    select: &Select,
    take: &mut dyn FnMut(&Row<'_>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    if let Some((mut statement, first, last)) = lying_together(connection, keyed, select)? {
        let mut rows = statement.query((keyed.number, first, last))?;
        while let Some(row) = rows.next()? {
            if !take(row)? {
                break;
            }
        }
        return Ok(());
    }
    let session = keyed.number;
    let mut kinds: Vec<Option<Kind>> = select.kinds.iter().copied().map(Some).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        kinds.push(None);
    }
    let prepared = kinds.iter().map(|kind| prepare(connection, select, *kind));
    let mut statements = prepared.collect::<rusqlite::Result<Vec<_>>>()?;
    let opened = statements.iter_mut().zip(&kinds);
    let opened = opened.map(|(statement, kind)| Cursor::open(query(statement, session, select, *kind)?));
    let mut cursors = opened.collect::<rusqlite::Result<Vec<_>>>()?;
    while let Some(cursor) = cursors
        .iter_mut()
        .filter(|cursor| cursor.at.is_some())
        .min_by_key(|cursor| cursor.at)
    {
        if let Some(row) = cursor.rows.get()
            && !take(row)?
        {
            break;
        }
        cursor.advance()?;
    }
    Ok(())
}

/// The rows of one kind, at one of them.
struct Cursor<'s> {
    rows: Rows<'s>,
    /// Its place in the session; `None` behind the last.
    at: Option<u64>,
}

impl<'s> Cursor<'s> {
    fn open(rows: Rows<'s>) -> rusqlite::Result<Self> {
        let mut cursor = Self { rows, at: None };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> rusqlite::Result<()> {
        self.rows.advance()?;
        self.at = self
            .rows
            .get()
            .map(|row| row.get(column::STREAM_SEQ).map_or(0, unsigned));
        Ok(())
    }
}

/// One page.
pub(super) fn page(connection: &Connection, id: &str, select: &Select) -> Result<Page, Failure> {
    let session = registry::find(connection, id)?;
    let limit = select.limit.max(1);
    let (mut page, mut bytes) = (Page::default(), 0);
    walk(connection, &session, select, &mut |row| {
        if page.events.len() + page.skipped.len() == limit || bytes > PAGE_BYTES {
            page.next = Some(unsigned(row.get(column::STREAM_SEQ)?));
            return Ok(false);
        }
        match event(connection, row, &session.row.id) {
            Ok((event, size)) => {
                bytes += size;
                page.events.push(event);
            }
            Err(skipped) => page.skipped.push(skipped),
        }
        Ok(true)
    })?;
    Ok(page)
}

/// All of them, undecoded.
pub(super) fn scan(
    connection: &Connection,
    id: &str,
    select: &Select,
    take: &mut dyn FnMut(EventRow<'_>) -> bool,
) -> Result<(), Failure> {
    let session = registry::find(connection, id)?;
    walk(connection, &session, select, &mut |row| {
        let payload = text(row, column::PAYLOAD).and_then(|stored| pieces::load(connection, stored).ok());
        match payload.as_deref().map(|payload| undecoded(row, payload)) {
            Some(Ok(Some(row))) => Ok(take(row)),
            _ => Ok(true),
        }
    })
}

fn undecoded<'r>(row: &Row<'_>, payload: &'r str) -> rusqlite::Result<Option<EventRow<'r>>> {
    let Some(kind) = text(row, column::KIND).and_then(|tag| tag.parse::<Kind>().ok()) else {
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

/// The event of a row with the bytes of its payload, or why it cannot be understood.
pub(super) fn event(connection: &Connection, row: &Row<'_>, session: &str) -> Result<(StoredEvent, usize), Skipped> {
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
    let stored = text(row, column::PAYLOAD).ok_or_else(|| skip("the payload is no text".into()))?;
    let payload = &*pieces::load(connection, stored).map_err(skip)?;
    if !payload.starts_with('{') {
        return Err(skip("the payload is no JSON object".into()));
    }
    let fact = Fact::from_json(kind, payload).map_err(|error| skip(error.to_string()))?;
    let id = text(row, column::ID).ok_or_else(|| skip("the id is no text".into()))?;
    let event = StoredEvent {
        global_seq: unsigned(row.get(column::GLOBAL_SEQ).map_err(damaged)?),
        session: session.to_owned(),
        stream_seq,
        id: id.to_owned(),
        time: row.get(column::TIME).map_err(damaged)?,
        turn: row.get(column::TURN).map_err(damaged)?,
        step: row.get(column::STEP).map_err(damaged)?,
        fact,
    };
    Ok((event, payload.len()))
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Option<&'r str> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}
