//! The interpreter of this process: loaded once, shared by all REPLs.

use super::api::{HostCalls, ReplFactory, StartOptions, Started};
use super::bindings::SandboxPre;
use super::error::{PrepareError, ReplError};
use super::guest::Guest;
use super::memory::{MemoryPool, half_of_machine};
use super::prepare::{self, Prepared, Progress};
use super::pulse::Pulse;
use super::session::PythonRepl;
use super::{cache, engine, machine_code, scarce};
use crate::disk::private_dir::PrivateDir;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::Engine;
use wasmtime::component::Component;

/// The loaded interpreter.
pub(super) struct Python {
    pub(super) engine: Engine,
    pub(super) pre: SandboxPre<Guest>,
    pub(super) library: PathBuf,
    pub(super) pulse: Pulse,
    /// Kept alive where there is no usable cache.
    _temporary: Option<PrivateDir>,
}

/// Starts REPLs that run CPython 3.14 in this process. One a process; cheap to clone.
///
/// ```no_run
/// # async fn example(host: std::sync::Arc<dyn fast_rlm::repl::HostCalls>) -> Result<(), Box<dyn std::error::Error>> {
/// use fast_rlm::repl::{PythonFactory, ReplFactory, StartOptions, Step};
///
/// let factory = tokio::task::spawn_blocking(|| PythonFactory::load(&mut |line| eprintln!("{line}"))).await??;
/// let mut started = factory.start(StartOptions::default(), host).await?;
/// let outcome = started.repl.run(Step::new(1, "print(6 * 7)"), &mut |_| ()).await;
/// assert_eq!(outcome.output.text, "42\n");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct PythonFactory {
    pub(super) python: Arc<Python>,
    pub(super) pool: Arc<MemoryPool>,
}

impl PythonFactory {
    /// Loads the interpreter (4 ms), preparing it first where need be (half a minute or more, with lines for the user).
    /// Blocks.
    ///
    /// # Errors
    /// It could not be prepared, not even in a temporary directory.
    pub fn load(progress: Progress<'_>) -> Result<Self, PrepareError> {
        match prepare::ensure_prepared(progress) {
            Err(killed @ PrepareError::Killed(_)) => return Err(killed),
            Err(reason) => progress(&reason.to_string()),
            Ok(()) => {}
        }
        let engine = prepare::new_engine()?;
        let prepared = prepare::obtain(&engine, progress)?;
        let (prepared, component) = loaded(&engine, prepared, progress)?;
        let python = open(&engine, prepared, &component)?;
        Ok(Self {
            python: Arc::new(python),
            pool: Arc::new(MemoryPool::new(half_of_machine())),
        })
    }

    /// Bounds the memory of all instances together, in bytes; half of the machine's unless this is called. An instance that would exceed it gets a `MemoryError`.
    #[must_use]
    pub fn with_process_memory(mut self, bytes: u64) -> Self {
        self.pool = Arc::new(MemoryPool::new(bytes));
        self
    }

    /// Memory of all instances together, in bytes.
    #[must_use]
    pub fn memory_in_use(&self) -> u64 {
        self.pool.used()
    }
}

impl std::fmt::Debug for PythonFactory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PythonFactory")
            .field("library", &self.python.library)
            .finish_non_exhaustive()
    }
}

fn failed(error: wasmtime::Error) -> PrepareError {
    PrepareError::Stage {
        stage: "load Python",
        reason: scarce::told(&error),
    }
}

/// The interpreter, another one where this one is refused: the program's own may be, and the user's then, which is made
/// anew. Where it is this process that lacks memory or files, another one would be refused as well, and what other
/// processes share stays as it is.
fn loaded(engine: &Engine, first: Prepared, progress: Progress<'_>) -> Result<(Prepared, Component), PrepareError> {
    let mut prepared = first;
    let mut others = 2;
    loop {
        match load(engine, &prepared) {
            Ok(component) => return Ok((prepared, component)),
            Err(error) if others == 0 || scarce::is_scarcity(&error) => return Err(failed(error)),
            // Wasmtime refuses the file although it is the one that was written.
            Err(error) => progress(&format!("The prepared Python is unusable ({error:#}); taking another")),
        }
        others -= 1;
        let own = cache::root().map(|root| cache::Entry::new(&root, &cache::key(engine)));
        if let Ok(own) = own.as_ref().map_err(drop)
            && own.directory == prepared.directory
        {
            own.discard();
        }
        prepared = prepare::obtain_own(engine, progress)?;
    }
}

fn load(engine: &Engine, prepared: &Prepared) -> wasmtime::Result<Component> {
    machine_code::load(engine, &cache::machine_code(&prepared.directory))
}

/// A failure here is this program's own: another preparation would come to the same.
fn open(engine: &Engine, prepared: Prepared, component: &Component) -> Result<Python, PrepareError> {
    let linker = engine::linker(engine, component).map_err(failed)?;
    let pre = linker
        .instantiate_pre(component)
        .and_then(SandboxPre::new)
        .map_err(failed)?;
    let stopped = |error: std::io::Error| PrepareError::Stage {
        stage: "start a thread",
        reason: error.to_string(),
    };
    Ok(Python {
        engine: engine.clone(),
        pre,
        library: cache::library(&prepared.directory),
        pulse: Pulse::start(engine).map_err(stopped)?,
        _temporary: prepared.temporary,
    })
}

#[async_trait]
impl ReplFactory for PythonFactory {
    async fn start(&self, options: StartOptions, host: Arc<dyn HostCalls>) -> Result<Started, ReplError> {
        PythonRepl::start(Arc::new(self.clone()), options, host).await
    }
}
