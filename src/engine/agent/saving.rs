//! What a step bound is taken out of its REPL, to be kept; a person need not wait for that.

use super::{Agent, What};
use crate::provider::Cancel;
use crate::repl::{InstanceState, StepError, StepErrorKind, StepOutcome, Sweep, SweptPickle};
use std::time::Duration;

/// A cancel leaves the saving this much longer: mostly it ends by then, and nothing is lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writing more values than this takes longer than somebody who cancels waits.
const MANY: usize = 5_000;

impl Agent {
    /// The names that a step left: all of them, or none where that failed or was cancelled. What was saved before stays
    /// then.
    pub(super) async fn save_names(&mut self, outcome: &mut StepOutcome) -> Option<Sweep> {
        let cancel = self.run.cancel.clone();
        let swept = tokio::select! {
            swept = self.repl.sweep() => swept,
            // The instance goes with the sweep that is given up.
            () = patient(&cancel) => {
                give_up(outcome);
                return None;
            }
        };
        match swept {
            Ok(sweep) if cancel.is_cancelled() && changed(&sweep) > MANY => {
                give_up(outcome);
                None
            }
            Ok(sweep) => {
                if let Some(lost) = &sweep.lost {
                    self.tell_loss(outcome, lost);
                }
                Some(sweep)
            }
            // A sweep that fails costs the instance, not the step.
            Err(error) => {
                self.tell_loss(outcome, &error);
                None
            }
        }
    }

    /// What a step bound is not all saved: where it keeps its answer, who watches is told.
    fn tell_loss(&self, outcome: &mut StepOutcome, why: &dyn std::fmt::Display) {
        if let Some(text) = outcome.lose(why) {
            self.tell(What::Notice(text));
        }
    }
}

fn changed(sweep: &Sweep) -> usize {
    let changed = sweep.variables.iter();
    changed.filter(|swept| swept.pickle != SweptPickle::Unchanged).count()
}

async fn patient(cancel: &Cancel) {
    cancel.cancelled().await;
    tokio::time::sleep(PATIENCE).await;
}

/// A step whose names were not saved has not ended: it is kept as one that was cancelled, which bound nothing.
fn give_up(outcome: &mut StepOutcome) {
    let text = "Step stopped: it was cancelled while what it bound was being saved; none of that is kept\n".to_owned();
    let before = outcome.error.take().map(|error| error.text).unwrap_or_default();
    outcome.error = Some(StepError {
        kind: StepErrorKind::Cancelled,
        text: before + &text,
    });
    outcome.final_value = None;
    outcome.written.clear();
    outcome.deleted.clear();
    outcome.imports.clear();
    outcome.instance = InstanceState::Lost;
}
