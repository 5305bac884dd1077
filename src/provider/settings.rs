//! Where models are reached and with which keys: from the environment, or set by the caller.

use super::cli_agent::AgentSpec;
use super::pricing::PricingTable;
use super::retry::Pacing;
use crate::disk::config::is_no_text;
use crate::text::secret::{SecretError, Secrets};
use std::collections::BTreeMap;
use std::fmt;

/// Where requests go unless `RLM_MODEL_BASE_URL` says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://openrouter.ai/api/v1";

/// The variable that names another server.
pub(super) const BASE_URL_VARIABLE: &str = "RLM_MODEL_BASE_URL";

/// The variables that can hold the key; the first that is set counts.
pub const KEY_VARIABLES: [&str; 3] = ["RLM_MODEL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];

/// Where requests to Anthropic's API go unless `ANTHROPIC_BASE_URL` says otherwise.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";

/// The variable that names another server for Anthropic's API.
pub(super) const ANTHROPIC_BASE_URL_VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// The variables that can name it, for this program alone first; the first that is set counts.
const ANTHROPIC_BASE_URL_VARIABLES: [&str; 2] = ["RLM_ANTHROPIC_BASE_URL", ANTHROPIC_BASE_URL_VARIABLE];

/// The variable that holds the key for Anthropic's API.
pub(super) const ANTHROPIC_KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The variables that can hold it, for this program alone first; the first that is set counts.
const ANTHROPIC_KEY_VARIABLES: [&str; 2] = ["RLM_ANTHROPIC_API_KEY", ANTHROPIC_KEY_VARIABLE];

/// The variables of which one must be set, as a message names them: those of Anthropic's own API first where its models
/// are asked for, else last, where they count at all.
pub(crate) fn key_variables(anthropic: Anthropics) -> String {
    let names: Vec<&str> = match anthropic {
        Anthropics::First => ANTHROPIC_KEY_VARIABLES.into_iter().chain(KEY_VARIABLES).collect(),
        Anthropics::Last => KEY_VARIABLES.into_iter().chain(ANTHROPIC_KEY_VARIABLES).collect(),
        Anthropics::Left => KEY_VARIABLES.to_vec(),
    };
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// Where the variables of Anthropic's own API stand among all of them.
pub(crate) enum Anthropics {
    /// Its models are asked for.
    First,
    /// Any model will do.
    Last,
    /// The key of another server is asked for.
    Left,
}

/// Set to `off`, replies are asked for whole: for servers that cannot stream.
pub(super) const STREAM_VARIABLE: &str = "RLM_MODEL_STREAM";

/// Set to `off`, scripted models answer at once whatever delays their script writes.
pub(super) const SCRIPT_DELAYS_VARIABLE: &str = "RLM_SCRIPT_DELAYS";

/// Set to `1`, the Python package asks Vertex AI for every model.
pub(super) const VERTEX_VARIABLE: &str = "RLM_VERTEX_AI";

/// A key and the variable it came from. Its value never shows in `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The variable (or another name) it came from.
    pub name: String,
    pub(super) value: String,
}

impl ApiKey {
    /// A key named after where it came from.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.name)
    }
}

/// What backends need to know besides the model string.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The base URL of the OpenAI-compatible API, up to and including `/v1`.
    pub base_url: String,
    /// The key for it; a server of one's own may need none.
    pub api_key: Option<ApiKey>,
    /// The base URL of Anthropic's API, without `/v1`.
    pub anthropic_base_url: String,
    /// The variable that it came from, or that would set it: errors name it.
    pub anthropic_base_url_variable: &'static str,
    /// The key for Anthropic's API; with one, models of Anthropic's are asked there.
    pub anthropic_key: Option<ApiKey>,
    /// Whether replies are asked for as a stream.
    pub stream: bool,
    /// Prices for servers that state no cost.
    pub pricing: PricingTable,
    /// Coding agents that are declared besides those that ship, by name.
    pub cli_agents: BTreeMap<String, AgentSpec>,
    /// Whether an agent may bill a key that is set, instead of using its own login.
    pub cli_allow_api_key: bool,
    /// Whether every model is to be asked of Vertex AI, which is no backend here: it is refused.
    pub vertex: bool,
    /// How long to wait between attempts.
    pub pacing: Pacing,
    /// Whether scripted models wait as their script says.
    pub script_delays: bool,
    /// A variable for servers and their keys that is set to what is no text: nobody is asked in the place of what it names.
    pub not_text: Option<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: DEFAULT_BASE_URL.to_owned(),
            api_key: None,
            anthropic_base_url: ANTHROPIC_BASE_URL.to_owned(),
            anthropic_base_url_variable: ANTHROPIC_BASE_URL_VARIABLE,
            anthropic_key: None,
            stream: true,
            pricing: PricingTable::builtin(),
            cli_agents: BTreeMap::new(),
            cli_allow_api_key: false,
            vertex: false,
            pacing: Pacing::default(),
            script_delays: true,
            not_text: None,
        }
    }
}

impl Settings {
    /// The settings of this process's environment.
    #[must_use]
    pub fn from_env() -> Self {
        let variables = KEY_VARIABLES
            .into_iter()
            .chain(ANTHROPIC_KEY_VARIABLES)
            .chain(ANTHROPIC_BASE_URL_VARIABLES)
            .chain([BASE_URL_VARIABLE, STREAM_VARIABLE, VERTEX_VARIABLE]);
        Self {
            not_text: variables.into_iter().find(|name| is_no_text(name)),
            ..Self::from_lookup(|name| std::env::var(name).ok())
        }
    }

    /// The settings that `lookup` gives for the variables' names. Empty values count as unset.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| {
            lookup(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let mut settings = Self::default();
        if let Some(base_url) = set(BASE_URL_VARIABLE) {
            settings.base_url = base_url;
        }
        let key = |names: &[&str]| {
            let mut set = names.iter().filter_map(|name| Some(ApiKey::new(*name, set(name)?)));
            set.next()
        };
        settings.api_key = key(&KEY_VARIABLES);
        settings.anthropic_key = key(&ANTHROPIC_KEY_VARIABLES);
        let mut addresses = ANTHROPIC_BASE_URL_VARIABLES.into_iter();
        if let Some((name, base_url)) = addresses.find_map(|name| Some((name, set(name)?))) {
            settings.anthropic_base_url = base_url;
            settings.anthropic_base_url_variable = name;
        }
        settings.vertex = set(VERTEX_VARIABLE).as_deref() == Some("1");
        settings.stream = set(STREAM_VARIABLE).as_deref() != Some("off");
        settings.script_delays = set(SCRIPT_DELAYS_VARIABLE).as_deref() != Some("off");
        settings
    }

    /// Registers the keys, so that they are redacted wherever they would show.
    ///
    /// # Errors
    ///
    /// [`SecretError`] when a key is too short to be protected.
    pub fn register_secrets(&self, secrets: &Secrets) -> Result<(), SecretError> {
        let keys = [&self.api_key, &self.anthropic_key].into_iter().flatten();
        keys.into_iter()
            .try_for_each(|key| secrets.register(&key.name, &key.value))
    }
}

/// What is known of one key variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStatus {
    /// The variable's name.
    pub variable: &'static str,
    /// Whether it holds a key.
    pub state: KeyState,
}

/// Whether a variable holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// It is not set.
    Unset,
    /// Its key is used.
    Used,
    /// It is set, but one named before it wins.
    Overridden,
}

/// What the environment says about keys, in the order in which they count; Anthropic's are for its own models only.
/// Never the keys themselves.
pub fn key_status(lookup: impl Fn(&str) -> Option<String>) -> Vec<KeyStatus> {
    let lists: [&[&'static str]; 2] = [&KEY_VARIABLES, &ANTHROPIC_KEY_VARIABLES];
    lists.into_iter().flat_map(|list| states(list, &lookup)).collect()
}

/// Those of the variables of one key.
fn states(variables: &[&'static str], lookup: &impl Fn(&str) -> Option<String>) -> Vec<KeyStatus> {
    let mut taken = false;
    let status = |variable: &&'static str| {
        let set = lookup(variable).is_some_and(|value| !value.trim().is_empty());
        let state = match (set, set && std::mem::replace(&mut taken, true)) {
            (false, _) => KeyState::Unset,
            (true, false) => KeyState::Used,
            (true, true) => KeyState::Overridden,
        };
        KeyStatus { variable, state }
    };
    variables.iter().map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn the_first_key_that_is_set_counts() {
        let pairs = [
            ("OPENROUTER_API_KEY", "key-of-openrouter"),
            ("OPENAI_API_KEY", "key-of-openai"),
            ("RLM_MODEL_API_KEY", " "),
        ];
        let settings = Settings::from_lookup(env(&pairs));
        assert_eq!(settings.api_key, Some(ApiKey::new("OPENAI_API_KEY", "key-of-openai")));
        assert_eq!(settings.base_url, DEFAULT_BASE_URL);
        let states: Vec<KeyState> = key_status(env(&pairs)).iter().map(|status| status.state).collect();
        let unset = KeyState::Unset;
        assert_eq!(states, [unset, KeyState::Used, KeyState::Overridden, unset, unset]);
    }

    #[test]
    fn what_is_set_for_this_program_alone_counts_before_what_others_read() {
        let pairs = [
            ("ANTHROPIC_API_KEY", "key-of-everyone"),
            ("RLM_ANTHROPIC_API_KEY", "key-of-this-one"),
            ("ANTHROPIC_BASE_URL", "https://everyone"),
            ("RLM_ANTHROPIC_BASE_URL", "https://this-one"),
        ];
        let settings = Settings::from_lookup(env(&pairs));
        let key = ApiKey::new("RLM_ANTHROPIC_API_KEY", "key-of-this-one");
        assert_eq!(settings.anthropic_key, Some(key));
        assert_eq!(settings.anthropic_base_url, "https://this-one");
        assert_eq!(settings.anthropic_base_url_variable, "RLM_ANTHROPIC_BASE_URL");
        let last = key_status(env(&pairs)).into_iter().skip(3).map(|status| status.state);
        assert_eq!(last.collect::<Vec<_>>(), [KeyState::Used, KeyState::Overridden]);
        let secrets = Secrets::default();
        settings.register_secrets(&secrets).unwrap();
        assert!(!secrets.redact("it is key-of-this-one").contains("key-of-this-one"));
    }

    #[test]
    fn debug_shows_the_name_of_a_key_but_not_the_key() {
        let settings = Settings::from_lookup(env(&[("OPENAI_API_KEY", "very-secret-key")]));
        let debug = format!("{settings:?}");
        assert!(
            debug.contains("OPENAI_API_KEY") && !debug.contains("very-secret-key"),
            "{debug}"
        );
    }

    #[test]
    fn the_wish_for_vertex_is_known() {
        let wished = |value| Settings::from_lookup(env(&[("RLM_VERTEX_AI", value)])).vertex;
        assert!(wished("1") && !wished("0") && !wished(""));
    }

    #[test]
    fn streaming_and_script_delays_can_be_switched_off() {
        let switches = |pairs: &[(&str, &str)]| {
            let settings = Settings::from_lookup(env(pairs));
            (settings.stream, settings.script_delays)
        };
        assert_eq!(switches(&[]), (true, true));
        assert_eq!(switches(&[("RLM_MODEL_STREAM", "off")]), (false, true));
        assert_eq!(switches(&[("RLM_SCRIPT_DELAYS", "off")]), (true, false));
    }
}
