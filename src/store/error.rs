//! What can go wrong with a store: each error says what, where, and what to do.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::{Digest, Kind, MAX_NESTING, Token};
use crate::disk::advice::advice;
use crate::disk::atomic::directory_of;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A text that cannot be a session's id.
    #[error("bad session id {id:?}: {reason}")]
    BadSessionId {
        /// The text.
        id: String,
        /// Why not.
        reason: &'static str,
    },
    /// No session of this id; nothing was created.
    #[error("no session {id:?} here; `fast-rlm sessions` lists those there are")]
    UnknownSession {
        /// The id.
        id: String,
    },
    /// The id is in use, or was: ids are never used again.
    #[error("session id {id:?} is taken (ids are never used twice): choose another")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// Another writer took the session over; nothing was written.
    #[error(
        "session {session}: another process took over (its token is {current}, ours {ours}); nothing was written. Open \
         the session again"
    )]
    Fenced {
        /// The session.
        session: String,
        /// The writer's token.
        ours: Token,
        /// The token that counts now.
        current: Token,
    },
    /// An event id was used before for an event of another kind.
    #[error("session {session}: event id {id:?} was used before for another kind of event")]
    IdClash {
        /// The session.
        session: String,
        /// The event's id.
        id: String,
    },
    /// An event names a turn that was never started.
    #[error("session {session}: an event names turn {turn}, which was never started; nothing was copied")]
    BadTurn {
        /// The session.
        session: String,
        /// The turn, 0-based.
        turn: u32,
    },
    /// A session's values would not fit in memory; nothing was copied.
    #[error(
        "session {session}: the values of one of its steps have {bytes} bytes, more than {most}; nothing was copied"
    )]
    TooLarge {
        /// The session.
        session: String,
        /// How much it is.
        bytes: u64,
        /// The most.
        most: u64,
    },
    /// A name is bound to a value that was neither given nor stored.
    #[error("name {name:?} is bound to value {digest}, which is not stored")]
    MissingValue {
        /// The name.
        name: String,
        /// Its value's digest.
        digest: Digest,
    },
    /// A stored value does not match its digest.
    #[error("{}: value {digest} is damaged", path.display())]
    DamagedValue {
        /// The store's file.
        path: PathBuf,
        /// The value's digest.
        digest: Digest,
    },
    /// The file was written by a newer major format; it was not touched.
    #[error(
        "{}: made by a newer version (format {found}, this one knows {known}); the file was not touched. Update fast-rlm",
        path.display()
    )]
    StoreTooNew {
        /// The store's file.
        path: PathBuf,
        /// Its format, `major.minor`.
        found: String,
        /// The newest one known here.
        known: String,
    },
    /// The file is something else; it was not touched.
    #[error("{}: not a store of fast-rlm ({what}); move it away", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// The store's contents are damaged.
    #[error("{}: the database is damaged ({detail}); state.json and logs/ beside it are still readable: move it away to go on from those", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Other processes kept the database locked for longer than was waited.
    #[error("{}: locked by another process for more than {waited_s} s; try again", path.display())]
    Locked {
        /// The store's file.
        path: PathBuf,
        /// How long was waited, seconds.
        waited_s: u64,
    },
    /// The store was opened for reading only.
    #[error("{}: opened for reading only", path.display())]
    OpenedReadOnly {
        /// The store's file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{doing} {}: {source}; {}", path.display(), advice(source))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A payload could not be written as JSON.
    #[error("an event cannot be written as JSON: {source}")]
    Encode {
        /// The cause.
        source: serde_json::Error,
    },
    /// A value nests so deep that it could not be read back; nothing was written.
    #[error("a {kind} event nests deeper than {MAX_NESTING} levels: flatten the value")]
    TooDeep {
        /// The event's kind.
        kind: Kind,
    },
    /// SQLite, or the engine of another store, refused.
    #[error("{doing} {}: {source}; try again, or move the file away", path.display())]
    Database {
        /// The store's file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Seconds that a connection waits for another process's transaction.
pub(super) const BUSY_SECONDS: u64 = 30;

impl StoreError {
    /// Tells SQLite's error codes apart by what a person can do about them.
    pub(super) fn from_sqlite(path: &Path, doing: &'static str, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let code = error.sqlite_error_code();
        let io = |kind: io::ErrorKind, path| Self::Io {
            path,
            doing,
            source: kind.into(),
        };
        match code {
            Some(ErrorCode::DiskFull) => io(io::ErrorKind::StorageFull, path),
            Some(ErrorCode::ReadOnly) => Self::not_writable(path, doing),
            Some(ErrorCode::PermissionDenied) => io(io::ErrorKind::PermissionDenied, path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked {
                path,
                waited_s: BUSY_SECONDS,
            },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                detail: error.to_string(),
            },
            Some(ErrorCode::NotADatabase) => Self::NotAStore {
                path,
                what: "no SQLite database".into(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => Self::true_cause(path, doing, error),
            _ => Self::Database {
                path,
                doing,
                source: Box::new(error),
            },
        }
    }

    /// SQLite says "read-only" of a file, a directory and a file system alike.
    fn not_writable(path: PathBuf, doing: &'static str) -> Self {
        let opened = std::fs::OpenOptions::new().write(true).open(&path);
        let source = opened.err().unwrap_or_else(|| io::ErrorKind::PermissionDenied.into());
        Self::Io { path, doing, source }
    }

    /// SQLite only says "unable to open" or "disk I/O error": asking the file system again mostly tells why.
    fn true_cause(path: PathBuf, doing: &'static str, error: rusqlite::Error) -> Self {
        let source = ask_again(&path).err().unwrap_or_else(|| refused(&error));
        Self::Io { path, doing, source }
    }
}

/// Bytes of SQLite's index of its log beside a database, which it makes for reading, too.
const INDEX_BYTES: usize = 32 << 10;

/// Bytes that SQLite writes to its log at once, at most: a page with what stands before it.
#[cfg(unix)]
const LARGEST_WRITE: u64 = 4_096 + 24;

/// Does what SQLite does when it opens a database, with a nameless file in its directory, and all at once: each of them
/// may be the one file too many.
fn ask_again(path: &Path) -> io::Result<()> {
    let directory = directory_of(path);
    // One that is only about to be made is not there.
    let database = File::open(path);
    if let Err(cause) = &database
        && cause.kind() != io::ErrorKind::NotFound
    {
        return database.map(drop);
    }
    let _log = tempfile::tempfile_in(directory)?;
    let mut index = tempfile::tempfile_in(directory)?;
    index.write_all(&vec![0; INDEX_BYTES])?;
    may_grow(path)?;
    database.map(drop)
}

/// Whether the database and its log are below the size at which this process may let no file grow.
#[cfg(unix)]
fn may_grow(path: &Path) -> io::Result<()> {
    use rustix::process::{Resource, getrlimit};
    let Some(most) = getrlimit(Resource::Fsize).current else {
        return Ok(());
    };
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let grown = [path, Path::new(&log)]
        .into_iter()
        .filter_map(|file| file.metadata().ok());
    match grown.map(|file| file.len()).max() {
        Some(size) if size.saturating_add(LARGEST_WRITE) > most => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn may_grow(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// What SQLite says of a refusal that it does not explain, and which of its calls was refused.
fn refused(error: &rusqlite::Error) -> io::Error {
    use rusqlite::ffi::{
        SQLITE_IOERR_FSTAT, SQLITE_IOERR_FSYNC, SQLITE_IOERR_READ, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE,
    };
    let call = match error.sqlite_error().map(|error| error.extended_code) {
        Some(SQLITE_IOERR_READ) => "a read was refused",
        Some(SQLITE_IOERR_WRITE) => "a write was refused",
        Some(SQLITE_IOERR_FSYNC) => "syncing was refused",
        Some(SQLITE_IOERR_TRUNCATE | SQLITE_IOERR_FSTAT) => "its size could not be read or set",
        _ => return io::Error::other(error.to_string()),
    };
    io::Error::other(format!("{error}: {call}"))
}
