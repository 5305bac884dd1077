//! Rows of the `session` table: minting, finding, ordering, removing.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::{Failure, pieces, signed, unsigned};
use crate::store::session_id::{check, minted_number};
use crate::store::{NewSession, Origin, SessionRow, StoreError, Token};

const COLUMNS: &str = "number, id, origin, parent, in_root, created, active, events, token";

/// A session with its internal key.
pub(super) struct Keyed {
    pub(super) number: i64,
    pub(super) row: SessionRow,
}

fn keyed(row: &Row<'_>) -> rusqlite::Result<Keyed> {
    let number = row.get("number")?;
    let row = SessionRow {
        id: row.get("id")?,
        origin: Origin::parse(&row.get::<_, String>("origin")?),
        parent: row.get("parent")?,
        in_root: row.get("in_root")?,
        created: row.get("created")?,
        active: row.get("active")?,
        events: unsigned(row.get("events")?),
        token: Token(unsigned(row.get("token")?)),
    };
    Ok(Keyed { number, row })
}

fn query(connection: &Connection, rest: &str, id: Option<&str>) -> Result<Vec<Keyed>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM session WHERE NOT removed {rest}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = match id {
        Some(id) => statement.query_map([id], keyed)?,
        None => statement.query_map([], keyed)?,
    };
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The session `id`.
pub(super) fn find(connection: &Connection, id: &str) -> Result<Keyed, Failure> {
    check(id)?;
    let found = query(connection, "AND id = ?1", Some(id))?.pop();
    found.ok_or_else(|| StoreError::UnknownSession { id: id.to_owned() }.into())
}

/// The session that keeps its files in the storage directory itself.
pub(super) fn in_root(connection: &Connection) -> Result<Option<SessionRow>, Failure> {
    Ok(query(connection, "AND in_root", None)?.pop().map(|keyed| keyed.row))
}

/// All sessions, the latest first: by the order of appends, which no clock can confuse.
pub(super) fn by_activity(connection: &Connection) -> Result<Vec<SessionRow>, Failure> {
    let all = query(connection, "ORDER BY last_seq DESC, number DESC", None)?;
    Ok(all.into_iter().map(|keyed| keyed.row).collect())
}

/// The latest session that is no branch.
pub(super) fn latest(connection: &Connection) -> Result<Option<SessionRow>, Failure> {
    let rest = "AND origin NOT IN ('fork', 'what_if') ORDER BY last_seq DESC, number DESC LIMIT 1";
    Ok(query(connection, rest, None)?.pop().map(|keyed| keyed.row))
}

/// Creates a session.
pub(super) fn create(transaction: &Transaction<'_>, new: &NewSession) -> Result<Keyed, Failure> {
    let id = match &new.id {
        Some(id) => {
            check(id)?;
            id.clone()
        }
        None => mint(transaction)?,
    };
    if is_taken(transaction, &id)? || (new.in_root && in_root(transaction)?.is_some()) {
        return Err(StoreError::SessionExists { id }.into());
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO session (id, serial, origin, parent, in_root, created, active, last_seq) VALUES (:id, :serial, \
         :origin, :parent, :in_root, :time, :time, (SELECT coalesce(max(global_seq), 0) FROM event))",
    )?;
    statement.execute(named_params! {
        ":id": id,
        ":serial": minted_number(&id),
        ":origin": new.origin.as_str(),
        ":parent": new.parent,
        ":in_root": new.in_root,
        ":time": new.time,
    })?;
    find(transaction, &id)
}

/// Ids of removed sessions stay in the table, and so are never minted again.
fn mint(transaction: &Transaction<'_>) -> Result<String, Failure> {
    let next: i64 = transaction.query_row("SELECT coalesce(max(serial), 0) + 1 FROM session", [], |row| row.get(0))?;
    Ok(format!("s_{next}"))
}

fn is_taken(connection: &Connection, id: &str) -> Result<bool, Failure> {
    let found = connection
        .query_row("SELECT 1 FROM session WHERE id = ?1", [id], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

/// Refuses a token that is not the session's.
pub(super) fn check_token(session: &SessionRow, token: Token) -> Result<(), Failure> {
    if session.token == token {
        return Ok(());
    }
    Err(StoreError::Fenced {
        session: session.id.clone(),
        ours: token,
        current: session.token,
    }
    .into())
}

/// Raises the session's token, to above `above` too.
pub(super) fn raise(transaction: &Transaction<'_>, id: &str, above: Token) -> Result<Token, Failure> {
    let session = find(transaction, id)?;
    let raised = Token(session.row.token.max(above).0.saturating_add(1));
    transaction.execute(
        "UPDATE session SET token = ?2 WHERE number = ?1",
        (session.number, signed(raised.0)),
    )?;
    Ok(raised)
}

/// Removes the session's events; its row stays, so that its id is not used again.
pub(super) fn remove(transaction: &Transaction<'_>, id: &str, token: Token) -> Result<(), Failure> {
    let session = find(transaction, id)?;
    check_token(&session.row, token)?;
    pieces::remove(transaction, session.number)?;
    transaction.execute("DELETE FROM event WHERE session = ?1", [session.number])?;
    transaction.execute(
        "UPDATE session SET removed = 1, events = 0 WHERE number = ?1",
        [session.number],
    )?;
    Ok(())
}
