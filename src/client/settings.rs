//! From a [`Config`] to what the engine runs queries with: models are opened, files read, secrets registered.

use super::config::{Config, Hidden, McpSource, ModelChoice, ToolSource};
use super::error::Error;
use crate::disk::whole::{LARGEST_NAMED, read_named};
use crate::engine::{Limits, Model, Settings};
use crate::mcp::{self, ServerSpec};
use crate::provider::{self, Settings as ProviderSettings};
use crate::repl::ToolModule;
use crate::store::DEFAULT_CELL_CAP;
use crate::text::parse_nano;
use crate::text::secret::Secrets;
use std::path::Path;

impl Config {
    /// Opens and reads what it names. Blocks on files; touches no network.
    pub(crate) fn open(&self) -> Result<Settings, Error> {
        let providers = self.providers.clone().unwrap_or_else(ProviderSettings::from_env);
        let secrets = self.registered(&providers)?;
        let mcp = self.servers()?;
        mcp.iter().try_for_each(|server| server.register_secrets(&secrets))?;
        let model = self.primary.open(&providers)?;
        let sub_model = match self.sub.is_empty() {
            true => model.clone(),
            false => self.sub.or(&self.primary).open(&providers)?,
        };
        Ok(Settings {
            sub_model,
            limits: self.limits()?,
            allowance: self.allowance.clone(),
            guard: self.guard,
            instruction: self.instruction.clone(),
            schema: self.schema.clone(),
            structured_io: !self.no_structured_io,
            tools: self.tools()?,
            inherit_tools: self.inherit_tools,
            mcp,
            inherit_mcp: self.inherit_mcp,
            repl: self.repl,
            env: self.environment(),
            host_tools: if self.no_tools {
                Vec::new()
            } else {
                self.host_tools.clone()
            },
            groups: self.groups.clone(),
            ambient: self.ambient.clone(),
            approver: self.approver.clone(),
            cassette: !self.no_cassette,
            cell_cap: self.cell_cap.unwrap_or(DEFAULT_CELL_CAP),
            code_in_context: !self.no_session_code,
            secrets,
            ..Settings::new(model)
        })
    }

    /// What is kept out of records. Opens no model.
    pub(super) fn known_secrets(&self) -> Result<Secrets, Error> {
        self.registered(&self.providers.clone().unwrap_or_else(ProviderSettings::from_env))
    }

    fn registered(&self, providers: &ProviderSettings) -> Result<Secrets, Error> {
        let secrets = Secrets::default();
        match providers.register_secrets(&secrets) {
            // A key that no backend of ours will use need not be one that can be protected.
            Err(error) if self.primary.provider.is_none() => return Err(error.into()),
            _ => {}
        }
        for Hidden { name, value } in self.secrets.iter().chain(&self.env) {
            secrets.register(name, value)?;
        }
        Ok(secrets)
    }

    /// Values of the REPLs' environment.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        self.env.iter().map(|h| (h.name.clone(), h.value.clone())).collect()
    }

    fn limits(&self) -> Result<Limits, Error> {
        let usual = self.limits.max_money_nano;
        Ok(Limits {
            max_money_nano: self.max_money_spent.map_or(Ok(usual), nano_dollars)?,
            ..self.limits.clone()
        })
    }

    fn servers(&self) -> Result<Vec<ServerSpec>, Error> {
        let mut servers = Vec::new();
        for source in self.mcp.iter().filter(|_| !self.no_tools) {
            match source {
                McpSource::File(path) => servers.extend(mcp::load(path)?),
                McpSource::Server(server) => servers.push(server.clone()),
            }
        }
        Ok(servers)
    }

    fn tools(&self) -> Result<Vec<ToolModule>, Error> {
        self.tools
            .iter()
            .filter(|_| !self.no_tools)
            .map(ToolSource::read)
            .collect()
    }
}

impl ModelChoice {
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.provider.is_none()
    }

    /// A sub-agent's model string alone is meant for the caller's own backend, where there is one.
    fn or(&self, primary: &Self) -> Self {
        Self {
            name: self.name.clone(),
            provider: self.provider.clone().or_else(|| primary.provider.clone()),
        }
    }

    fn open(&self, providers: &ProviderSettings) -> Result<Model, Error> {
        let name = self.name.clone().unwrap_or_default();
        match &self.provider {
            None => Ok(Model {
                provider: provider::open(&name, providers)?,
                name,
            }),
            Some(provider) => Ok(Model {
                name: self.name.clone().unwrap_or_else(|| provider.label()),
                provider: provider.clone(),
            }),
        }
    }
}

impl ToolSource {
    fn read(&self) -> Result<ToolModule, Error> {
        let (file, source) = match self {
            Self::File(path) => (file_name(path), read(path)?.into()),
            Self::Text { file, source } => (file.clone(), source.clone()),
        };
        Ok(ToolModule {
            file,
            source,
            only: None,
        })
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn read(path: &Path) -> Result<String, Error> {
    read_named(path, LARGEST_NAMED).map_err(|cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    })
}

fn nano_dollars(dollars: f64) -> Result<i64, Error> {
    let nano = parse_nano(&dollars.to_string()).filter(|nano| *nano >= 0);
    nano.ok_or_else(|| Error::Option {
        name: "max_money_spent",
        reason: format!("{dollars} is no amount of US dollars, like 0.20"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{OpenError, Scripted};
    use std::sync::Arc;

    fn offline() -> Config {
        let scripted = Scripted::from_yaml("replies: [hi]", &ProviderSettings::default()).unwrap();
        Config::default()
            .provider(Arc::new(scripted))
            .provider_settings(ProviderSettings::default())
    }

    #[test]
    fn a_model_is_required_and_the_error_says_how_to_set_it() {
        let config = Config::default().provider_settings(ProviderSettings::default());
        assert!(matches!(config.open(), Err(Error::Model(OpenError::ModelMissing))));
    }

    #[test]
    fn options_reach_the_engine_under_their_names() {
        let settings = offline()
            .primary_agent("mine/large")
            .sub_agent("mine/small")
            .max_depth(1)
            .max_global_calls(7)
            .max_money_spent(1.25)
            .compression_ratio(0.9)
            .add_session_code_to_context(false)
            .tool_source("t.py", "def f(): ...")
            .env("CITY_KEY", "Reykjavik-8")
            .open()
            .unwrap();
        assert_eq!(
            (settings.model.name.as_str(), settings.sub_model.name.as_str()),
            ("mine/large", "mine/small")
        );
        assert_eq!(
            (settings.limits.max_depth, settings.limits.max_global_calls),
            (1, Some(7))
        );
        assert_eq!(
            (settings.limits.max_money_nano, settings.guard.ratio),
            (1_250_000_000, 0.9)
        );
        assert!(!settings.code_in_context && settings.tools.len() == 1);
        assert_eq!(settings.secrets.redact("in Reykjavik-8"), "in [secret CITY_KEY]");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let told = |config: Config| config.open().unwrap_err().to_string();
        assert!(told(offline().max_money_spent(f64::NAN)).contains("max_money_spent"));
        assert!(told(offline().max_money_spent(-1.0)).contains("max_money_spent"));
        assert!(told(offline().secret("PIN", "1234")).contains("PIN"));
        assert!(told(offline().tool_file("/nonexistent/tools.py")).contains("/nonexistent/tools.py"));
        offline()
            .tool_file("/nonexistent/tools.py")
            .enable_tools(false)
            .open()
            .unwrap();
    }

    #[test]
    fn a_backend_without_a_model_string_is_recorded_by_its_label() {
        let settings = offline().open().unwrap();
        assert_eq!(settings.model.name, "the script script");
    }
}
