//! File formats: what makes a file one of ours, its version, and the steps that build the tables.
//!
//! A version is major.minor, kept as `major * 1000 + minor` in SQLite's `user_version`. A minor step only adds, so that
//! files of any minor version are read and written by every program of that major one; older files are brought up to
//! date when opened for writing. A newer major version is refused untouched.

use std::path::Path;

use rusqlite::Connection;

use super::Failure;
use crate::store::StoreError;

/// The tables of one kind of file.
pub(super) struct Format {
    /// SQLite's `application_id`.
    pub(super) application_id: i32,
    /// Major version.
    pub(super) major: i64,
    /// `steps[n]` makes minor version n out of n - 1; the first makes an empty file a store.
    pub(super) steps: &'static [&'static str],
    /// How many of the steps a reader needs: those after them only make it faster.
    pub(super) readable: usize,
    /// Prefix of the fault points of its transactions.
    pub(super) faults: Faults,
    /// Its file shrinks when rows are deleted.
    pub(super) shrinks: bool,
}

/// Names of the points before and after a commit.
pub(super) struct Faults {
    pub(super) write: &'static str,
    pub(super) commit: &'static str,
}

/// `flre`
pub(super) const EVENTS: Format = Format {
    application_id: 0x666c_7265,
    major: 1,
    steps: &[
        include_str!("events_1_0.sql"),
        include_str!("events_1_1.sql"),
        include_str!("events_1_2.sql"),
        include_str!("events_1_3.sql"),
    ],
    readable: 2,
    faults: Faults {
        write: "events.write",
        commit: "events.commit",
    },
    shrinks: false,
};

/// `flrf`
pub(super) const FLOW: Format = Format {
    application_id: 0x666c_7266,
    major: 1,
    steps: &[include_str!("flow_1_0.sql")],
    readable: 1,
    faults: Faults {
        write: "flow.write",
        commit: "flow.commit",
    },
    shrinks: true,
};

const MAJOR: i64 = 1000;

/// How far a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing is in it yet.
    Empty,
    /// So many steps were made; more than are known here if a newer program made them.
    Steps(usize),
}

impl Format {
    fn version(&self) -> i64 {
        self.major * MAJOR + i64::try_from(self.steps.len()).unwrap_or(0) - 1
    }

    /// Reads a file's stage, and refuses files that are not ours or too new.
    pub(super) fn stage(&self, connection: &Connection, path: &Path) -> Result<Stage, Failure> {
        // One statement: another process may be making the file right now.
        let sql = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM \
                   pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
        let look = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (id, version, tables): (i64, i64, i64) = connection.query_row(sql, [], look)?;
        if (id, version, tables) == (0, 0, 0) {
            return Ok(Stage::Empty);
        }
        if id != i64::from(self.application_id) || version < MAJOR {
            let what = "an SQLite database of another program".to_owned();
            return Err(StoreError::NotAStore {
                path: path.to_owned(),
                what,
            }
            .into());
        }
        if version / MAJOR > self.major {
            return Err(self.too_new(path, version).into());
        }
        only_tables(connection, path)?;
        Ok(Stage::Steps(usize::try_from(version % MAJOR).unwrap_or(0) + 1))
    }

    /// Whether no step is missing that a reader needs.
    pub(super) fn is_readable(&self, stage: &Stage) -> bool {
        matches!(stage, Stage::Steps(done) if *done >= self.readable)
    }

    /// Whether no step is missing.
    pub(super) fn is_complete(&self, stage: &Stage) -> bool {
        matches!(stage, Stage::Steps(done) if *done >= self.steps.len())
    }

    fn too_new(&self, path: &Path, found: i64) -> StoreError {
        let text = |version: i64| format!("{}.{}", version / MAJOR, version % MAJOR);
        StoreError::StoreTooNew {
            path: path.to_owned(),
            found: text(found),
            known: text(self.version()),
        }
    }

    /// Makes the steps that are missing, within a transaction of the caller's.
    pub(super) fn build(&self, connection: &Connection, path: &Path) -> Result<(), Failure> {
        let done = match self.stage(connection, path)? {
            Stage::Empty => 0,
            Stage::Steps(done) => done,
        };
        let missing = self.steps.get(done..).unwrap_or_default();
        for step in missing {
            connection.execute_batch(step)?;
        }
        if !missing.is_empty() {
            connection.pragma_update(None, "application_id", self.application_id)?;
            connection.pragma_update(None, "user_version", self.version())?;
        }
        Ok(())
    }
}

/// A received file may hold anything. What computes rows while they are read (views, virtual tables, generated columns)
/// or acts when they are written (triggers) has no place in a store: it could go on without end.
fn only_tables(connection: &Connection, path: &Path) -> Result<(), Failure> {
    let sql = "SELECT count(*) FROM sqlite_schema AS part WHERE type IN ('view', 'trigger') OR (type = 'table' AND \
               rootpage = 0) OR EXISTS (SELECT 1 FROM pragma_table_xinfo(part.name) AS own WHERE part.type = \
               'table' AND own.hidden <> 0)";
    match connection.query_row(sql, [], |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        _ => Err(StoreError::NotAStore {
            path: path.to_owned(),
            what: "it has views, triggers or computed columns".to_owned(),
        }
        .into()),
    }
}
