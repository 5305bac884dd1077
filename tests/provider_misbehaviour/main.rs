//! Model servers misbehave: each way ends in a retry or in a clear error, within the time limits, and no key gets out.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

mod answers;
mod anthropic;
mod cancelling;
mod keys;
mod server;
mod statuses;
mod streams;

use fast_rlm::provider::{
    ApiKey, CallError, Cancel, Delta, Limits, Message, OpenAi, Pacing, Provider, Reply, Request, Settings,
};
use std::time::Duration;

/// The key that must never show.
const KEY: &str = "sk-never-to-be-seen";

fn settings(base_url: &str) -> Settings {
    Settings {
        base_url: base_url.to_owned(),
        api_key: Some(ApiKey::new("OPENAI_API_KEY", KEY)),
        pacing: Pacing {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(2),
        },
        ..Settings::default()
    }
}

fn request() -> Request {
    Request::new(
        "test/model",
        vec![Message::system("be brief"), Message::user("Say héllo 👍")],
    )
}

fn request_with(limits: Limits) -> Request {
    Request { limits, ..request() }
}

/// A call's outcome, and what the sink got.
struct Outcome {
    result: Result<Reply, CallError>,
    text: String,
    reasoning: String,
}

impl Outcome {
    fn reply(&self) -> &Reply {
        self.result.as_ref().unwrap()
    }

    fn error(&self) -> &CallError {
        self.result.as_ref().unwrap_err()
    }
}

async fn call(base_url: &str, request: &Request) -> Outcome {
    call_on(&OpenAi::new(&settings(base_url)).unwrap(), request).await
}

async fn call_on(provider: &OpenAi, request: &Request) -> Outcome {
    outcome_of(provider, request).await
}

async fn outcome_of(provider: &dyn Provider, request: &Request) -> Outcome {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut sink = |delta: Delta<'_>| match delta {
        Delta::Text(piece) => text.push_str(piece),
        Delta::Reasoning(piece) => reasoning.push_str(piece),
    };
    let result = provider.call(request, &mut sink, &Cancel::new()).await;
    match &result {
        Ok(reply) => assert_eq!(
            (&reply.text, &reply.reasoning),
            (&text, &reasoning),
            "the reply is what the sink got"
        ),
        Err(error) => {
            assert_eq!((&error.partial.text, &error.partial.reasoning), (&text, &reasoning));
            assert!(
                !format!("{error} {error:?}").contains(KEY),
                "the key shows in {error:?}"
            );
        }
    }
    Outcome {
        result,
        text,
        reasoning,
    }
}
