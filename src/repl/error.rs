//! What can go wrong with a REPL itself. Errors of the code that runs inside it are not here: they are part of a
//! step's outcome.

use std::path::PathBuf;

/// The interpreter could not be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A file or directory of the cache could not be used.
    #[error("cannot {what} {}: {source}; set FAST_RLM_CACHE_DIR to a private directory", path.display())]
    File {
        /// What was tried, as a verb: "create", "write", "lock".
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Neither `FAST_RLM_CACHE_DIR` nor the user's cache directory is known.
    #[error("no cache directory: {0}; set FAST_RLM_CACHE_DIR to a private directory")]
    NoCacheDirectory(String),
    /// Somebody else could put machine code there.
    #[error("{} is not a directory that only this user can write to (chmod go-w it, or set FAST_RLM_CACHE_DIR)", .0.display())]
    Untrusted(PathBuf),
    /// An embedded part is damaged.
    #[error("cannot unpack the embedded part {part}: {source}")]
    Unpack {
        /// The part's file name.
        part: String,
        /// The decoder's reason.
        source: std::io::Error,
    },
    /// Linking, running Python's start-up, taking the snapshot or compiling failed.
    #[error("cannot {stage}: {reason}")]
    Stage {
        /// What was being done.
        stage: &'static str,
        /// The reason as the tool gave it.
        reason: String,
    },
    /// There is no `python3` that a worker could run.
    #[error(
        "{0}: install Python 3.11 or newer as python3 (on Debian and Ubuntu: apt install python3), or leave --repl out"
    )]
    NoPython(String),
    /// Code in a `python3` could reach what it is not to reach.
    #[error("python3 cannot be shut in: this kernel has {0}, and without it there is no boundary; leave --repl out")]
    NotShutIn(String),
    /// The child process that prepares did not succeed.
    #[error("the process that prepares Python failed ({0}); `fast-rlm warmup` shows why")]
    Child(String),
    /// A signal ended that process. This one would fare no better.
    #[error(
        "the process that prepares Python was ended ({0}); it takes 600 MB of memory: free some, or raise the limit that \
         ended it, then try again"
    )]
    Killed(String),
}

/// With so much memory an interpreter starts, and has some for what it is asked.
pub(super) const LEAST_MEGABYTES: u64 = 64;

/// A REPL could not be started, or its instance is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplError {
    /// The interpreter is not ready and could not be made so.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The interpreter did not come up.
    #[error("Python did not start: {0}")]
    Start(String),
    /// Its limit of memory is too low for the interpreter itself.
    #[error(
        "Python does not start in {megabytes} MB of memory (repl_memory_mb): give it {LEAST_MEGABYTES} or more; it is 512 \
         where it is not set"
    )]
    TooLittleMemory {
        /// The limit.
        megabytes: u64,
    },
    /// The instance was lost while it did something else than run a step.
    #[error("the Python instance was lost while {doing}: {why}")]
    Lost {
        /// What it was doing, for example "saving the variable `x`".
        doing: String,
        /// The trap, limit or exit that ended it.
        why: String,
    },
    /// There is no live instance: [`Repl::restart`](super::Repl::restart) makes one.
    #[error("the Python instance is gone; restart the REPL first")]
    NotAlive,
    /// The guest's kernel answered with something that is not its protocol (user code broke it).
    #[error("the REPL's kernel answered nonsense: {0}")]
    Protocol(String),
    /// The file with the context could not be read.
    #[error("cannot read the context from {}: {source}", path.display())]
    Context {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}
