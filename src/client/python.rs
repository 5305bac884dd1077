//! What all queries of a process share: the loaded Python, and the threads that queries run on.

use super::error::Error;
use crate::disk::descriptors::need_a_pool;
use crate::repl::prepare::Progress;
use crate::repl::{Backend, ReplFactory, wait_for_ends};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// Loads Python now, so that the first query does not have to: milliseconds, and half a minute once per machine, with
/// lines for the user. Later calls do nothing.
///
/// # Errors
///
/// [`Error::Python`].
pub fn warm_up(progress: Progress<'_>) -> Result<(), Error> {
    load(Backend::Sandbox, progress).map(drop)
}

/// The one Python of its kind in this process. A load that failed is tried again by the next query.
pub(super) fn load(backend: Backend, progress: Progress<'_>) -> Result<Arc<dyn ReplFactory>, Error> {
    static SANDBOX: OnceLock<Arc<dyn ReplFactory>> = OnceLock::new();
    static PYTHON3: OnceLock<Arc<dyn ReplFactory>> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let loaded = match backend {
        Backend::Sandbox => &SANDBOX,
        Backend::Python3 => &PYTHON3,
    };
    if let Some(python) = loaded.get() {
        return Ok(python.clone());
    }
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(python) = loaded.get() {
        return Ok(python.clone());
    }
    let python = backend.load(progress)?;
    Ok(loaded.get_or_init(|| python).clone())
}

/// How long what runs is given to end.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

/// Ends everything that runs on the library's threads, with its processes and their directories: for a program that is
/// about to end.
pub(crate) fn stop_threads() {
    let stopped = runtime().take();
    if let Some(runtime) = stopped {
        runtime.shutdown_timeout(LAST_MOMENTS);
    }
    wait_for_ends(LAST_MOMENTS);
}

fn runtime() -> MutexGuard<'static, Option<Runtime>> {
    static THREADS: Mutex<Option<Runtime>> = Mutex::new(None);
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The threads of this library. Queries run on them whatever executor the caller has, or none.
pub(super) fn threads() -> Result<Handle, Error> {
    let mut threads = runtime();
    if let Some(runtime) = &*threads {
        return Ok(runtime.handle().clone());
    }
    let build = || Builder::new_multi_thread().thread_name("fast-rlm").enable_all().build();
    let runtime = need_a_pool().and_then(|()| build()).map_err(Error::Runtime)?;
    Ok(threads.insert(runtime).handle().clone())
}
