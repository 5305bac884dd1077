//! One query in one call.

use super::config::Config;
use super::error::Error;
use super::output::Output;
use super::session::Session;
use crate::engine::Input;
use std::path::PathBuf;

/// Where a query's session lives, and what the query is run with.
///
/// ```
/// use fast_rlm::{Config, RunOptions};
///
/// let options = RunOptions::new(Config::new("z-ai/glm-5")).session_dir("runs").session_id("podcasts");
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Models, limits, grants.
    pub config: Config,
    /// The session's directory; without one the session ends with the query.
    pub session_dir: Option<PathBuf>,
    /// One of several sessions under `session_dir`.
    pub session_id: Option<String>,
}

impl RunOptions {
    /// A query whose session ends with it.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Keeps the session in `dir`, for later queries.
    #[must_use]
    pub fn session_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.session_dir = Some(dir.into());
        self
    }

    /// Keeps the session in the directory `id` under the session directory.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }
}

/// Runs one query and waits for its answer.
///
/// ```no_run
/// use fast_rlm::{Config, RunOptions};
///
/// let output = fast_rlm::run("How many primes are below 1000?", RunOptions::new(Config::new("z-ai/glm-5")))?;
/// println!("{}", output.text());
/// # Ok::<(), fast_rlm::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`Session::open`] and [`Session::query`].
pub fn run(query: impl Into<Input>, options: RunOptions) -> Result<Output, Error> {
    let kept = options.session_dir.is_some();
    let session = Session::at(options.session_dir, options.session_id.as_deref())?.config(options.config);
    let session = if kept { session } else { session.never_parks() };
    let output = session.query(query);
    session.close()?;
    output
}
