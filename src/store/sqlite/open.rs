//! Opening: for writing, in memory, and for reading without leaving a trace.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::database::{Access, Database, Durability, Failure, FileId};
use super::format::Format;
use crate::disk::private_dir::PrivateDir;
use crate::store::StoreError;
use crate::store::error::BUSY_SECONDS;

const BUSY: Duration = Duration::from_secs(BUSY_SECONDS);
/// A long session is gone through again and again: its pages are asked of the system once.
const CACHE_KIB: i64 = 16 << 10;
const RETRY: Duration = Duration::from_millis(10);

impl Database {
    /// Opens the file for writing, makes it if there is none, and brings an older minor version up to date.
    pub(super) fn open(path: &Path, format: &'static Format) -> Result<Self, StoreError> {
        let path = canonical(path)?;
        let failed = |failure: Failure| failure.at(&path, "opening");
        refuse_links(&path)?;
        refuse_untouched(&path, format)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = connect(&path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW).map_err(failed)?;
        enter_wal(&connection, format).map_err(failed)?;
        let id = FileId::of(&path).map_err(|error| failed(error.into()))?;
        let database = Self::new(path, format, connection, Access::Write(id));
        database.build()?;
        Ok(database)
    }

    /// An empty database in memory.
    pub(super) fn in_memory(format: &'static Format) -> Result<Self, StoreError> {
        let path = PathBuf::from("(memory)");
        let connection =
            Connection::open_in_memory().map_err(|error| StoreError::from_sqlite(&path, "opening", error))?;
        let database = Self::new(path, format, connection, Access::Memory);
        database.build()?;
        Ok(database)
    }

    /// Opens the file for reading: no byte of it changes, nothing is migrated, and no writer is disturbed.
    pub(super) fn open_read_only(path: &Path, format: &'static Format) -> Result<Self, StoreError> {
        let path = canonical(path)?;
        let failed = |failure: Failure| failure.at(&path, "opening");
        refuse_links(&path)?;
        let (connection, copy) = match reading(&path) {
            Reading::Shared => (connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?, None),
            Reading::Immutable => (connect_immutable(&path).map_err(failed)?, None),
            Reading::Copy => copy_and_connect(&path).map(|(c, dir)| (c, Some(dir))).map_err(failed)?,
        };
        let stage = format.stage(&connection, &path).map_err(failed)?;
        // The queries of this program name every column, and an older minor version lacks some.
        let (connection, copy) = if format.is_readable(&stage) {
            (connection, copy)
        } else {
            updated_copy(&connection, format)
                .map(|(c, dir)| (c, Some(dir)))
                .map_err(failed)?
        };
        Ok(Self::new(path, format, connection, Access::Read { _copy: copy }))
    }

    /// What a file that is not there reads as.
    pub(super) fn absent(format: &'static Format) -> Result<Self, StoreError> {
        let mut database = Self::in_memory(format)?;
        database.access = Access::Read { _copy: None };
        Ok(database)
    }

    fn build(&self) -> Result<(), StoreError> {
        let current = self.read("opening", |connection| self.format.stage(connection, &self.path))?;
        if self.format.is_complete(&current) {
            return Ok(());
        }
        self.write("preparing", Durability::Power, |transaction| {
            self.format.build(transaction, &self.path)
        })
    }
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Together with writers.
    Shared,
    /// On media that cannot be written: nobody does.
    Immutable,
    /// The last writer left something behind that must be applied somewhere: a log on such media, or anywhere the
    /// rollback journal of a file that was just being made.
    Copy,
}

fn reading(path: &Path) -> Reading {
    let dir = path.parent().unwrap_or(Path::new("."));
    let is_there = |suffix| fs::metadata(beside(path, suffix)).is_ok_and(|file| file.len() > 0);
    reading_of(is_writable(dir), is_there("-wal"), is_there("-journal"))
}

fn reading_of(writable: bool, has_log: bool, has_journal: bool) -> Reading {
    match (writable, has_log) {
        _ if has_journal => Reading::Copy,
        (true, _) => Reading::Shared,
        (false, false) => Reading::Immutable,
        (false, true) => Reading::Copy,
    }
}

#[cfg(unix)]
fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|metadata| !metadata.permissions().readonly())
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // A received file may hold anything: its triggers and views get no function that reaches outside.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    if !flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    }
    Ok(connection)
}

fn connect_immutable(path: &Path) -> Result<Connection, Failure> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            _ => write!(uri, "%{byte:02X}").map_err(io::Error::other)?,
        }
    }
    uri.push_str("?immutable=1");
    connect(
        Path::new(&uri),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

fn copy_and_connect(path: &Path) -> Result<(Connection, PrivateDir), Failure> {
    let dir = PrivateDir::new("copy")?;
    let copy = dir.path().join("copy.db");
    fs::copy(path, &copy)?;
    for suffix in ["-wal", "-journal"] {
        match fs::copy(beside(path, suffix), beside(&copy, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    for name in [copy.clone(), beside(&copy, "-wal"), beside(&copy, "-journal")] {
        make_writable(&name)?;
    }
    Ok((connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?, dir))
}

/// A private copy of what `connection` sees, brought up to date there.
fn updated_copy(connection: &Connection, format: &Format) -> Result<(Connection, PrivateDir), Failure> {
    let dir = PrivateDir::new("copy")?;
    let copy = dir.path().join("copy.db");
    let name = copy
        .to_str()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    connection.execute("VACUUM INTO ?1", [name])?;
    let connection = connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    format.build(&connection, &copy)?;
    Ok((connection, dir))
}

/// A copy of a read-only file is read-only too.
#[allow(
    clippy::permissions_set_readonly_false,
    reason = "the file is in a private directory"
)]
fn make_writable(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    let mut permissions = metadata.permissions();
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}

/// Going over to WAL needs the file for itself for a moment, and SQLite does not wait for that: several processes that
/// make one store at once would fail.
fn enter_wal(connection: &Connection, format: &Format) -> Result<(), Failure> {
    let deadline = Instant::now() + BUSY;
    loop {
        let entered = prepare(connection, format);
        match entered {
            Err(error) if is_busy(&error) && Instant::now() < deadline => std::thread::sleep(RETRY),
            other => return other.map_err(Failure::from),
        }
    }
}

fn prepare(connection: &Connection, format: &Format) -> rusqlite::Result<()> {
    if format.shrinks {
        // Counts only while the file is empty.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Looks at a file that is there without being able to change it, so that one of a newer format stays as it is.
fn refuse_untouched(path: &Path, format: &Format) -> Result<(), StoreError> {
    if fs::metadata(path).map_or(true, |metadata| metadata.len() == 0) {
        return Ok(());
    }
    // Only a writer can roll back what a process left that died while it made the file: looked at in a copy.
    let look = || match reading(path) {
        Reading::Copy => copy_and_connect(path).and_then(|(copy, _dir)| format.stage(&copy, path)),
        _ => format.stage(&connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?, path),
    };
    look().map(drop).map_err(|failure: Failure| failure.at(path, "opening"))
}

/// A link among the files of a received session could aim writes at any file of the user's.
fn refuse_links(path: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let path = beside(path, suffix);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(StoreError::NotAStore {
                path,
                what: "no plain file".to_owned(),
            });
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The path with its directory resolved; the file itself need not be there.
fn canonical(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source| StoreError::Io {
        path: path.to_owned(),
        doing: "opening",
        source,
    };
    let name = path
        .file_name()
        .ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
    let dir = path
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Ok(dir.canonicalize().map_err(failed)?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::format::EVENTS;

    fn sessions(connection: &Connection) -> i64 {
        connection
            .query_row("SELECT count(*) FROM session", [], |row| row.get(0))
            .unwrap()
    }

    fn add_session(database: &Database) {
        let sql = "INSERT INTO session (id, origin, created, active, last_seq) VALUES ('s_1', 'new', 1, 1, 0)";
        database
            .write("filling", Durability::Process, |transaction| {
                Ok(transaction.execute(sql, [])?)
            })
            .unwrap();
    }

    #[test]
    fn how_a_file_is_read_depends_on_its_directory_and_its_log() {
        assert_eq!(reading_of(true, false, false), Reading::Shared);
        assert_eq!(reading_of(true, true, false), Reading::Shared);
        assert_eq!(reading_of(false, false, false), Reading::Immutable);
        assert_eq!(reading_of(false, true, false), Reading::Copy);
        assert_eq!(
            reading_of(true, false, true),
            Reading::Copy,
            "only a writer can roll back"
        );
    }

    #[test]
    fn an_immutable_file_is_read_without_files_beside_it_whatever_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("a b?mode=rw#%41é");
        fs::create_dir(&odd).unwrap();
        let path = odd.join("events.db");
        let writer = Database::open(&path, &EVENTS).unwrap();
        add_session(&writer);
        drop(writer);
        let connection = connect_immutable(&path).unwrap();
        assert_eq!(sessions(&connection), 1);
        assert_eq!(fs::read_dir(&odd).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_has_what_is_only_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let live = dir.path().join("events.db");
        let writer = Database::open(&live, &EVENTS).unwrap();
        add_session(&writer);
        let left = dir.path().join("left.db");
        for suffix in ["", "-wal"] {
            fs::copy(beside(&live, suffix), beside(&left, suffix)).unwrap();
            let mut permissions = fs::metadata(beside(&left, suffix)).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(beside(&left, suffix), permissions).unwrap();
        }
        assert_eq!(
            connect_immutable(&left).map(|c| c.is_readonly("main").unwrap()).ok(),
            Some(true)
        );
        let (connection, _dir) = copy_and_connect(&left).unwrap();
        assert_eq!(sessions(&connection), 1);
        assert!(!beside(&left, "-shm").exists());
    }

    #[test]
    fn a_store_that_others_keep_locked_is_told_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        let database = Database::open(&path, &EVENTS).unwrap();
        database
            .maintain("preparing", |connection| connection.busy_timeout(Duration::ZERO))
            .unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = database
            .write("writing to", Durability::Process, |_| Ok(()))
            .unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains("events.db"), "{error}");
        other.execute_batch("ROLLBACK").unwrap();
        database.write("writing to", Durability::Process, |_| Ok(())).unwrap();
    }
}
