//! Trying again: which failures, how long to wait, and when to give up. Every backend's calls run through here, so
//! that time limits and cancelling mean the same for all.

use super::collect::Collector;
use super::error::{CallError, ErrorKind};
use super::reply::{Finish, Reply, Timings};
use super::request::Request;
use super::{Cancel, DeltaSink};
use crate::text::instant;
use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep, sleep_until};

/// How long to wait before trying again: `first`, then twice as long each time up to `longest`, plus a random part
/// of up to as much again, so that agents that failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The wait before the second attempt.
    pub first: Duration,
    /// The longest wait, unless the server asks for more.
    pub longest: Duration,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(20),
        }
    }
}

/// One way of asking a backend once.
#[async_trait]
pub(super) trait Attempt: Send + Sync {
    /// Asks, writing what arrives into `collector`. `number` counts the attempts of this call from 0.
    async fn attempt(&self, request: &Request, number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind>;
}

/// Attempts until one succeeds, has given output, or is not worth repeating.
pub(super) async fn run(
    backend: &dyn Attempt,
    pacing: Pacing,
    request: &Request,
    sink: &mut dyn DeltaSink,
    cancel: &Cancel,
) -> Result<Reply, CallError> {
    let mut course = Course {
        collector: Collector::new(sink, request.limits.max_reply_bytes),
        attempts: 0,
        waited: Duration::ZERO,
        started_unix_ms: instant(SystemTime::now()).as_millisecond(),
    };
    let deadline = Instant::now() + request.limits.timeout;
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ErrorKind::Cancelled),
        outcome = attempts(backend, pacing, request, &mut course, deadline) => outcome,
        () = sleep_until(deadline) => Err(ErrorKind::TimedOut { limit: request.limits.timeout }),
    };
    match outcome {
        Ok(()) => Ok(course.reply(request)),
        Err(kind) => Err(course.error(kind)),
    }
}

async fn attempts(
    backend: &dyn Attempt,
    pacing: Pacing,
    request: &Request,
    course: &mut Course<'_>,
    deadline: Instant,
) -> Result<(), ErrorKind> {
    let mut waits = ExponentialBuilder::default()
        .with_min_delay(pacing.first)
        .with_max_delay(pacing.longest)
        .with_max_times(usize::try_from(request.limits.max_retries).unwrap_or(usize::MAX))
        .with_jitter()
        .build();
    loop {
        let number = course.attempts;
        course.attempts += 1;
        let Err(kind) = backend.attempt(request, number, &mut course.collector).await else {
            return Ok(());
        };
        if course.collector.has_output() || !kind.is_retriable() {
            return Err(kind);
        }
        let Some(wait) = waits.next() else { return Err(kind) };
        let wait = wait.max(kind.retry_after().unwrap_or_default());
        // What the server said is worth more than a time-out after a wait that could not help.
        if Instant::now().checked_add(wait).is_none_or(|end| end >= deadline) {
            return Err(kind.asked_too_long(deadline.saturating_duration_since(Instant::now())));
        }
        tracing::debug!(attempt = course.attempts, wait_ms = wait.as_millis(), %kind, "trying the model again");
        sleep(wait).await;
        course.waited += wait;
        course.collector.start_over();
    }
}

/// How far a call has come.
struct Course<'a> {
    collector: Collector<'a>,
    attempts: u32,
    waited: Duration,
    started_unix_ms: i64,
}

impl Course<'_> {
    fn timings(&self) -> Timings {
        Timings {
            started_unix_ms: self.started_unix_ms,
            first_delta: self.collector.first_delta,
            total: self.collector.elapsed(),
            waited: self.waited,
        }
    }

    fn reply(self, request: &Request) -> Reply {
        let timings = self.timings();
        let Collector { partial, ending, .. } = self.collector;
        let usage = partial.usage.unwrap_or_default();
        Reply {
            text: partial.text,
            reasoning: partial.reasoning,
            usage: partial.earlier.map_or(usage, |earlier| earlier.plus(&usage)),
            finish: ending.finish.unwrap_or(Finish::Unstated),
            timings,
            attempts: self.attempts,
            request_hash: request.hash(),
            served_by: ending.served_by,
            id: ending.id,
        }
    }

    fn error(self, kind: ErrorKind) -> CallError {
        let timings = self.timings();
        CallError {
            kind: Box::new(kind),
            attempts: self.attempts,
            partial: Box::new(self.collector.partial),
            timings,
        }
    }
}

/// Reads a `Retry-After` value: seconds, or an HTTP date. A date that has passed means now.
pub(super) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        // Longer than can be said is for ever, not at once.
        let longest = (seconds.is_finite() && seconds > 0.0).then_some(Duration::MAX);
        return Duration::try_from_secs_f64(seconds).ok().or(longest);
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    Some(Duration::try_from(date.timestamp().duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_second(784_111_777).unwrap();
        let read = |value: &str| retry_after(value, now);
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read(" 0.25 "), Some(Duration::from_millis(250)));
        assert_eq!(read("99999999999999999999"), Some(Duration::MAX));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        for bad in ["", "soon", "-1", "NaN", "inf", "Sun, 99 Nov 1994 08:49:00 GMT"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
