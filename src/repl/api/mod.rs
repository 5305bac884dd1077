//! The contract between a REPL and its owner. It is object-safe and knows nothing about wasm, so that another backend
//! (a container, a remote kernel) can stand behind it.

mod calls;
mod start;
mod state;
mod step;

pub use calls::{HostCall, HostCalls, HostError, PythonException};
pub use start::{Context, ContextKind, HostTool, Limits, Role, StartOptions, Started, ToolInfo, ToolModule};
pub use state::{
    Dropped, Pickle, RestoreFailure, RestoreKind, RestoreReport, RestoreSet, SavedVariable, Sweep, SweepLost,
    SweptFunction, SweptPickle, SweptVariable,
};
pub use step::{
    FinalValue, InstanceState, OutputChunk, READINGS, Step, StepError, StepErrorKind, StepOutcome, StepOutput,
};

use super::error::ReplError;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::Notify;

/// Starts REPLs. One a process; cheap to share.
#[async_trait]
pub trait ReplFactory: Send + Sync {
    /// Starts a fresh REPL: binds `context`, loads the tools, restores `options.restore`, in this order.
    ///
    /// A restored item that kills or hangs the interpreter (a hostile pickle) is left out and reported; it is no error.
    ///
    /// # Errors
    /// The interpreter cannot be prepared or does not come up.
    async fn start(&self, options: StartOptions, host: Arc<dyn HostCalls>) -> Result<Started, ReplError>;

    /// What a person is to know of it before each query: how it isolates, where that is less than the sandbox does.
    fn notice(&self) -> Option<String> {
        None
    }
}

/// One Python REPL. Its methods are called one after another by one owner; [`Canceller`] is the only way in from aside.
#[async_trait]
pub trait Repl: Send {
    /// Runs one step to its end and never fails itself: what goes wrong is in the outcome.
    ///
    /// `output` receives what is printed as it is printed. Dropping the future gives the instance up (it counts as
    /// lost), which is how a parked or abandoned step is left.
    async fn run(&mut self, step: Step, output: &mut (dyn FnMut(OutputChunk) + Send)) -> StepOutcome;

    /// Saves what persists of the namespace (`spec`: what persists), names in order of their binding.
    ///
    /// # Errors
    /// The instance was lost on the way ([`ReplError::Lost`] names the variable), or is not alive.
    async fn sweep(&mut self) -> Result<Sweep, ReplError>;

    /// Gives the current instance up, if there is one, and starts another with the same options and `restore`.
    ///
    /// # Errors
    /// As [`ReplFactory::start`].
    async fn restart(&mut self, restore: RestoreSet) -> Result<RestoreReport, ReplError>;

    /// Cancels the running step from another task.
    fn canceller(&self) -> Canceller;

    /// Whether an instance is there. A lost one is replaced by [`Repl::restart`].
    fn is_alive(&self) -> bool;

    /// Memory of the instance in bytes.
    fn memory_bytes(&self) -> u64;
}

/// Cancels the step that a REPL is running; without one, nothing happens. Cheap to clone.
#[derive(Clone, Default)]
pub struct Canceller(Arc<Notify>);

impl Canceller {
    /// Asks the running step to stop: at once where it awaits (its state is kept), by force 50 ms later.
    pub fn cancel(&self) {
        self.0.notify_waiters();
    }

    /// Resolves at the next cancel after this call. For implementations of [`Repl`].
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.notified()
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canceller")
    }
}
