//! Values by digest: small ones as they are, large ones compressed, each once.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::{Failure, unsigned};
use crate::store::{Digest, Freed, StoreError};

/// Values above this many bytes are compressed.
const PACK_ABOVE: usize = 64 * 1024;

/// Fast: a step waits for it.
const LEVEL: i32 = 1;

/// A larger one is not compressed, and one that says it became smaller is not given memory: a few bytes could unpack to
/// anything. Values of a REPL are at most 5 MB.
const LARGEST: u64 = 64 << 20;

/// Stores `value` unless it is there.
pub(super) fn put(transaction: &Transaction<'_>, value: &[u8]) -> Result<(), Failure> {
    let digest = Digest::of(value);
    if bytes_of(transaction, &digest)?.is_some() {
        return Ok(());
    }
    let packed = if value.len() > PACK_ABOVE && value.len() as u64 <= LARGEST {
        zstd::bulk::compress(value, LEVEL).ok()
    } else {
        None
    };
    let packed = packed.filter(|packed| packed.len() < value.len());
    let body = packed.as_deref().unwrap_or(value);
    transaction
        .prepare_cached("INSERT INTO value (digest, bytes, packed, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute((
            digest.as_bytes(),
            i64::try_from(value.len()).unwrap_or(i64::MAX),
            packed.is_some(),
            body,
        ))?;
    Ok(())
}

/// The size of a stored value, before compression.
pub(super) fn bytes_of(connection: &Connection, digest: &Digest) -> Result<Option<u64>, Failure> {
    let bytes: Option<i64> = connection
        .prepare_cached("SELECT bytes FROM value WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(bytes.map(unsigned))
}

/// The content of a stored value.
pub(super) fn get(connection: &Connection, path: &Path, digest: &Digest) -> Result<Option<Vec<u8>>, Failure> {
    let found = connection
        .prepare_cached("SELECT bytes, packed, body FROM value WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((bytes, packed, body)) = found else {
        return Ok(None);
    };
    let content = unpack(unsigned(bytes), packed, body).filter(|content| Digest::of(content) == *digest);
    let damaged = || StoreError::DamagedValue {
        path: path.to_owned(),
        digest: *digest,
    };
    content.map(Some).ok_or_else(|| damaged().into())
}

fn unpack(bytes: u64, packed: bool, body: Vec<u8>) -> Option<Vec<u8>> {
    if !packed {
        return Some(body);
    }
    let capacity = usize::try_from(bytes).ok().filter(|_| bytes <= LARGEST)?;
    zstd::bulk::decompress(&body, capacity).ok()
}

const UNNAMED: &str = "FROM value WHERE NOT EXISTS (SELECT 1 FROM binding WHERE binding.digest = value.digest)";

/// Counts what no namespace names.
pub(super) fn unnamed(connection: &Connection) -> Result<Freed, Failure> {
    let sql = format!("SELECT count(*), coalesce(sum(length(body)), 0) {UNNAMED}");
    let (values, bytes) = connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Freed {
        values: unsigned(values),
        bytes: unsigned(bytes),
    })
}

/// Deletes a value that no namespace names any more.
pub(super) fn free(transaction: &Transaction<'_>, digest: &[u8]) -> Result<(), Failure> {
    transaction
        .prepare_cached(
            "DELETE FROM value WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM binding WHERE binding.digest = ?1)",
        )?
        .execute([digest])?;
    Ok(())
}

/// Deletes what no namespace names.
pub(super) fn delete_unnamed(transaction: &Transaction<'_>) -> Result<(), Failure> {
    transaction.execute(&format!("DELETE {UNNAMED}"), [])?;
    Ok(())
}
