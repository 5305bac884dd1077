//! OpenAI-compatible chat completions, streamed: OpenRouter, OpenAI, and the many servers that speak the same.

mod answer;
mod wire;

use super::collect::Collector;
use super::error::{CallError, ErrorKind};
use super::http::{Hints, Http, endpoint, secret_header, secrets_of};
use super::models::Offer;
use super::open::OpenError;
use super::pricing::PricingTable;
use super::reply::Reply;
use super::request::Request;
use super::retry::{self, Attempt, Pacing};
use super::settings::{Anthropics, ApiKey, BASE_URL_VARIABLE, Settings, key_variables};
use super::{Cancel, CostExpectation, DeltaSink, Provider};
use answer::Completion;
use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};

/// Where completions are asked for, under the base URL.
const PATH: &str = "/chat/completions";
/// The host that states costs, when asked to.
const OPENROUTER: &str = "openrouter.ai";

/// The OpenAI-compatible backend.
#[derive(Debug)]
pub struct OpenAi {
    http: Http,
    url: Url,
    streams: bool,
    pricing: PricingTable,
    pacing: Pacing,
}

impl OpenAi {
    /// A backend for the settings' server. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`OpenError::BadBaseUrl`], [`OpenError::BadKey`] and [`OpenError::Tls`].
    pub fn new(settings: &Settings) -> Result<Self, OpenError> {
        let url = endpoint(BASE_URL_VARIABLE, &settings.base_url, PATH)?;
        let key = settings.api_key.as_ref();
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, secret_header(key, "Bearer ")?);
        }
        Ok(Self {
            http: Http::new(&url, headers, hints(key), secrets_of(key)?)?,
            url,
            streams: settings.stream,
            pricing: settings.pricing.clone(),
            pacing: settings.pacing,
        })
    }

    /// The models that the server says it has.
    pub(super) async fn offer(&self) -> Offer {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/models", self.url.path().trim_end_matches(PATH)));
        Offer {
            backend: self.label(),
            models: self.http.model_ids(&url).await,
        }
    }

    fn host_is(&self, host: &str) -> bool {
        self.url
            .host_str()
            .is_some_and(|own| own == host || own.ends_with(&format!(".{host}")))
    }
}

fn hints(key: Option<&ApiKey>) -> Hints {
    let key = match key {
        Some(ApiKey { name, .. }) => format!(
            "it came from {name}; set RLM_MODEL_API_KEY to a key for this server, or RLM_MODEL_BASE_URL to the key's"
        ),
        None => format!("no key is set; set {}", key_variables(Anthropics::Left)),
    };
    Hints {
        base_url: BASE_URL_VARIABLE,
        key,
    }
}

#[async_trait]
impl Attempt for OpenAi {
    async fn attempt(&self, request: &Request, _number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let dialect = wire::Dialect {
            streams: self.streams,
            asks_for_cost: self.host_is(OPENROUTER),
            counts_reasoning: self.host_is("openai.com"),
        };
        let response = self.http.post(&self.url, wire::request_body(request, dialect)).await?;
        let mut completion = Completion::default();
        self.http
            .read(response, &mut completion, &request.limits, collector)
            .await?;
        if let Some(usage) = &mut collector.partial.usage {
            self.pricing.complete(&request.model, usage);
        }
        Ok(())
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        retry::run(self, self.pacing, request, deltas, cancel).await
    }

    fn label(&self) -> String {
        format!("OpenAI-compatible API at {}", self.http.faults.server())
    }

    fn cost_expectation(&self, model: &str) -> CostExpectation {
        if self.host_is(OPENROUTER) {
            CostExpectation::Reported
        } else if self.pricing.price(model).is_some() {
            CostExpectation::Table
        } else {
            CostExpectation::Unknown
        }
    }
}
