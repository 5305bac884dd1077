//! The flow store on SQLite.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::database::{Database, Durability};
use super::{Failure, bindings, format, signed, unsigned, values};
use crate::store::{At, Digest, FlowStore, Freed, Namespace, Parked, StoreError, Token};

/// `flow.db`, or the same tables in memory.
pub struct SqliteFlow(Database);

impl SqliteFlow {
    /// Opens the file for writing, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::StoreTooNew`], [`StoreError::NotAStore`] (the file was not touched then), and the file system's.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Database::open(path, &format::FLOW).map(Self)
    }

    /// Opens the file for reading. Writes fail; no byte of the file changes.
    ///
    /// # Errors
    ///
    /// As [`SqliteFlow::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Database::open_read_only(path, &format::FLOW).map(Self)
    }

    /// An empty store for reading: what a file that is not there reads as.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn absent() -> Result<Self, StoreError> {
        Database::absent(&format::FLOW).map(Self)
    }

    /// An empty store in memory.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn in_memory() -> Result<Self, StoreError> {
        Database::in_memory(&format::FLOW).map(Self)
    }

    fn fenced<T>(
        &self,
        session: &str,
        token: Token,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.0.write("writing to", durability, |transaction| {
            raise(transaction, session, token)?;
            work(transaction)
        })
    }
}

fn known_token(connection: &Connection, session: &str) -> Result<Option<Token>, Failure> {
    let known: Option<i64> = connection
        .prepare_cached("SELECT token FROM fence WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    Ok(known.map(|known| Token(unsigned(known))))
}

/// Makes `token` the session's, or refuses it.
fn raise(transaction: &Transaction<'_>, session: &str, token: Token) -> Result<(), Failure> {
    match known_token(transaction, session)? {
        Some(current) if current > token => Err(StoreError::Fenced {
            session: session.to_owned(),
            ours: token,
            current,
        }
        .into()),
        Some(current) if current == token => Ok(()),
        _ => {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO fence (session, token) VALUES (?1, ?2)")?
                .execute((session, signed(token.0)))?;
            Ok(())
        }
    }
}

impl FlowStore for SqliteFlow {
    fn token(&self, session: &str) -> Result<Token, StoreError> {
        self.0.read("reading", |connection| {
            Ok(known_token(connection, session)?.unwrap_or(Token(0)))
        })
    }

    fn fence(&self, session: &str, token: Token) -> Result<(), StoreError> {
        self.fenced(session, token, Durability::Process, |_| Ok(()))
    }

    fn put_namespace(
        &self,
        session: &str,
        token: Token,
        namespace: &Namespace,
        contents: &[&[u8]],
    ) -> Result<(), StoreError> {
        self.fenced(session, token, Durability::Power, |transaction| {
            contents
                .iter()
                .try_for_each(|content| values::put(transaction, content))?;
            bindings::put(transaction, session, namespace)
        })
    }

    fn namespace(&self, session: &str, at: At) -> Result<Option<Namespace>, StoreError> {
        self.0
            .read("reading", |connection| bindings::get(connection, session, at))
    }

    fn points(&self, session: &str) -> Result<Vec<At>, StoreError> {
        self.0
            .read("reading", |connection| bindings::points(connection, session))
    }

    fn share_namespace(&self, from: &str, at: At, to: &str, token: Token, as_point: At) -> Result<bool, StoreError> {
        self.fenced(to, token, Durability::Power, |transaction| {
            let Some(namespace) = bindings::get(transaction, from, at)? else {
                return Ok(false);
            };
            bindings::put(
                transaction,
                to,
                &Namespace {
                    at: as_point,
                    ..namespace
                },
            )?;
            Ok(true)
        })
    }

    fn value(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.0
            .read("reading", |connection| values::get(connection, &self.0.path, digest))
    }

    fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError> {
        self.0.read("reading", |connection| {
            let mut missing = Vec::new();
            for digest in digests {
                if values::bytes_of(connection, digest)?.is_none() {
                    missing.push(*digest);
                }
            }
            Ok(missing)
        })
    }

    fn park(&self, session: &str, token: Token, question: &Parked) -> Result<(), StoreError> {
        let body = serde_json::to_string(question).map_err(|source| StoreError::Encode { source })?;
        self.fenced(session, token, Durability::Power, |transaction| {
            transaction.execute(
                "INSERT OR IGNORE INTO parked (session, turn, step, number, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                (session, question.turn, question.step, question.number, body),
            )?;
            Ok(())
        })
    }

    fn parked(&self, session: &str) -> Result<Vec<Parked>, StoreError> {
        self.0.read("reading", |connection| {
            let sql = "SELECT body FROM parked WHERE session = ?1 ORDER BY turn, step, number";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([session])?;
            let mut questions = Vec::new();
            while let Some(row) = rows.next()? {
                let body: String = row.get(0)?;
                let damaged = |error: serde_json::Error| StoreError::Damaged {
                    path: self.0.path.clone(),
                    detail: format!("a parked question of session {session}: {error}"),
                };
                questions.push(serde_json::from_str(&body).map_err(damaged)?);
            }
            Ok(questions)
        })
    }

    fn unpark(&self, session: &str, token: Token, turn: u32) -> Result<(), StoreError> {
        self.fenced(session, token, Durability::Process, |transaction| {
            transaction.execute("DELETE FROM parked WHERE session = ?1 AND turn = ?2", (session, turn))?;
            Ok(())
        })
    }

    fn retain(&self, session: &str, token: Token, full_turns: u32) -> Result<(), StoreError> {
        self.fenced(session, token, Durability::Process, |transaction| {
            bindings::retain(transaction, session, full_turns)
        })
    }

    fn forget(&self, session: &str, token: Token) -> Result<(), StoreError> {
        self.fenced(session, token, Durability::Process, |transaction| {
            for table in ["point", "binding", "parked"] {
                transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
            }
            Ok(())
        })
    }

    fn collect(&self, dry_run: bool) -> Result<Freed, StoreError> {
        if dry_run {
            return self.0.read("reading", values::unnamed);
        }
        let freed = self.0.write("freeing values of", Durability::Process, |transaction| {
            let freed = values::unnamed(transaction)?;
            values::delete_unnamed(transaction)?;
            Ok(freed)
        })?;
        self.0.maintain("shrinking", |connection| {
            // A row comes back for each page that was freed.
            let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })?;
        Ok(freed)
    }
}
