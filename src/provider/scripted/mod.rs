//! Replies from a file: for tests, demos and working offline. `docs/scripted.md` describes the file.

mod choose;
mod file;
mod pattern;
mod perform;
mod scalar;
#[cfg(test)]
mod tests;

pub use file::{Script, ScriptError};

use super::error::CallError;
use super::reply::Reply;
use super::request::Request;
use super::retry::{self, Pacing};
use super::settings::Settings;
use super::{Cancel, CostExpectation, DeltaSink, Provider};
use async_trait::async_trait;
use perform::Performance;
use std::path::Path;
use std::sync::atomic::AtomicUsize;

/// The name of the server in this backend's errors.
const SERVER: &str = "the script";

/// A model whose replies are written in a script.
///
/// ```
/// # use fast_rlm::provider::{Cancel, Discard, Message, Provider, Request, Scripted, Settings};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = Scripted::from_yaml("replies: [Hello]", &Settings::default()).unwrap();
/// let request = Request::new("scripted:test", vec![Message::user("Say hello")]);
/// let reply = model.call(&request, &mut Discard, &Cancel::new()).await.unwrap();
/// assert_eq!(reply.text, "Hello");
/// # });
/// ```
#[derive(Debug)]
pub struct Scripted {
    script: Script,
    /// How many of the replies in order have been given.
    given: AtomicUsize,
    pacing: Pacing,
    delays: bool,
}

impl Scripted {
    /// Plays a script.
    #[must_use]
    pub fn new(script: Script, settings: &Settings) -> Self {
        Self {
            script,
            given: AtomicUsize::new(0),
            pacing: settings.pacing,
            delays: settings.script_delays,
        }
    }

    /// Reads the script in `path`: JSON when it ends in `.json`, else YAML. What follows a `#` is a label that tells two
    /// models of one script apart, unless a file of the whole name exists.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with the place in the file.
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, ScriptError> {
        let bare = path
            .to_str()
            .filter(|_| !path.exists())
            .and_then(|name| name.rsplit_once('#'))
            .map(|(file, _)| file);
        Ok(Self::new(Script::read(bare.map_or(path, Path::new))?, settings))
    }

    /// Plays a script given as YAML text.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with the place in the text.
    pub fn from_yaml(text: &str, settings: &Settings) -> Result<Self, ScriptError> {
        Ok(Self::new(Script::from_yaml("script", text)?, settings))
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        let performance = Performance {
            script: &self.script,
            chosen: self.choose(request),
            delays: self.delays,
        };
        retry::run(&performance, self.pacing, request, deltas, cancel).await
    }

    fn label(&self) -> String {
        format!("the script {}", self.script.name)
    }

    fn cost_expectation(&self, _model: &str) -> CostExpectation {
        CostExpectation::Reported
    }
}
