//! What the terminal program asks queries with: flags win over environment, environment over the configuration file.

use super::args::LogArgs;
use crate::disk::config::{ConfigError, Effective};
use crate::tui::live::DriveOptions;
use std::path::Path;
use std::sync::Arc;

/// What files and environment set, or why they cannot be used.
pub(super) type Configured = Result<Effective, ConfigError>;

/// Questions that the demo's script finds something about.
#[cfg(feature = "engine")]
const SUGGESTIONS: [&str; 3] = [
    "What does he say about the oil?",
    "When was there fog?",
    "What did the goat do?",
];

/// The options of these arguments; `script` answers follow-ups of the demo offline, where no model is named.
#[cfg(feature = "engine")]
pub(super) fn options(args: &LogArgs, configured: &Configured, script: Option<&Path>) -> Arc<DriveOptions> {
    use super::query::config::Config;
    use crate::tui::widgets::prompt::Settings;

    let read = configured.as_ref().map_err(ToString::to_string);
    let config = read.and_then(|effective| Config::of(effective).map_err(|error| error.to_string()));
    let (file, trouble) = match config {
        Ok(file) => (file, None),
        Err(trouble) => (Config::default(), Some(trouble)),
    };
    let scripted = script.map(|script| format!("scripted:{}", script.display()));
    let named = args.primary_agent.clone().or_else(|| scripted.clone());
    let usual = Settings::default();
    let (client, trouble) = match file.client() {
        Ok(client) => (client, trouble),
        Err(why) => (Default::default(), trouble.or(Some(why.to_string()))),
    };
    let (money, trouble) = match file.max_money_nano() {
        Ok(money) => (money, trouble),
        Err(why) => (None, trouble.or(Some(why))),
    };
    let settings = Settings {
        model: named.clone().or_else(|| file.primary_agent.clone()),
        // A model of the configuration's own would not be offline.
        sub_model: args
            .sub_agent
            .clone()
            .or_else(|| file.sub_agent.clone().filter(|_| scripted.is_none())),
        max_money_nano: money.unwrap_or(usual.max_money_nano),
        max_depth: file.max_depth.unwrap_or(usual.max_depth),
        code_in_context: file.add_session_code_to_context.unwrap_or(usual.code_in_context),
    };
    Arc::new(DriveOptions {
        settings,
        model_is_flag: named.is_some(),
        config_file: args.config.clone(),
        trouble,
        suggestions: scripted.map_or_else(Vec::new, |_| SUGGESTIONS.map(str::to_owned).to_vec()),
        secrets: crate::text::secret::Secrets::of_environment(),
        config: client,
    })
}

/// A build without an engine asks nothing.
#[cfg(not(feature = "engine"))]
pub(super) fn options(_args: &LogArgs, _configured: &Configured, _script: Option<&Path>) -> Arc<DriveOptions> {
    Arc::default()
}
