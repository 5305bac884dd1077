//! Giving a reply as its script says: the waits, the pieces, the faults, the usage.

use super::SERVER;
use super::file::{Script, Stream, Written};
use super::scalar::{CostSpec, Fault, Figures, UsageSpec};
use crate::provider::Delta;
use crate::provider::collect::Collector;
use crate::provider::error::ErrorKind;
use crate::provider::reply::{CostSource, Finish, Usage};
use crate::provider::request::Request;
use crate::provider::retry::Attempt;
use async_trait::async_trait;
use std::time::Duration;
use tokio::time::sleep;

/// Servers cache prompts in blocks of this many tokens.
const CACHE_BLOCK: u64 = 128;
/// What a message costs besides its text.
const MESSAGE_TOKENS: u64 = 4;

/// One call of a scripted model.
pub(super) struct Performance<'a> {
    pub(super) script: &'a Script,
    pub(super) chosen: Result<&'a Written, String>,
    pub(super) delays: bool,
}

#[async_trait]
impl Attempt for Performance<'_> {
    async fn attempt(&self, request: &Request, number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let written = *self
            .chosen
            .as_ref()
            .map_err(|reason| ErrorKind::Script(reason.clone()))?;
        let defaults = &self.script.content.defaults;
        self.wait(written.delay.or(defaults.delay).unwrap_or_default().0).await;
        let fault = usize::try_from(number)
            .ok()
            .and_then(|number| written.fails.get(number))
            .or(written.error.as_ref());
        let Some(fault) = fault else {
            self.speak(written, usize::MAX, collector).await?;
            let spec = written.usage.or(defaults.usage).unwrap_or_default();
            collector.usage(self.usage(spec, written, request));
            collector.ending.finish = Some(written.finish.as_deref().map_or(Finish::Stop, Finish::from_word));
            return Ok(());
        };
        if let Fault::Broken { after } = fault {
            self.speak(written, *after, collector).await?;
        }
        Err(self.fail(fault, request).await)
    }
}

impl Performance<'_> {
    async fn wait(&self, time: Duration) {
        if self.delays && !time.is_zero() {
            sleep(time).await;
        }
    }

    /// Gives the reasoning and the text, up to `limit` characters of both.
    async fn speak(&self, written: &Written, limit: usize, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let stream = written.stream.or(self.script.content.defaults.stream);
        let (chars, every) = stream.map_or((usize::MAX, Duration::ZERO), |Stream { chars, every }| {
            (chars.get(), every.0)
        });
        let reasoning = first_chars(&written.reasoning, limit);
        let text = first_chars(&written.text, limit.saturating_sub(reasoning.chars().count()));
        for piece in pieces(reasoning, chars) {
            collector.push(Delta::Reasoning(piece), SERVER)?;
            self.wait(every).await;
        }
        for piece in pieces(text, chars) {
            collector.push(Delta::Text(piece), SERVER)?;
            self.wait(every).await;
        }
        Ok(())
    }

    async fn fail(&self, fault: &Fault, request: &Request) -> ErrorKind {
        let server = SERVER.to_owned();
        match fault {
            Fault::Status {
                status: status @ (401 | 403),
                message,
                ..
            } => {
                let hint = "the script says so".to_owned();
                ErrorKind::Auth {
                    status: *status,
                    server,
                    message: message.clone(),
                    hint,
                }
            }
            Fault::Status {
                status,
                message,
                retry_after,
            } => {
                let (message, hint) = (message.clone(), String::new());
                ErrorKind::Status {
                    status: *status,
                    server,
                    message,
                    retry_after: *retry_after,
                    hint,
                }
            }
            Fault::Transport => ErrorKind::Transport {
                server,
                reason: "the script says so".to_owned(),
            },
            Fault::Silent => {
                sleep(request.limits.idle_timeout).await;
                ErrorKind::Silent {
                    limit: request.limits.idle_timeout,
                }
            }
            Fault::Empty => ErrorKind::Empty { server },
            Fault::Broken { .. } => ErrorKind::Broken {
                server,
                reason: "the script says so".to_owned(),
            },
        }
    }

    fn usage(&self, spec: UsageSpec, written: &Written, request: &Request) -> Usage {
        let UsageSpec::Figures(figures) = spec else {
            return Usage::default();
        };
        let mut usage = estimate(&figures, written, request);
        usage.cost_nano = match figures.cost {
            Some(CostSpec::Nano(cost)) => Some(cost),
            Some(CostSpec::Unknown) => None,
            // Without prices a scripted reply is free, and that is known.
            None => self
                .script
                .content
                .defaults
                .prices
                .map_or(Some(0), |price| price.cost_nano(&usage)),
        };
        usage.cost_source = if usage.cost_nano.is_some() {
            CostSource::Provider
        } else {
            CostSource::Unknown
        };
        usage
    }
}

/// The stated figures, the others from the lengths of the texts: deterministic, and about right for English.
fn estimate(figures: &Figures, written: &Written, request: &Request) -> Usage {
    let sizes: Vec<u64> = request
        .messages
        .iter()
        .map(|message| tokens(&message.content) + MESSAGE_TOKENS)
        .collect();
    let prompt_tokens = figures.prompt.unwrap_or_else(|| sizes.iter().sum());
    // The first call of a conversation has nothing cached; later ones have all but the newest message.
    let known: u64 = if sizes.len() > 2 {
        sizes.iter().rev().skip(1).sum()
    } else {
        0
    };
    let reasoning_tokens = figures.reasoning.unwrap_or_else(|| tokens(&written.reasoning));
    let completion_tokens = figures
        .completion
        .unwrap_or_else(|| tokens(&written.text).saturating_add(reasoning_tokens));
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: figures
            .total
            .unwrap_or_else(|| prompt_tokens.saturating_add(completion_tokens)),
        cached_tokens: figures
            .cached
            .unwrap_or_else(|| (known / CACHE_BLOCK * CACHE_BLOCK).min(prompt_tokens)),
        reasoning_tokens,
        reported: true,
        ..Usage::default()
    }
}

/// Four characters a token.
fn tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(4)).unwrap_or(u64::MAX)
}

/// `text` in pieces of `chars` characters.
fn pieces(text: &str, chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let piece = first_chars(rest, chars);
        rest = rest.strip_prefix(piece)?;
        (!piece.is_empty()).then_some(piece)
    })
}

fn first_chars(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}
