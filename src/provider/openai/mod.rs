//! OpenAI-compatible chat completions, streamed: OpenRouter, OpenAI, and the many servers that speak the same.

mod answer;
mod fault;
mod wire;

use super::collect::Collector;
use super::error::{CallError, ErrorKind};
use super::open::OpenError;
use super::pricing::PricingTable;
use super::reply::Reply;
use super::request::Request;
use super::retry::{self, Attempt, Pacing};
use super::settings::{ApiKey, Settings};
use super::{Cancel, CostExpectation, DeltaSink, Provider};
use crate::text::secret::Secrets;
use answer::Answer;
use async_trait::async_trait;
use fault::Faults;
use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::{Attempt as Redirect, Policy};
use reqwest::{Client, Response, StatusCode, Url};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait for usage once the text is complete.
const USAGE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the connection to become free for the next call after the end mark.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);
/// The host that states costs, when asked to.
const OPENROUTER: &str = "openrouter.ai";

/// The OpenAI-compatible backend.
#[derive(Debug)]
pub struct OpenAi {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
    streams: bool,
    faults: Faults,
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
        let url = endpoint(&settings.base_url)?;
        let secrets = Secrets::default();
        settings
            .register_secrets(&secrets)
            .map_err(|error| bad_key(settings, &error.to_string()))?;
        let authorization = settings.api_key.as_ref().map(authorization).transpose()?;
        let key_name = settings.api_key.as_ref().map(|key| key.name.clone());
        Ok(Self {
            client: client(&url)?,
            faults: Faults::new(&url, key_name, secrets),
            url,
            authorization,
            streams: settings.stream,
            pricing: settings.pricing.clone(),
            pacing: settings.pacing,
        })
    }

    fn host_is(&self, host: &str) -> bool {
        self.url
            .host_str()
            .is_some_and(|own| own == host || own.ends_with(&format!(".{host}")))
    }

    async fn send(&self, request: &Request) -> Result<Response, ErrorKind> {
        let dialect = wire::Dialect {
            streams: self.streams,
            asks_for_cost: self.host_is(OPENROUTER),
            counts_reasoning: self.host_is("openai.com"),
        };
        let mut post = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(wire::request_body(request, dialect));
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization.clone());
        }
        post.send().await.map_err(|error| self.faults.transport(error))
    }

    async fn read(
        &self,
        response: Response,
        request: &Request,
        collector: &mut Collector<'_>,
    ) -> Result<(), ErrorKind> {
        let limits = &request.limits;
        let mut answer = Answer::new(&self.faults, fault::content_type(&response), limits.max_reply_bytes);
        let mut bytes = response.bytes_stream();
        let mut silent_at = Instant::now() + limits.idle_timeout;
        let ending = loop {
            let Ok(piece) = timeout_at(silent_at, bytes.next()).await else {
                break Err(ErrorKind::Silent {
                    limit: limits.idle_timeout,
                });
            };
            match piece.map(|piece| piece.map(|piece| answer.push(&piece, collector))) {
                Some(Ok(Ok(true))) => silent_at = Instant::now() + limits.idle_timeout,
                Some(Ok(Ok(false))) => {}
                Some(Ok(Err(kind))) => break Err(kind),
                Some(Err(error)) => break Err(self.faults.broken_by(error)),
                None => break answer.end(collector),
            }
            if answer.is_over() {
                let _ = timeout(DRAIN_TIMEOUT, async { while let Some(Ok(_)) = bytes.next().await {} }).await;
                break answer.end(collector);
            }
            if answer.is_complete(collector) {
                silent_at = silent_at.min(Instant::now() + USAGE_TIMEOUT);
            }
        };
        // Once the model has said that it is done, losing the rest loses no text.
        if answer.is_complete(collector) { Ok(()) } else { ending }
    }
}

#[async_trait]
impl Attempt for OpenAi {
    async fn attempt(&self, request: &Request, _number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let response = self.send(request).await?;
        if response.status() != StatusCode::OK {
            return Err(self.faults.status(response).await);
        }
        self.read(response, request, collector).await?;
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
        format!("OpenAI-compatible API at {}", self.faults.server())
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

fn bad_key(settings: &Settings, reason: &str) -> OpenError {
    let variable = settings
        .api_key
        .as_ref()
        .map(|key| key.name.clone())
        .unwrap_or_default();
    OpenError::BadKey {
        variable,
        reason: reason.to_owned(),
    }
}

fn authorization(key: &ApiKey) -> Result<HeaderValue, OpenError> {
    let reason = "it has characters that an HTTP header cannot carry";
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.value)).map_err(|_| OpenError::BadKey {
        variable: key.name.clone(),
        reason: reason.to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn endpoint(base_url: &str) -> Result<Url, OpenError> {
    let bad = |reason: &str| OpenError::BadBaseUrl {
        reason: reason.to_owned(),
    };
    let mut url = Url::parse(base_url).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https are spoken"));
    }
    if url.password().is_some() || !url.username().is_empty() {
        return Err(bad("a name or password in it would show: use RLM_MODEL_API_KEY"));
    }
    let path = url
        .path()
        .trim_end_matches('/')
        .trim_end_matches("/chat/completions")
        .to_owned();
    url.set_path(&format!("{path}/chat/completions"));
    Ok(url)
}

fn client(url: &Url) -> Result<Client, OpenError> {
    let mut builder = Client::builder()
        .user_agent(concat!("fast-rlm/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::custom(within_the_server));
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // Loading the machine's certificates takes longer than everything else here.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| OpenError::Tls {
        reason: fault::chain(&error),
    })
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Follows what repeats the request on the same server. Anything else would carry the key or the conversation elsewhere,
/// or turn the question into a GET.
fn within_the_server(redirect: Redirect<'_>) -> reqwest::redirect::Action {
    let repeats = matches!(
        redirect.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let same = redirect
        .previous()
        .first()
        .is_some_and(|first| first.origin() == redirect.url().origin());
    if repeats && same && redirect.previous().len() <= 3 {
        redirect.follow()
    } else {
        redirect.stop()
    }
}
