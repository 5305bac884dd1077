//! A recorded query that goes on, tended as a new one is: its steps are shown on a terminal, Ctrl-C cancels it, and
//! what had been done by then is kept.

use super::args::Target;
use super::{Failure, wait};
use crate::cli::query::{Interrupts, Live, OnwardArgs};
use crate::client::Session;
use crate::engine::{RunEvent, Watch};
use crate::provider::Cancel;
use std::sync::Arc;

/// What is around the work.
pub(super) struct Tending {
    pub(super) session: Session,
    live: Arc<Live>,
    interrupts: Interrupts,
}

/// Shows what happens.
struct Shown(Arc<Live>);

impl Watch for Shown {
    fn event(&self, event: RunEvent) {
        self.0.event(event);
    }
}

impl Tending {
    /// The session, ready to go on. While Python is prepared, Ctrl-C ends the program: nothing was begun.
    pub(super) fn of(target: &Target, args: &OnwardArgs) -> Result<Self, Failure> {
        let interrupts = Interrupts::listen();
        let live = Live::new(args.show.level());
        let cancel = Cancel::new();
        let session = target.open_onward(args)?;
        let session = session.watch(Shown(live.clone())).stopped_by(cancel.clone());
        session.warm_up(&mut |line| live.preparing(line))?;
        // What cannot be opened is told when it is needed.
        if let Ok(settings) = session.settings() {
            live.warn_of_unknown_prices(&settings);
        }
        interrupts.cancel_first(cancel);
        Ok(Self {
            session,
            live,
            interrupts,
        })
    }

    /// Waits for the library's work, and puts away what was shown of it.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let done = wait(work);
        self.live.done();
        done
    }

    /// Says what it took.
    pub(super) fn close(&self) {
        self.interrupts.close();
        self.live.took();
    }
}
