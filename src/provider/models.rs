//! Which models there are to name: what each backend that could be used says it offers.

use super::anthropic::Anthropic;
use super::cli_agent;
use super::error::ErrorKind;
use super::open::OpenError;
use super::openai::OpenAi;
use super::settings::{DEFAULT_BASE_URL, Settings};
use serde_json::Value;
use std::path::Path;

/// The models of one backend.
#[derive(Debug)]
pub struct Offer {
    /// The backend, for people.
    pub backend: String,
    /// Model strings as they are passed to [`open`](super::open), sorted; or why it does not say.
    pub models: Result<Vec<String>, ErrorKind>,
}

/// Asks every backend that there is a key or an address for, and looks which coding agents are installed.
///
/// # Errors
///
/// Those of opening a backend; one that does not answer is an [`Offer`] that says so.
pub async fn list_models(settings: &Settings) -> Result<Vec<Offer>, OpenError> {
    let mut offers = Vec::new();
    if settings.api_key.is_some() || !settings.base_url.starts_with(DEFAULT_BASE_URL) {
        offers.push(OpenAi::new(settings)?.offer().await);
    }
    if settings.anthropic_key.is_some() {
        offers.push(Anthropic::new(settings)?.offer().await);
    }
    offers.push(agents(settings));
    Ok(offers)
}

fn agents(settings: &Settings) -> Offer {
    let installed = cli_agent::names(&settings.cli_agents)
        .into_iter()
        .filter(|(_, command)| is_installed(command));
    Offer {
        backend: "coding agents on this machine".to_owned(),
        models: Ok(installed.map(|(name, _)| format!("cli:{name}?model=MODEL")).collect()),
    }
}

fn is_installed(command: &str) -> bool {
    if command.contains(std::path::MAIN_SEPARATOR) {
        return Path::new(command).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

/// The ids in `{"data": [{"id": …}, …]}`, sorted; `None` when it is something else.
pub(super) fn ids(list: &Value) -> Option<Vec<String>> {
    let rows = list.get("data")?.as_array()?;
    let id = |row: &Value| row.get("id").and_then(Value::as_str).map(str::to_owned);
    let mut ids: Vec<String> = rows.iter().filter_map(id).collect();
    ids.sort();
    Some(ids)
}
