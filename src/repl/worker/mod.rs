//! A second backend: the system's `python3` in a worker process, for native speed, threads and installed packages. The
//! kernel is the sandbox's, so are the pickles; only the wire and the event loop are others (`assets/python/worker/`).
//!
//! The process shuts itself in before anything of a user's runs, with `ctypes`, because most of that cannot be done for
//! it by another process, and what could be done between fork and exec takes unsafe code in Rust: see `harden.py` there.
//! It has a session of its own, an empty environment, an empty directory, no open files but its two pipes, and ends with
//! this process. What cannot be prevented is bounded: time by an interrupt and then a kill, memory by the system, files
//! and threads by looking at them.

mod frames;
mod probe;
mod process;
mod pump;
mod room;

use self::probe::Interpreter;
use self::pump::Pump;
use super::api::{HostCalls, Limits, ReplFactory, StartOptions, Started};
use super::clock::PinnedClock;
use super::error::{PrepareError, ReplError};
use super::instance::{Instance, Spawn};
use super::link::Link;
use super::memory::{MemoryPool, MemoryUse, half_of_machine};
use super::session::PythonRepl;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Starts REPLs in processes of the system's `python3`. Cheap to clone.
///
/// It isolates less than the sandbox of [`PythonFactory`](super::PythonFactory): what it does is in
/// [`WorkerFactory::isolation`].
#[derive(Clone, Debug)]
pub struct WorkerFactory {
    interpreter: Arc<Interpreter>,
    pool: Arc<MemoryPool>,
}

impl WorkerFactory {
    /// Finds `python3` on `PATH` and asks it what it is and how it can be isolated here. Blocks.
    ///
    /// # Errors
    /// There is none, or an old one; it cannot be used; this is no Linux, or one that has no Landlock or no seccomp.
    pub fn load() -> Result<Self, PrepareError> {
        let interpreter = Arc::new(Interpreter::find("python3")?);
        let pool = Arc::new(MemoryPool::new(half_of_machine()));
        Ok(Self { interpreter, pool })
    }

    /// Bounds the memory of all workers together, in bytes; half of the machine's unless this is called. A worker that
    /// grows beyond it is ended.
    #[must_use]
    pub fn with_process_memory(mut self, bytes: u64) -> Self {
        self.pool = Arc::new(MemoryPool::new(bytes));
        self
    }

    /// Memory of all workers together, in bytes, when each was last looked at.
    #[must_use]
    pub fn memory_in_use(&self) -> u64 {
        self.pool.used()
    }

    /// Which Python it is, and what keeps it in, in a sentence.
    #[must_use]
    pub fn isolation(&self) -> String {
        self.interpreter.isolation()
    }
}

#[async_trait]
impl ReplFactory for WorkerFactory {
    async fn start(&self, options: StartOptions, host: Arc<dyn HostCalls>) -> Result<Started, ReplError> {
        PythonRepl::start(Arc::new(self.clone()), options, host).await
    }

    fn notice(&self) -> Option<String> {
        Some(self.isolation())
    }
}

impl Spawn for WorkerFactory {
    fn spawn(&self, limits: &Limits, host: Arc<dyn HostCalls>, runtime: Handle) -> Result<Instance, ReplError> {
        let (link, ends) = Link::new(host, runtime);
        let memory = Arc::new(MemoryUse::of_system());
        let pump = Pump {
            interpreter: self.interpreter.clone(),
            memory_bytes: limits.memory_bytes,
            pickle_bytes: limits.pickle_bytes,
            pool: self.pool.clone(),
            link: link.clone(),
            memory: memory.clone(),
        };
        // Its clocks are the system's, which nobody reads for it.
        let clock = Arc::new(PinnedClock::new(None));
        Instance::start((link, ends), clock, memory, move |stop| pump.run(&stop))
    }
}
