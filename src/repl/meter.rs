//! Counts the time of a step that its limit is about: all of it, except while the guest only waits for host calls.

use super::pulse::Pulse;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Count {
    /// A step is running.
    active: bool,
    /// The guest is executing, or about to.
    busy: bool,
    /// Host calls in flight that wait for a model, a tool or a human.
    calls: u32,
    counted: Duration,
    since: Option<Instant>,
}

impl Count {
    fn is_counting(&self) -> bool {
        self.active && (self.busy || self.calls == 0)
    }

    /// Adds what has passed since the last change.
    fn settle(&mut self) {
        let now = Instant::now();
        if let (true, Some(since)) = (self.is_counting(), self.since) {
            self.counted += now - since;
        }
        self.since = Some(now);
    }
}

/// The execution clock of one instance.
#[derive(Default)]
pub(super) struct Meter(Mutex<Count>);

impl Meter {
    fn count(&self) -> MutexGuard<'_, Count> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.settle();
        count
    }

    /// Begins a step at zero.
    pub(super) fn start(&self) {
        let mut count = self.count();
        count.active = true;
        count.counted = Duration::ZERO;
    }

    pub(super) fn stop(&self) {
        self.count().active = false;
    }

    /// What has counted of the current step, or of the last one.
    pub(super) fn elapsed(&self) -> Duration {
        self.count().counted
    }

    /// A host call begins; it ends when the returned value is dropped.
    pub(super) fn call(self: &Arc<Self>) -> PendingCall {
        self.count().calls += 1;
        PendingCall(self.clone())
    }

    /// The guest executes from now on, or waits.
    pub(super) fn set_busy(&self, busy: bool) {
        self.count().busy = busy;
    }

    /// Whether time passes without counting.
    pub(super) fn is_waiting(&self) -> bool {
        let count = self.count();
        count.active && !count.is_counting()
    }

    /// Counts what the guest was seen to execute while it said that it waits.
    pub(super) fn add(&self, executed: Duration) {
        let mut count = self.count();
        if count.active {
            count.counted += executed;
        }
    }
}

/// A host call in flight.
pub(super) struct PendingCall(Arc<Meter>);

impl Drop for PendingCall {
    fn drop(&mut self) {
        let mut count = self.0.count();
        count.calls = count.calls.saturating_sub(1);
    }
}

/// A guest's future: while it is polled, the guest executes.
pub(super) struct Metered<'a, F> {
    future: Pin<Box<F>>,
    meter: &'a Meter,
    pulse: &'a Pulse,
}

impl<'a, F> Metered<'a, F> {
    pub(super) fn new(future: F, meter: &'a Meter, pulse: &'a Pulse) -> Self {
        Self {
            future: Box::pin(future),
            meter,
            pulse,
        }
    }
}

impl<F: Future> Future for Metered<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.meter.set_busy(true);
        self.pulse.enter();
        let poll = self.future.as_mut().poll(context);
        self.pulse.leave();
        self.meter.set_busy(false);
        poll
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_call_does_not_count_and_executing_does() {
        let meter = Arc::new(Meter::default());
        meter.start();
        let call = meter.call();
        let before = meter.elapsed();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(meter.elapsed(), before, "idle with a call in flight");
        meter.set_busy(true);
        std::thread::sleep(Duration::from_millis(5));
        let busy = meter.elapsed();
        assert!(busy > before, "executing while a call is in flight");
        meter.set_busy(false);
        drop(call);
        std::thread::sleep(Duration::from_millis(5));
        assert!(meter.elapsed() > busy, "idle without a call: a sleep");
        meter.stop();
        let end = meter.elapsed();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(meter.elapsed(), end);
    }
}
