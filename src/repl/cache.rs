//! Where the prepared interpreter lives between runs.
//!
//! `<cache>/python-<key>/` holds `python.cwasm`, `python-stdlib/` and `ready`. The key covers all that the entry is made
//! from, so a stale entry is never found, only left behind. The compiled file is code that runs outside the sandbox:
//! the directory must be one that only this user can write to. A packaged program brings an entry of its own.

use super::error::PrepareError;
use super::{kernel, parts};
use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wasmtime::Engine;

/// Names another cache directory, for tests and for images that ship a prepared one.
pub const CACHE_VARIABLE: &str = "FAST_RLM_CACHE_DIR";
/// Raised when the layout of an entry or the way of preparing changes.
const LAYOUT: &str = "1";
/// Entries of other keys that were not used for this long are removed.
const STALE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Feeds `Hash` into SHA-256, so that a key is the same in every build.
struct Stable(Sha256);

impl Hasher for Stable {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// What an entry is found by: the parts, the Python in the snapshot, wasmtime's version and settings.
pub(super) fn key(engine: &Engine) -> String {
    let mut hash = Stable(Sha256::new());
    for text in [LAYOUT, parts::DIGEST, &kernel::boot_source(), kernel::SERVE] {
        hash.0.update(text);
        hash.0.update([0]);
    }
    engine.precompile_compatibility_hash().hash(&mut hash);
    hash.0.finalize().get(..10).map(hex).unwrap_or_default()
}

fn file_error(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> PrepareError {
    let path = path.to_owned();
    move |source| PrepareError::File { what, path, source }
}

/// The cache directory.
pub(super) fn root() -> Result<PathBuf, PrepareError> {
    let directory = match std::env::var_os(CACHE_VARIABLE).filter(|value| !value.is_empty()) {
        Some(directory) => PathBuf::from(directory),
        None => etcetera::choose_base_strategy()
            .map_err(|error| PrepareError::NoCacheDirectory(error.to_string()))?
            .cache_dir()
            .join("fast-rlm"),
    };
    private(directory)
}

/// The interpreter that came with the program, in `share/fast-rlm/` beside its `bin/`, where it is ready for this machine
/// and nobody but root and this user can change it. Nothing is ever written there.
pub(super) fn shipped(engine: &Engine) -> Option<Entry> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let root = program.parent()?.parent()?.join("share/fast-rlm");
    let entry = Entry::new(&root, &key(engine));
    entry.is_ready().then_some(entry)
}

/// Makes the directory if need be, and refuses one that somebody else could write to.
fn private(directory: PathBuf) -> Result<PathBuf, PrepareError> {
    if !directory.is_absolute() {
        return Err(PrepareError::NoCacheDirectory(format!(
            "{} is not an absolute path",
            directory.display()
        )));
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .map_err(file_error("create", &directory))?;
    if is_private(&directory).map_err(file_error("inspect", &directory))? {
        Ok(directory)
    } else {
        Err(PrepareError::Untrusted(directory))
    }
}

/// Whether a directory is one that nobody else can write to.
fn is_private(directory: &Path) -> std::io::Result<bool> {
    let metadata = fs::metadata(directory)?;
    Ok(metadata.is_dir() && is_ours(&metadata))
}

/// Root is trusted: it can prepare the interpreter for other users, for example in a container image.
fn is_ours(metadata: &fs::Metadata) -> bool {
    let trusted = metadata.uid() == rustix::process::geteuid().as_raw() || metadata.uid() == 0;
    trusted && metadata.mode() & 0o022 == 0
}

/// The content of `ready`, which is written last: what the compiled file must look like.
#[derive(PartialEq, Eq)]
struct Mark {
    length: u64,
    modified: String,
    sha256: String,
}

impl Mark {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let length = words.next()?.parse().ok()?;
        let (modified, sha256) = (words.next()?.to_owned(), words.next()?.to_owned());
        words.next().is_none().then_some(Self {
            length,
            modified,
            sha256,
        })
    }
}

fn modified(metadata: &fs::Metadata) -> String {
    format!("{}.{:09}", metadata.mtime(), metadata.mtime_nsec())
}

fn digest(path: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

/// The compiled interpreter in a directory.
pub(super) fn machine_code(directory: &Path) -> PathBuf {
    directory.join("python.cwasm")
}

/// Python's library in a directory.
pub(super) fn library(directory: &Path) -> PathBuf {
    directory.join(parts::STDLIB_DIRECTORY)
}

/// One entry of the cache, there or not.
pub(super) struct Entry {
    pub(super) directory: PathBuf,
    lock: PathBuf,
}

impl Entry {
    pub(super) fn new(root: &Path, key: &str) -> Self {
        Self {
            directory: root.join(format!("python-{key}")),
            lock: root.join(format!("python-{key}.lock")),
        }
    }

    /// Where the entry is put together before it is installed.
    pub(super) fn filling(&self) -> PathBuf {
        self.directory.with_extension("new")
    }

    /// Nothing that somebody else could have written counts.
    fn mark(&self) -> Option<Mark> {
        let file = self.directory.join("ready");
        let trusted = is_ours(&fs::metadata(&file).ok()?);
        trusted.then(|| Mark::parse(&fs::read_to_string(file).ok()?)).flatten()
    }

    /// Whether the entry is complete and unchanged.
    ///
    /// Cheap as long as nothing has touched the compiled file since; otherwise (a copied cache, an overwritten file)
    /// its hash decides (30 ms): damaged machine code would end the process, or worse.
    pub(super) fn is_ready(&self) -> bool {
        let (Some(mark), Ok(metadata)) = (self.mark(), fs::metadata(machine_code(&self.directory))) else {
            return false;
        };
        library(&self.directory).is_dir()
            && is_private(&self.directory).unwrap_or(false)
            && is_ours(&metadata)
            && metadata.len() == mark.length
            && (modified(&metadata) == mark.modified || self.is_sound())
    }

    /// Whether the compiled file has the hash that it was installed with.
    pub(super) fn is_sound(&self) -> bool {
        let found = digest(&machine_code(&self.directory)).ok();
        found.is_some() && found == self.mark().map(|mark| mark.sha256)
    }

    /// Makes the entry count as absent, so that it is prepared again.
    pub(super) fn discard(&self) {
        let _ = fs::remove_file(self.directory.join("ready"));
    }

    /// Waits until no other process prepares this entry. `waiting` is called if there is one.
    pub(super) fn lock(&self, waiting: impl FnOnce()) -> Result<File, PrepareError> {
        let open = File::options().create(true).append(true).open(&self.lock);
        let file = open.map_err(file_error("open", &self.lock))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => waiting(),
            Err(fs::TryLockError::Error(source)) => return Err(file_error("lock", &self.lock)(source)),
        }
        file.lock().map_err(file_error("lock", &self.lock))?;
        Ok(file)
    }

    /// Puts the filled directory in place, under the lock. Instances of other processes keep their open files.
    pub(super) fn install(&self) -> Result<(), PrepareError> {
        let filled = self.filling();
        seal(&filled).map_err(file_error("finish", &filled))?;
        let old = self.directory.with_extension("old");
        let _ = fs::remove_dir_all(&old);
        if fs::rename(&self.directory, &old).is_ok() {
            let _ = fs::remove_dir_all(&old);
        }
        fs::rename(&filled, &self.directory).map_err(file_error("install", &self.directory))
    }

    /// Notes that the entry was used, and removes entries of other versions that have not been for a month, or that a killed
    /// process left half made.
    pub(super) fn sweep_siblings(&self) {
        let Some(root) = self.directory.parent() else { return };
        let siblings = fs::read_dir(root).into_iter().flatten().flatten();
        for sibling in siblings.filter(|sibling| sibling.file_name().to_string_lossy().starts_with("python-")) {
            let path = sibling.path();
            let age = sibling
                .metadata()
                .and_then(|metadata| metadata.modified())
                .map(|time| time.elapsed());
            let is_old = matches!(age, Ok(Ok(age)) if age > STALE);
            if path == self.directory || !path.is_dir() {
                continue;
            }
            // Held until it is gone: whoever begins to fill it anew waits for it.
            let dead = dead(&path);
            if is_old || dead.is_some() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        let _ = File::open(&self.directory).and_then(|directory| directory.set_modified(SystemTime::now()));
    }
}

/// The lock of an entry that is half made, or half removed, if nobody is at work on it.
fn dead(path: &Path) -> Option<File> {
    path.extension()
        .filter(|extension| *extension == "new" || *extension == "old")?;
    let lock = File::open(path.with_extension("lock")).ok()?;
    lock.try_lock().is_ok().then_some(lock)
}

/// Makes the compiled file durable and writes `ready`; both are for this user to write, whatever new files are.
fn seal(directory: &Path) -> std::io::Result<()> {
    let file = machine_code(directory);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    File::open(&file)?.sync_all()?;
    let metadata = fs::metadata(&file)?;
    let mark = format!("{} {} {}\n", metadata.len(), modified(&metadata), digest(&file)?);
    let ready = directory.join("ready");
    fs::write(&ready, mark)?;
    fs::set_permissions(ready, fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests;
