//! What backends that speak HTTP share: a client that sends a key to its own server only, errors in one voice, and the
//! reading of a streamed reply within its limits. What is asked and what events mean is the backend's.

mod answer;
mod fault;
mod tidy;
mod tls;

pub(super) use answer::{Dialect, fields, object};
pub(crate) use fault::lost;
pub(super) use fault::{Faults, Hints};

use super::collect::Collector;
use super::error::ErrorKind;
use super::models::ids;
use super::open::OpenError;
use super::request::Limits;
use super::settings::ApiKey;
use crate::text::secret::Secrets;
use answer::Answer;
use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::{Attempt as Redirect, Policy};
use reqwest::{Client, Response, StatusCode, Url};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait for a list of models, and how long it may be.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);
const LIST_BYTES: usize = 32 << 20;
/// How long to wait for usage once the text is complete.
const USAGE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the connection to become free for the next call after the end mark.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);

/// One server, and how it is to be addressed.
#[derive(Debug)]
pub(super) struct Http {
    client: Client,
    headers: HeaderMap,
    pub(super) faults: Faults,
}

impl Http {
    /// A client for the server of `url`, that sends `headers` with every request.
    pub(super) fn new(url: &Url, headers: HeaderMap, hints: Hints, secrets: Secrets) -> Result<Self, OpenError> {
        Ok(Self {
            client: client(url)?,
            headers,
            faults: Faults::new(url, hints, secrets),
        })
    }

    /// Posts JSON; an answer with another status than 200 is an error.
    pub(super) async fn post(&self, url: &Url, body: Vec<u8>) -> Result<Response, ErrorKind> {
        let post = self
            .client
            .post(url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body);
        self.checked(post.send().await).await
    }

    /// The ids of a list of models.
    pub(super) async fn model_ids(&self, url: &Url) -> Result<Vec<String>, ErrorKind> {
        let get = self.client.get(url.clone()).headers(self.headers.clone());
        let answered = async {
            let response = self.checked(get.send().await).await?;
            let content_type = fault::content_type(&response);
            let mut body = Vec::new();
            let mut bytes = response.bytes_stream();
            while let Some(piece) = bytes.next().await {
                body.extend_from_slice(&piece.map_err(|error| self.faults.broken_by(error))?);
                if body.len() > LIST_BYTES {
                    return Err(self.faults.too_large(LIST_BYTES));
                }
            }
            let list = serde_json::from_slice(&body).unwrap_or_default();
            let ids = ids(&list).ok_or_else(|| self.faults.not_an_api(&content_type))?;
            Ok(ids.iter().map(|id| self.faults.without_keys(id)).collect())
        };
        let silent = ErrorKind::Silent { limit: LIST_TIMEOUT };
        timeout(LIST_TIMEOUT, answered).await.unwrap_or(Err(silent))
    }

    async fn checked(&self, sent: reqwest::Result<Response>) -> Result<Response, ErrorKind> {
        let response = sent.map_err(|error| self.faults.transport(error))?;
        if response.status() == StatusCode::OK {
            Ok(response)
        } else {
            Err(self.faults.status(response).await)
        }
    }

    /// Reads a reply from a 200 answer as it comes in.
    pub(super) async fn read<D: Dialect>(
        &self,
        response: Response,
        dialect: &mut D,
        limits: &Limits,
        collector: &mut Collector<'_>,
    ) -> Result<(), ErrorKind> {
        let mut answer = Answer::new(
            &self.faults,
            dialect,
            fault::content_type(&response),
            limits.max_reply_bytes,
        );
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

/// A header value that holds a key, which never shows.
pub(super) fn secret_header(key: &ApiKey, prefix: &str) -> Result<HeaderValue, OpenError> {
    let reason = "it has characters that an HTTP header cannot carry";
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.value)).map_err(|_| OpenError::BadKey {
        variable: key.name.clone(),
        reason: reason.to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The secrets of a key, for what its server says.
pub(super) fn secrets_of(key: Option<&ApiKey>) -> Result<Secrets, OpenError> {
    let secrets = Secrets::default();
    if let Some(key) = key {
        secrets
            .register(&key.name, &key.value)
            .map_err(|error| OpenError::BadKey {
                variable: key.name.clone(),
                reason: error.to_string(),
            })?;
    }
    Ok(secrets)
}

/// The address of `path` under a base URL, which may already end in it. `variable` is where the base URL came from.
pub(super) fn endpoint(variable: &'static str, base_url: &str, path: &str) -> Result<Url, OpenError> {
    let bad = |reason: &str| OpenError::BadBaseUrl {
        variable,
        reason: reason.to_owned(),
    };
    let mut url = Url::parse(base_url).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https are spoken"));
    }
    if url.password().is_some() || !url.username().is_empty() {
        return Err(bad(
            "a name or password in it would show: keys have variables of their own",
        ));
    }
    let base = url.path().trim_end_matches('/').trim_end_matches(path).to_owned();
    url.set_path(&format!("{base}{path}"));
    Ok(url)
}

/// A client for the server of `url`: what it is sent goes to that server only.
pub(crate) fn client(url: &Url) -> Result<Client, OpenError> {
    let failed = |error: &dyn std::error::Error| OpenError::Tls {
        reason: fault::chain(error),
    };
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls::config(url.scheme() == "https").map_err(|error| failed(&error))?)
        .user_agent(concat!("fast-rlm/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::custom(within_the_server));
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| failed(&error))
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
