//! Makes the interpreter ready: unpack, link, start it once, compile. Once per machine, half a minute; later starts map a
//! file.

use super::cache::{self, Entry};
use super::error::PrepareError;
use super::{engine, parts, scarce, snapshot};
use crate::disk::advice::advice;
use crate::disk::descriptors::need_a_pool;
use crate::disk::private_dir::PrivateDir;
use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wasmtime::Engine;

/// Lines for the user while the interpreter is prepared.
pub type Progress<'a> = &'a mut (dyn FnMut(&str) + Send);

/// A prepared interpreter on disk.
pub(super) struct Prepared {
    pub(super) directory: PathBuf,
    /// Set where there is no usable cache: the directory goes with it.
    pub(super) temporary: Option<PrivateDir>,
}

/// Whether the interpreter is prepared: a start will take milliseconds.
#[must_use]
pub fn is_ready() -> bool {
    let is_ready = |engine: Engine| {
        let cached = || Entry::new(&cache::root().unwrap_or_default(), &cache::key(&engine)).is_ready();
        cache::shipped(&engine).is_some() || cached()
    };
    engine::session_engine().is_ok_and(is_ready)
}

/// Prepares the interpreter in this process unless it is ready. `fast-rlm warmup` is this; it needs 500 MB for half a minute, and
/// the process keeps most of that, which is why others should call [`ensure_prepared`].
///
/// # Errors
/// There is no usable cache directory, no room in it, or a step of the preparation failed.
pub fn prepare(progress: Progress<'_>) -> Result<(), PrepareError> {
    let engine = new_engine()?;
    cached(&engine, &cache::root()?, progress).map(|_| ())
}

/// Makes sure that the interpreter is ready: does nothing if it is, else prepares it in a child process, where this
/// program can be one (`fast-rlm warmup`, its lines on standard error), or in this process.
///
/// Blocks. A cache that cannot be used is no error here: each process then prepares its own copy when it loads it.
///
/// # Errors
/// The preparation failed.
pub fn ensure_prepared(progress: Progress<'_>) -> Result<(), PrepareError> {
    if is_ready() || cache::root().is_err() {
        return Ok(());
    }
    match warmup_program() {
        Some((program, word)) => run_warmup(&program, word, progress),
        None => prepare(progress),
    }
}

/// What has `fast-rlm-log` prepare Python and end: to people its first word is a session.
pub const CHILD_WORD: &str = "__warmup";

/// This program, if it is one that can, and how it is told to.
fn warmup_program() -> Option<(PathBuf, &'static str)> {
    let program = std::env::current_exe().ok()?;
    let word = match program.file_name()?.to_str()? {
        "fast-rlm" => "warmup",
        "fast-rlm-log" => CHILD_WORD,
        _ => return None,
    };
    Some((program, word))
}

fn run_warmup(program: &Path, word: &str, progress: Progress<'_>) -> Result<(), PrepareError> {
    let failed = |error: std::io::Error| PrepareError::Child(error.to_string());
    let mut child = Command::new(program)
        .arg(word)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut last = String::new();
    for line in child
        .stderr
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(BufRead::lines)
        .map_while(Result::ok)
    {
        progress(&line);
        last = line;
    }
    let status = child.wait().map_err(failed)?;
    match status.signal() {
        _ if status.success() => Ok(()),
        Some(_) => Err(PrepareError::Killed(format!("{status}: {last}"))),
        None => Err(PrepareError::Child(format!("{status}: {last}"))),
    }
}

pub(super) fn new_engine() -> Result<Engine, PrepareError> {
    let failed = |error: wasmtime::Error| PrepareError::Stage {
        stage: "set up wasmtime",
        reason: scarce::told(&error),
    };
    engine::session_engine().map_err(failed)
}

/// The interpreter that came with the program, else that of [`obtain_own`].
pub(super) fn obtain(engine: &Engine, progress: Progress<'_>) -> Result<Prepared, PrepareError> {
    match cache::shipped(engine) {
        Some(entry) => Ok(Prepared {
            directory: entry.directory,
            temporary: None,
        }),
        None => obtain_own(engine, progress),
    }
}

/// The interpreter from the cache, prepared if need be; where the cache cannot be used, a copy for this process.
pub(super) fn obtain_own(engine: &Engine, progress: Progress<'_>) -> Result<Prepared, PrepareError> {
    match cache::root().and_then(|root| cached(engine, &root, progress)) {
        Ok(directory) => Ok(Prepared {
            directory,
            temporary: None,
        }),
        Err(reason @ (PrepareError::Unpack { .. } | PrepareError::Stage { .. })) => Err(reason),
        Err(reason) => uncached(engine, &reason, progress),
    }
}

fn cached(engine: &Engine, root: &Path, progress: Progress<'_>) -> Result<PathBuf, PrepareError> {
    let entry = Entry::new(root, &cache::key(engine));
    if entry.is_ready() {
        return Ok(entry.directory);
    }
    let _lock = entry.lock(|| progress("Another process is preparing Python; waiting for it"))?;
    // It may have finished meanwhile.
    if entry.is_ready() {
        return Ok(entry.directory);
    }
    progress("Preparing Python, once: half a minute to some minutes");
    let filling = entry.filling();
    let _ = fs::remove_dir_all(&filling);
    let result = private_directory(&filling)
        .and_then(|()| fill(engine, &filling, progress))
        .and_then(|()| entry.install());
    if let Err(error) = result {
        let _ = fs::remove_dir_all(&filling);
        return Err(error);
    }
    entry.sweep_siblings();
    Ok(entry.directory)
}

fn uncached(engine: &Engine, reason: &PrepareError, progress: Progress<'_>) -> Result<Prepared, PrepareError> {
    progress(&format!("Preparing Python for this run only: {reason}"));
    // Made with mode 0700 under a name that nobody can have prepared for us.
    let temporary = PrivateDir::new("python").map_err(|source| PrepareError::File {
        what: "create a directory in",
        path: std::env::temp_dir(),
        source,
    })?;
    fill(engine, temporary.path(), progress)?;
    Ok(Prepared {
        directory: temporary.path().to_owned(),
        temporary: Some(temporary),
    })
}

fn private_directory(path: &Path) -> Result<(), PrepareError> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|source| PrepareError::File {
        what: "create",
        path: path.to_owned(),
        source,
    })
}

/// Fills a directory with the library and the compiled interpreter.
fn fill(engine: &Engine, directory: &Path, progress: Progress<'_>) -> Result<(), PrepareError> {
    // Much of it cannot be told that there is no more memory: it would abort.
    scarce::need_room_to_prepare().map_err(|reason| PrepareError::Stage {
        stage: "prepare Python",
        reason,
    })?;
    let start = Instant::now();
    let mut stage = |what: &str| progress(&format!("  {what} ({:.1} s)", start.elapsed().as_secs_f64()));
    stage("unpacking the library and linking");
    parts::unpack_stdlib(directory)?;
    let plain = parts::link()?;
    stage("starting Python for a snapshot");
    let snapshot = take_snapshot(&plain, &cache::library(directory))?;
    drop(plain);
    stage("compiling");
    let failed = |reason: String| PrepareError::Stage {
        stage: "compile",
        reason,
    };
    need_a_pool().map_err(|error| failed(format!("{error}; {}", advice(&error))))?;
    let machine_code = engine
        .precompile_component(&snapshot)
        .map_err(|error| failed(scarce::told(&error)))?;
    let path = cache::machine_code(directory);
    fs::write(&path, machine_code).map_err(|source| PrepareError::File {
        what: "write",
        path,
        source,
    })?;
    stage("done");
    Ok(())
}

/// On a thread of its own, because the caller's may already be driving a runtime.
fn take_snapshot(plain: &[u8], library: &Path) -> Result<Vec<u8>, PrepareError> {
    let failed = |reason: String| PrepareError::Stage {
        stage: "start Python for the snapshot",
        reason,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime
                .map_err(|error| failed(error.to_string()))?
                .block_on(snapshot::pre_initialise(plain, library))
        });
        thread
            .map_err(|error| failed(format!("{error}; {}", advice(&error))))?
            .join()
            .unwrap_or_else(|_| Err(failed("its thread failed".into())))
    })
}
