//! Anthropic's messages API, streamed, with its prompt cache: what a conversation repeats is paid for once.

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
use super::settings::{ANTHROPIC_KEY_VARIABLE, Settings};
use super::{Cancel, CostExpectation, DeltaSink, Provider};
use answer::MessageReply;
use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Where messages are sent, under the base URL.
const PATH: &str = "/v1/messages";
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
/// The version of the API that this speaks.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// The Anthropic backend.
#[derive(Debug)]
pub struct Anthropic {
    http: Http,
    url: Url,
    streams: bool,
    pricing: PricingTable,
    pacing: Pacing,
}

impl Anthropic {
    /// A backend for the settings' server. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`OpenError::BadBaseUrl`], [`OpenError::BadKey`] and [`OpenError::Tls`].
    pub fn new(settings: &Settings) -> Result<Self, OpenError> {
        let base = settings
            .anthropic_base_url
            .trim_end_matches('/')
            .trim_end_matches("/v1");
        let url = endpoint(settings.anthropic_base_url_variable, base, PATH)?;
        let key = settings.anthropic_key.as_ref();
        let mut headers = HeaderMap::from_iter([(VERSION_HEADER, VERSION)]);
        if let Some(key) = key {
            headers.insert(KEY_HEADER, secret_header(key, "")?);
        }
        let hints = Hints {
            base_url: settings.anthropic_base_url_variable,
            key: format!(
                "set {} to a key of this server",
                key.map_or(ANTHROPIC_KEY_VARIABLE, |key| &key.name)
            ),
        };
        Ok(Self {
            http: Http::new(&url, headers, hints, secrets_of(key)?)?,
            url,
            streams: settings.stream,
            pricing: settings.pricing.clone(),
            pacing: settings.pacing,
        })
    }

    /// The models that the server says it has.
    pub(super) async fn offer(&self) -> Offer {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/v1/models", self.url.path().trim_end_matches(PATH)));
        url.set_query(Some("limit=1000"));
        Offer {
            backend: self.label(),
            models: self.http.model_ids(&url).await,
        }
    }

    /// Whether a model string means a model of Anthropic's.
    pub(super) fn has(model: &str) -> bool {
        model.starts_with("claude-") || model.starts_with("anthropic/")
    }
}

/// The model as this API names it: other places write a vendor before it, and a point in its version.
fn native(model: &str) -> String {
    model.strip_prefix("anthropic/").unwrap_or(model).replace('.', "-")
}

#[async_trait]
impl Attempt for Anthropic {
    async fn attempt(&self, request: &Request, _number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let model = native(&request.model);
        let body = wire::request_body(&model, request, self.streams);
        let response = self.http.post(&self.url, body).await?;
        let mut reply = MessageReply::default();
        self.http.read(response, &mut reply, &request.limits, collector).await?;
        if let Some(usage) = &mut collector.partial.usage {
            self.pricing.complete_with_writes(&model, usage, reply.cache_writes());
        }
        Ok(())
    }
}

#[async_trait]
impl Provider for Anthropic {
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        retry::run(self, self.pacing, request, deltas, cancel).await
    }

    fn label(&self) -> String {
        format!("Anthropic API at {}", self.http.faults.server())
    }

    fn cost_expectation(&self, model: &str) -> CostExpectation {
        match self.pricing.price(&native(model)) {
            Some(_) => CostExpectation::Table,
            None => CostExpectation::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_places_are_translated() {
        for (given, expected) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
            ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ] {
            assert!(Anthropic::has(given));
            assert_eq!(native(given), expected);
        }
        assert!(!Anthropic::has("z-ai/claude-like"));
    }

    #[test]
    fn prices_are_found_under_either_name() {
        let provider = Anthropic::new(&Settings::default()).unwrap();
        assert_eq!(
            provider.cost_expectation("anthropic/claude-sonnet-4.5"),
            CostExpectation::Table
        );
        assert_eq!(
            provider.cost_expectation("claude-of-tomorrow"),
            CostExpectation::Unknown
        );
    }
}
