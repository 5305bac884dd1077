//! One SQLite database: its connection, its transactions, and what is checked around them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::format::Format;
use crate::disk::fault;
use crate::disk::private_dir::PrivateDir;
use crate::store::StoreError;

/// Why a piece of work on a database failed; [`Database`] adds the path and what was being done.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    Store(StoreError),
    Io(io::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Failure {
    pub(super) fn at(self, path: &Path, doing: &'static str) -> StoreError {
        match self {
            Self::Sqlite(error) => StoreError::from_sqlite(path, doing, error),
            Self::Store(error) => error,
            Self::Io(source) => StoreError::Io {
                path: path.to_owned(),
                doing,
                source,
            },
        }
    }
}

/// A write's promise when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// It survives the death of the process.
    Process,
    /// It survives a power cut, with everything before it.
    Power,
}

/// An open database.
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) format: &'static Format,
    inner: Mutex<Inner>,
    pub(super) access: Access,
}

pub(super) enum Access {
    /// In memory: private, and gone with the store.
    Memory,
    /// A file to write; what it was when it was opened.
    Write(Option<FileId>),
    /// A file to read, or a private copy of one.
    Read { _copy: Option<PrivateDir> },
}

struct Inner {
    connection: Connection,
    synced: Durability,
}

/// Device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).map(|metadata| Some(Self(metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        std::fs::metadata(path).map(|_| None)
    }
}

impl Database {
    pub(super) fn new(path: PathBuf, format: &'static Format, connection: Connection, access: Access) -> Self {
        // SQLite's default is FULL.
        let inner = Mutex::new(Inner {
            connection,
            synced: Durability::Power,
        });
        Self {
            path,
            format,
            inner,
            access,
        }
    }

    /// Runs `work` in a read transaction.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut inner = self.lock();
        let run = || {
            let transaction = inner
                .connection
                .transaction_with_behavior(TransactionBehavior::Deferred)?;
            work(&transaction)
        };
        run().map_err(|failure: Failure| failure.at(&self.path, doing))
    }

    /// Runs `work` in a write transaction, and commits it if it succeeds.
    pub(super) fn write<T>(
        &self,
        doing: &'static str,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut inner = self.lock();
        let run = || {
            self.check_still_there()?;
            inner.sync_as(durability)?;
            let transaction = inner
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            fault::point(self.format.faults.write)?;
            transaction.commit()?;
            fault::point(self.format.faults.commit)?;
            Ok(result)
        };
        run().map_err(|failure: Failure| failure.at(&self.path, doing))
    }

    /// Runs `work` outside of a transaction.
    pub(super) fn maintain(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        work(&self.lock().connection).map_err(|error| StoreError::from_sqlite(&self.path, doing, error))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic within a transaction rolled it back: the connection is as good as before.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// SQLite would go on writing to a file that was removed: nothing would ever be found again.
    fn check_still_there(&self) -> Result<(), Failure> {
        match &self.access {
            Access::Memory => Ok(()),
            Access::Read { .. } => Err(StoreError::OpenedReadOnly {
                path: self.path.clone(),
            }
            .into()),
            Access::Write(opened) if FileId::of(&self.path)? == *opened => Ok(()),
            Access::Write(_) => {
                let gone = io::Error::new(io::ErrorKind::NotFound, "the file was replaced by another one");
                Err(gone.into())
            }
        }
    }
}

impl Inner {
    fn sync_as(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.synced != durability {
            let mode = match durability {
                Durability::Process => "NORMAL",
                Durability::Power => "FULL",
            };
            self.connection.pragma_update(None, "synchronous", mode)?;
            self.synced = durability;
        }
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if matches!(self.access, Access::Write(_)) {
            // As far as readers let it: whoever closes later does the rest.
            let connection = &self.lock().connection;
            let _ = connection.busy_timeout(Duration::ZERO);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}
