//! Namespaces as intervals: a row says from which point on (`first`), and before which (`until`, open if null), a name
//! is bound to a value. A name that does not change costs nothing, however many steps it lives through.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use super::{Failure, unsigned, values};
use crate::store::{At, Binding, BindingKind, Described, Digest, Namespace, StoreError};

/// Points in order: the turn above, below it the step's number plus one, and zero before the first step.
pub(super) fn position(at: At) -> i64 {
    let within = at.step.map_or(0, |step| i64::from(step) + 1);
    (i64::from(at.turn) << 32) + within
}

fn at(position: i64) -> At {
    let step = u32::try_from(position & 0xffff_ffff).unwrap_or(0).checked_sub(1);
    At {
        turn: u32::try_from(position >> 32).unwrap_or(0),
        step,
    }
}

/// Records the namespace of a point, and forgets it and those after it if it was recorded before.
pub(super) fn put(transaction: &Transaction<'_>, session: &str, namespace: &Namespace) -> Result<(), Failure> {
    let here = position(namespace.at);
    rewind(transaction, session, here)?;
    let mut bound: HashMap<String, Binding> = alive(transaction, session, i64::MAX)?
        .into_iter()
        .map(|binding| (binding.name.clone(), binding))
        .collect();
    for binding in &namespace.bindings {
        let before = bound.remove(&binding.name);
        if before.as_ref().is_some_and(|before| is_same(before, binding)) {
            continue;
        }
        if before.is_some() {
            close(transaction, session, &binding.name, here)?;
        }
        open(transaction, session, binding, here)?;
    }
    for name in bound.keys() {
        close(transaction, session, name, here)?;
    }
    transaction
        .prepare_cached("INSERT INTO point (session, pos) VALUES (?1, ?2)")?
        .execute((session, here))?;
    Ok(())
}

fn is_same(a: &Binding, b: &Binding) -> bool {
    (a.kind, a.digest, &a.described) == (b.kind, b.digest, &b.described)
}

/// Forgets everything from the point `here` on.
fn rewind(transaction: &Transaction<'_>, session: &str, here: i64) -> Result<(), Failure> {
    for sql in [
        "DELETE FROM point WHERE session = ?1 AND pos >= ?2",
        "DELETE FROM binding WHERE session = ?1 AND first >= ?2",
        "UPDATE binding SET until = NULL WHERE session = ?1 AND until >= ?2",
    ] {
        transaction.prepare_cached(sql)?.execute((session, here))?;
    }
    Ok(())
}

fn open(transaction: &Transaction<'_>, session: &str, binding: &Binding, here: i64) -> Result<(), Failure> {
    if let Some(digest) = binding.digest
        && values::bytes_of(transaction, &digest)?.is_none()
    {
        return Err(StoreError::MissingValue {
            name: binding.name.clone(),
            digest,
        }
        .into());
    }
    let described = serde_json::to_string(&binding.described).map_err(|source| StoreError::Encode { source })?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO binding (session, name, first, kind, digest, described) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let digest = binding.digest.as_ref().map(Digest::as_bytes);
    statement.execute((session, &binding.name, here, kind_name(binding.kind), digest, described))?;
    Ok(())
}

fn close(transaction: &Transaction<'_>, session: &str, name: &str, here: i64) -> Result<(), Failure> {
    transaction
        .prepare_cached("UPDATE binding SET until = ?3 WHERE session = ?1 AND name = ?2 AND until IS NULL")?
        .execute((session, name, here))?;
    Ok(())
}

/// The bindings at a position; at the end of time, those that are open.
fn alive(connection: &Connection, session: &str, here: i64) -> Result<Vec<Binding>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT name, kind, binding.digest, described, bytes FROM binding LEFT JOIN value ON value.digest = \
         binding.digest WHERE session = ?1 AND first <= ?2 AND (until IS NULL OR until > ?2) ORDER BY name",
    )?;
    let rows = statement.query_map((session, here), binding)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn binding(row: &Row<'_>) -> rusqlite::Result<Binding> {
    let digest: Option<Vec<u8>> = row.get(2)?;
    let described: String = row.get(3)?;
    Ok(Binding {
        name: row.get(0)?,
        kind: parse_kind(&row.get::<_, String>(1)?),
        digest: digest.as_deref().and_then(Digest::from_bytes),
        bytes: row.get::<_, Option<i64>>(4)?.map_or(0, unsigned),
        // Only told to people: better told badly than not restored.
        described: serde_json::from_str(&described).unwrap_or_else(|_| Described::default()),
    })
}

fn kind_name(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Value => "value",
        BindingKind::Source => "source",
        BindingKind::Dropped => "dropped",
    }
}

/// An unknown kind is told, not restored.
fn parse_kind(text: &str) -> BindingKind {
    match text {
        "value" => BindingKind::Value,
        "source" => BindingKind::Source,
        _ => BindingKind::Dropped,
    }
}

/// The namespace at a recorded point.
pub(super) fn get(connection: &Connection, session: &str, point: At) -> Result<Option<Namespace>, Failure> {
    let here = position(point);
    let known = connection
        .prepare_cached("SELECT 1 FROM point WHERE session = ?1 AND pos = ?2")?
        .query_row((session, here), |_| Ok(()))
        .optional()?;
    match known {
        None => Ok(None),
        Some(()) => Ok(Some(Namespace {
            at: point,
            bindings: alive(connection, session, here)?,
        })),
    }
}

/// Recorded points, in order.
pub(super) fn points(connection: &Connection, session: &str) -> Result<Vec<At>, Failure> {
    let mut statement = connection.prepare_cached("SELECT pos FROM point WHERE session = ?1 ORDER BY pos")?;
    let rows = statement.query_map([session], |row| row.get(0).map(at))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Thins out the turns before the last `full_turns`: their last points stay, and those before a first step, which
/// exist only where a turn did not begin with what the one before it left.
pub(super) fn retain(transaction: &Transaction<'_>, session: &str, full_turns: u32) -> Result<(), Failure> {
    let latest: Option<i64> = transaction.query_row(
        "SELECT max(pos) >> 32 FROM point WHERE session = ?1",
        [session],
        |row| row.get(0),
    )?;
    let Some(first_full) = latest.map(|turn| (turn + 1 - i64::from(full_turns)) << 32) else {
        return Ok(());
    };
    // Bounded on both sides: from the last point of a turn it would look through all the turns after it.
    let mut thinned = transaction.prepare_cached(
        "DELETE FROM point WHERE session = ?1 AND pos < ?2 AND pos & 0xffffffff <> 0 AND EXISTS (SELECT 1 FROM point \
         AS later WHERE later.session = ?1 AND later.pos > point.pos AND later.pos < ((point.pos >> 32) + 1) << 32) \
         RETURNING pos",
    )?;
    let gone: Vec<i64> = thinned
        .query_map((session, first_full), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let Some(earliest) = gone.into_iter().min() else {
        return Ok(());
    };
    let mut unseen = transaction.prepare_cached(
        "DELETE FROM binding WHERE session = ?1 AND until > ?2 AND NOT EXISTS (SELECT 1 FROM point WHERE \
         point.session = ?1 AND pos >= first AND pos < until) RETURNING digest",
    )?;
    let digests: HashSet<Vec<u8>> = unseen
        .query_map((session, earliest), |row| row.get::<_, Option<Vec<u8>>>(0))?
        .filter_map(Result::transpose)
        .collect::<rusqlite::Result<_>>()?;
    // A long session must not grow by what nobody can look at any more, until somebody collects.
    digests.iter().try_for_each(|digest| values::free(transaction, digest))
}
