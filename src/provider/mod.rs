//! Model backends behind one trait.
//!
//! [`open`] turns a model string into a [`Provider`]; the engine calls it and never asks which backend it got. A
//! call streams deltas while it runs and ends in one [`Reply`] or one [`CallError`]; retries, time limits and
//! cancelling happen inside. Budgets, prompts and what a reply means are the engine's.

mod anthropic;
mod cancel;
mod cassette;
mod cli_agent;
mod collect;
mod cost;
mod counted;
mod error;
mod http;
mod inherited;
mod last_words;
mod models;
mod open;
mod openai;
mod pricing;
mod process_group;
mod reply;
mod request;
mod retry;
mod scripted;
mod settings;
mod sse;

pub use anthropic::Anthropic;
pub use cancel::Cancel;
pub use cassette::CassetteReplies;
pub use cli_agent::{AgentSpec, CliAgent, Field, Output, Places, UsagePlaces};
pub use cost::parse_nano_dollars;
pub use error::{CallError, ErrorKind, Partial, Redirect};
pub(crate) use http::{client as http_client, lost};
pub(crate) use inherited::keep_descriptors;
pub(crate) use last_words::LastWords;
pub use models::{Offer, list_models};
pub use open::{OpenError, open};
pub use openai::OpenAi;
pub use pricing::{Price, PricingError, PricingTable};
pub(crate) use process_group::{ProcessGroup, Warden};
pub use reply::{CostSource, Finish, Reply, Timings, Usage};
pub use request::{Limits, Message, Request, RequestHash, Role};
pub use retry::Pacing;
pub use scripted::{Script, ScriptError, Scripted};
pub use settings::{
    ANTHROPIC_BASE_URL, ApiKey, DEFAULT_BASE_URL, KEY_VARIABLES, KeyState, KeyStatus, Settings, key_status,
};
pub(crate) use settings::{Anthropics, key_variables};
pub use sse::{SseDecoder, SseError};

use async_trait::async_trait;

/// One piece of a reply, in the order the model produced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// A piece of the answer's text.
    Text(&'a str),
    /// A piece of what the model thought before answering.
    Reasoning(&'a str),
}

/// Receives the deltas of a call as they arrive. Nothing is ever taken back: a call that has given a delta is not
/// tried again.
///
/// Every `FnMut(Delta<'_>) + Send` is one; [`Discard`] is for callers that want only the reply.
pub trait DeltaSink: Send {
    /// Takes one delta. Called on the task that polls the call, so it must not block.
    fn delta(&mut self, delta: Delta<'_>);
}

impl<F: FnMut(Delta<'_>) + Send> DeltaSink for F {
    fn delta(&mut self, delta: Delta<'_>) {
        self(delta);
    }
}

/// A [`DeltaSink`] that drops everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl DeltaSink for Discard {
    fn delta(&mut self, _delta: Delta<'_>) {}
}

/// Whether the cost of a call will be known, asked before a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostExpectation {
    /// The backend states the cost of each call.
    Reported,
    /// The price table has the model.
    Table,
    /// Neither: a money limit cannot bind such a run, only tokens can.
    Unknown,
}

/// A model backend.
///
/// Shared between all agents of a run, which call it at the same time.
#[async_trait]
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Asks the model once, retrying what is worth retrying as the request's [`Limits`] allow.
    ///
    /// Returns within 100 ms of `cancel`, and closes the connection then; dropping the future does the same.
    ///
    /// # Errors
    ///
    /// [`CallError`] with what the last attempt ran into, and whatever the model had already said.
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError>;

    /// What answers, for people: `openai-compatible API at openrouter.ai`.
    fn label(&self) -> String;

    /// Whether calls to `model` will have a known cost.
    fn cost_expectation(&self, model: &str) -> CostExpectation;
}
