//! From a model string to a backend.

use super::Provider;
use super::anthropic::Anthropic;
use super::cassette::{self, CassetteReplies};
use super::cli_agent::{self, CliAgent};
use super::openai::OpenAi;
use super::scripted::{ScriptError, Scripted};
use super::settings::{
    ANTHROPIC_BASE_URL, Anthropics, BASE_URL_VARIABLE, DEFAULT_BASE_URL, Settings, VERTEX_VARIABLE, key_variables,
};
use std::path::Path;
use std::sync::Arc;

/// Why no backend could be made of a model string.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No model is set; there is no default.
    #[error(
        "no model is set, and there is no default: pass --primary-agent MODEL, or set FAST_RLM_MODEL, or primary_agent in \
         fast-rlm.toml or rlm_config.yaml (`fast-rlm config path` says where)"
    )]
    ModelMissing,
    /// The model's server wants a key.
    #[error("the model {model} needs a key: set {}", keys_for(model))]
    KeyMissing {
        /// The model.
        model: String,
    },
    /// A variable for servers and their keys is set to what is no text.
    #[error("{variable} is set to bytes that are not UTF-8: set it again, or unset it")]
    NotText {
        /// The variable.
        variable: &'static str,
    },
    /// The key cannot be protected from showing up in files and on the screen, or cannot be sent.
    #[error("the key in {variable} cannot be used: {reason}; set it again, on one line")]
    BadKey {
        /// Where it came from.
        variable: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A recorded session cannot be asked.
    #[error(
        "the model {model} cannot be used: {reason}; cassette: takes the directory of a session that was recorded here"
    )]
    Cassette {
        /// The model string.
        model: String,
        /// Why.
        reason: String,
    },
    /// A coding agent cannot be asked.
    #[error("the model {model} cannot be used: {reason}")]
    Agent {
        /// The model string.
        model: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A backend of the Python package that this program has not.
    #[error("the model {model} cannot be used: {backend} is no backend here; {instead}")]
    NoBackend {
        /// The model string.
        model: String,
        /// What its prefix means there.
        backend: &'static str,
        /// What to use.
        instead: &'static str,
    },
    /// The base URL is not one.
    #[error(
        "{variable} is not a usable URL ({reason}): it should look like {}",
        example(variable)
    )]
    BadBaseUrl {
        /// Where it came from.
        variable: &'static str,
        /// What is wrong with it. Not the URL itself: it may hold a password.
        reason: String,
    },
    /// What is to answer has to be named by its path, and is not.
    #[error("the model {model} names nothing: write the path of {what} after the colon, for example {model}{example}")]
    PathMissing {
        /// The model string.
        model: String,
        /// What the path leads to.
        what: &'static str,
        /// Such a path.
        example: &'static str,
    },
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// TLS could not be set up.
    #[error("cannot set up HTTPS: {reason}; it takes the system's certificates (ca-certificates), or SSL_CERT_FILE")]
    Tls {
        /// What the library said.
        reason: String,
    },
}

fn example(variable: &str) -> &'static str {
    if variable == BASE_URL_VARIABLE {
        DEFAULT_BASE_URL
    } else {
        ANTHROPIC_BASE_URL
    }
}

fn keys_for(model: &str) -> String {
    key_variables(match Anthropic::has(model) {
        true => Anthropics::First,
        false => Anthropics::Left,
    })
}

/// Prefixes of backends that the Python package has and this program has not, and what to use.
const ABSENT: [(&str, &str, &str); 3] = [
    ("acp:", "ACP (acp:)", ACP_INSTEAD),
    ("vertex:", "Vertex AI (vertex:)", VERTEX_INSTEAD),
    ("vertex/", "Vertex AI (vertex/)", VERTEX_INSTEAD),
];
const ACP_INSTEAD: &str = "ask the agent as cli:NAME?model=MODEL: claude, codex, opencode, or one that you declare as \
    cli_agents (docs/models.md)";
const VERTEX_MEANT: &str = "Vertex AI (RLM_VERTEX_AI is set)";
const VERTEX_UNSET: &str = "unset it to ask the server that the model's name stands for, or set RLM_MODEL_BASE_URL to Vertex AI's \
    OpenAI-compatible address and RLM_MODEL_API_KEY to an access token (docs/models.md)";
const VERTEX_INSTEAD: &str = "name the model as OpenRouter does (google/gemini-2.5-pro), or set RLM_MODEL_BASE_URL to \
    Vertex AI's OpenAI-compatible address and RLM_MODEL_API_KEY to an access token (docs/models.md)";

/// A name of such a backend would only be unknown to a server. One of your own may have models of any name with a `/`.
fn refuse_absent(model: &str, settings: &Settings) -> Result<(), OpenError> {
    let is_default = settings.base_url.starts_with(DEFAULT_BASE_URL);
    let means = |prefix: &str| model.starts_with(prefix) && (is_default || prefix.ends_with(':'));
    let named = ABSENT.into_iter().find(|(prefix, ..)| means(prefix));
    // Who set it means Vertex AI's bill; with the address of a server, that is what counts.
    let meant = (settings.vertex && is_default).then_some((VERTEX_VARIABLE, VERTEX_MEANT, VERTEX_UNSET));
    let Some((_, backend, instead)) = named.or(meant) else {
        return Ok(());
    };
    Err(OpenError::NoBackend {
        model: model.to_owned(),
        backend,
        instead,
    })
}

const SCRIPTED: &str = "scripted:";
/// Prefixes that a path follows, with what it leads to.
const PATHS: [(&str, &str, &str); 2] = [
    (SCRIPTED, "a script", "replies.yaml"),
    (cassette::PREFIX, "a recorded session's directory", "runs/ID"),
];

/// Opens the backend of a model string: `scripted:FILE`, `cassette:SESSION`, `cli:AGENT?model=MODEL`, a model of
/// Anthropic's where there is a key for its API, or any other name for the OpenAI-compatible API. Touches files, but not
/// the network.
///
/// # Errors
///
/// [`OpenError`], which says what to set.
pub fn open(model: &str, settings: &Settings) -> Result<Arc<dyn Provider>, OpenError> {
    let model = model.trim();
    if model.is_empty() {
        return Err(OpenError::ModelMissing);
    }
    for (prefix, what, example) in PATHS {
        if model == prefix {
            let model = model.to_owned();
            return Err(OpenError::PathMissing { model, what, example });
        }
    }
    if let Some(file) = model.strip_prefix(SCRIPTED) {
        return Ok(Arc::new(Scripted::open(Path::new(file), settings)?));
    }
    if model.starts_with(cli_agent::PREFIX) {
        let agent = CliAgent::open(model, settings, |name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })?;
        return Ok(Arc::new(agent));
    }
    if model.starts_with(cassette::PREFIX) {
        return Ok(Arc::new(CassetteReplies::open(model)?));
    }
    if let Some(variable) = settings.not_text {
        return Err(OpenError::NotText { variable });
    }
    refuse_absent(model, settings)?;
    if Anthropic::has(model) && settings.anthropic_key.is_some() {
        return Ok(Arc::new(Anthropic::new(settings)?));
    }
    if settings.api_key.is_none() && settings.base_url.starts_with(DEFAULT_BASE_URL) {
        return Err(OpenError::KeyMissing {
            model: model.to_owned(),
        });
    }
    Ok(Arc::new(OpenAi::new(settings)?))
}
