//! What a client is made of.

use super::config::Config;
use super::door::Client;
use super::error::Error;
use crate::engine::{Approver, Observation, Tool, ToolGroup};
use crate::provider::Provider;
use crate::store::Storage;
use std::sync::Arc;

/// Makes a [`Client`]. What is not named here is in [`Config`].
#[derive(Clone, Debug, Default)]
pub struct ClientBuilder {
    config: Config,
    storage: Storage,
}

impl ClientBuilder {
    /// The root's model: its string is handed to the provider.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        self.configured(|config| config.primary_agent(model))
    }

    /// The sub-agents' model. Default: the root's.
    #[must_use]
    pub fn sub_model(self, model: impl Into<String>) -> Self {
        self.configured(|config| config.sub_agent(model))
    }

    /// Where sessions are kept. Default: in memory, and nothing outlives the client.
    #[must_use]
    pub fn storage(mut self, storage: Storage) -> Self {
        self.storage = storage;
        self
    }

    /// Everything else. Replaces what was set before.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// A tool that the host runs.
    #[must_use]
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.configured(|config| config.tool(tool))
    }

    /// Who decides about tool calls and questions.
    #[must_use]
    pub fn approver(self, approver: impl Approver + 'static) -> Self {
        self.configured(|config| config.approver(approver))
    }

    /// Groups of tools that are hidden until their signal is observed.
    #[must_use]
    pub fn groups(self, groups: impl IntoIterator<Item = ToolGroup>) -> Self {
        self.configured(|config| config.groups(groups))
    }

    /// What is observed from the start.
    #[must_use]
    pub fn ambient_signals(self, observed: impl IntoIterator<Item = Observation>) -> Self {
        self.configured(|config| config.ambient_signals(observed))
    }

    /// Whether results of leaf calls are recorded. Default: yes.
    #[must_use]
    pub fn cassette(self, on: bool) -> Self {
        self.configured(|config| config.cassette(on))
    }

    /// Whether a query that was cut is finished before the next one is asked. Default: no.
    #[must_use]
    pub fn auto_resume(self, on: bool) -> Self {
        self.configured(|config| config.auto_resume(on))
    }

    /// A value to be kept out of every file, event and message.
    #[must_use]
    pub fn secret(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.configured(|config| config.secret(name, value))
    }

    /// The client, whose models are asked through `provider`. Opens the storage, and mints no session.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::File`].
    pub fn build(self, provider: Arc<dyn Provider>) -> Result<Client, Error> {
        Client::new(self.config.provider(provider), &self.storage)
    }

    /// The client, whose models are opened by their strings when the first query begins.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    pub fn open(self) -> Result<Client, Error> {
        Client::new(self.config, &self.storage)
    }

    fn configured(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.config = change(self.config);
        self
    }
}
