//! Coding agents as models: a program of the user's, in its own non-interactive mode and under its own login, is given
//! the conversation and answers one message. Its own tools are denied; it runs in an empty directory.

mod keys;
mod older;
mod output;
mod process;
mod prompt;
mod spec;

pub(super) use spec::names;
pub use spec::{AgentSpec, Field, Output, Places, UsagePlaces};

use super::collect::Collector;
use super::error::{CallError, ErrorKind};
use super::open::OpenError;
use super::pricing::PricingTable;
use super::reply::{Finish, Reply, Usage};
use super::request::Request;
use super::retry::{self, Attempt, Pacing};
use super::settings::Settings;
use super::{Cancel, CostExpectation, DeltaSink, Provider};
use crate::text::secret::Secrets;
use async_trait::async_trait;
use output::Reader;

/// The prefix of model strings.
pub(super) const PREFIX: &str = "cli:";

/// An agent, asked for one model.
#[derive(Debug)]
pub struct CliAgent {
    name: String,
    model: String,
    spec: AgentSpec,
    pricing: PricingTable,
    pacing: Pacing,
    secrets: Secrets,
}

impl CliAgent {
    /// The agent of a model string `cli:NAME?model=MODEL`: declared in the settings, or one of those that ship. Nothing
    /// is run yet. `lookup` gives the environment.
    ///
    /// # Errors
    ///
    /// [`OpenError::Agent`] for an unknown name, a missing model, a declaration that makes no sense, and an API key in the
    /// environment that the agent would use instead of its login.
    pub fn open(model: &str, settings: &Settings, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, OpenError> {
        let bad = |reason: String| OpenError::Agent {
            model: model.to_owned(),
            reason,
        };
        let (name, named) = parts(model).ok_or_else(|| {
            bad("it must name a model of the agent's: cli:NAME?model=MODEL, for example cli:claude?model=sonnet".into())
        })?;
        let mut spec = spec::find(name, &settings.cli_agents).map_err(bad)?;
        let set = |variable: &String| lookup(variable).is_some_and(|value| !value.trim().is_empty());
        let billed = spec.billing_variables(named);
        let secrets = Secrets::default();
        if settings.cli_allow_api_key {
            for variable in &billed {
                if let Some(value) = lookup(variable).filter(|value| !value.trim().is_empty()) {
                    // One that is too short to be told from other words is no key.
                    let _ = secrets.register(variable, &value);
                }
            }
            spec.pass_on.extend(billed);
        } else if let Some(variable) = billed.into_iter().find(set) {
            return Err(bad(format!(
                "{variable} is set, and {name} would bill it instead of using its own login: unset it for this run \
                 (env -u {variable} …), or set cli_allow_api_key to let it, or name the model without {PREFIX} to use the \
                 key"
            )));
        }
        settings
            .register_secrets(&secrets)
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            name: name.to_owned(),
            model: named.to_owned(),
            spec,
            pricing: settings.pricing.clone(),
            pacing: settings.pacing,
            secrets,
        })
    }

    fn failed(&self, reason: &str) -> ErrorKind {
        let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = self.secrets.redact(&line).chars().take(400).collect();
        ErrorKind::Agent {
            agent: self.name.clone(),
            reason: short,
        }
    }
}

/// Name and model of `cli:NAME?model=MODEL`.
fn parts(model: &str) -> Option<(&str, &str)> {
    let (name, query) = model.strip_prefix(PREFIX)?.split_once('?')?;
    let named = query.split('&').find_map(|pair| pair.strip_prefix("model="))?;
    (!named.is_empty()).then_some((name, named))
}

#[async_trait]
impl Attempt for CliAgent {
    async fn attempt(&self, request: &Request, _number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let asked = prompt::of(&request.messages, self.spec.takes_system());
        let mut running = process::start(&self.spec, &self.model, &asked).map_err(|error| self.failed(&error))?;
        // It runs: unless it says what it uses, that is unknown, not nothing.
        collector.usage(Usage::default());
        let mut reader = Reader::new(&self.spec, &self.name);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = running
                .read(&mut buffer)
                .await
                .map_err(|error| self.failed(&error.to_string()))?;
            let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            reader.push(bytes, request.limits.max_reply_bytes, collector)?;
        }
        reader.end(collector)?;
        let exit = running.end().await.map_err(|error| self.failed(&error.to_string()))?;
        if let Some(error) = reader.error().or(exit) {
            return Err(self.failed(&error));
        }
        if collector.partial.text.is_empty() {
            return Err(ErrorKind::Empty {
                server: self.name.clone(),
            });
        }
        if let Some(usage) = &mut collector.partial.usage {
            self.pricing.complete(&self.model, usage);
        }
        collector.ending.finish = Some(Finish::Stop);
        Ok(())
    }
}

#[async_trait]
impl Provider for CliAgent {
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        retry::run(self, self.pacing, request, deltas, cancel).await
    }

    fn label(&self) -> String {
        format!("the agent {} ({}), with its own login", self.name, self.spec.command)
    }

    fn cost_expectation(&self, _model: &str) -> CostExpectation {
        if self.spec.usage.cost.is_some() {
            CostExpectation::Reported
        } else if self.pricing.price(&self.model).is_some() {
            CostExpectation::Table
        } else {
            CostExpectation::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(model: &str, set: &[&str]) -> String {
        let lookup = |name: &str| set.contains(&name).then(|| "a-key".to_owned());
        CliAgent::open(model, &Settings::default(), lookup)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_model_must_be_named_and_an_agent_known() {
        for model in ["cli:claude", "cli:claude?model=", "cli:claude?effort=high"] {
            assert!(refused(model, &[]).contains("cli:NAME?model=MODEL"), "{model}");
        }
        let told = refused("cli:emacs?model=doctor", &[]);
        assert!(
            told.contains("emacs") && told.contains("claude, codex, opencode"),
            "{told}"
        );
    }

    #[test]
    fn a_key_that_would_be_billed_is_refused() {
        for (model, key) in [
            ("cli:claude?model=sonnet", "ANTHROPIC_API_KEY"),
            ("cli:codex?model=gpt-5", "OPENAI_API_KEY"),
            ("cli:opencode?model=openrouter/z-ai/glm-5", "OPENROUTER_API_KEY"),
            ("cli:opencode?model=google/gemini-2.5-pro", "GEMINI_API_KEY"),
            (
                "cli:opencode?model=google/gemini-2.5-pro",
                "GOOGLE_GENERATIVE_AI_API_KEY",
            ),
            ("cli:opencode?model=zai/glm-5", "ZHIPU_API_KEY"),
            ("cli:opencode?model=fireworks-ai/some", "FIREWORKS_API_KEY"),
        ] {
            assert!(refused(model, &[key]).contains(key), "{model}");
        }
        let other = |name: &str| (name == "OPENROUTER_API_KEY").then(|| "a-key-of-mine".to_owned());
        let allowed = Settings {
            cli_allow_api_key: true,
            ..Settings::default()
        };
        let agent = CliAgent::open("cli:opencode?model=openrouter/z-ai/glm-5", &allowed, other).unwrap();
        assert!(agent.spec.is_handed("OPENROUTER_API_KEY") && !agent.spec.is_handed("OPENAI_API_KEY"));
        assert!(
            !agent
                .secrets
                .redact("invalid key a-key-of-mine")
                .contains("a-key-of-mine")
        );
        assert!(CliAgent::open("cli:claude?model=sonnet", &Settings::default(), other).is_ok());
        assert!(
            CliAgent::open(
                "cli:opencode?model=anthropic/claude-sonnet-4-5",
                &Settings::default(),
                other
            )
            .is_ok()
        );
    }
}
