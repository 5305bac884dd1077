//! What if: a session's last turn again, under exactly one change, with the rest of the world as it was recorded.

use super::door::Client;
use super::error::Error;
use super::forks::{diverge, on_tape};
use super::output::Output;
use super::session::Session;
use crate::engine::{Approver, GoOn};
use crate::lab::{
    Change, Divergence, LabError, NoSink, OffTape, RunDiff, WhatIfTape, check_change, denials, frozen_plan,
};
use crate::model::CostSum;
use crate::store::Origin;
use serde_json::Value;
use std::sync::Arc;

/// The one change, and what becomes of calls that were never recorded. To be tried on one session
/// ([`Session::what_if`]) or on many ([`Client::what_if_over`]).
#[derive(Clone, Debug, Default)]
pub struct WhatIfSpec {
    changes: Vec<Change>,
    off: OffTape,
}

impl WhatIfSpec {
    /// Nothing changed yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every result of the call is `value`.
    #[must_use]
    pub fn substitute(self, call: impl Into<String>, value: Value) -> Self {
        self.change(Change::Call(call.into(), value))
    }

    /// The results of this step's calls (0-based) are `value`.
    #[must_use]
    pub fn substitute_at(self, step: u32, value: Value) -> Self {
        self.change(Change::Step(step, value))
    }

    /// The variable is `value` after this step (0-based).
    #[must_use]
    pub fn substitute_var(self, step: u32, name: impl Into<String>, value: Value) -> Self {
        self.change(Change::Variable(step, name.into(), value))
    }

    /// Another model plans the turn anew, on the recorded results of its calls.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        self.change(Change::Model(model.into()))
    }

    /// The model plans the turn anew under another instruction, on the recorded results of its calls.
    #[must_use]
    pub fn instruction(self, text: impl Into<String>) -> Self {
        self.change(Change::Instruction(text.into()))
    }

    /// Somebody else decides about the recorded calls.
    #[must_use]
    pub fn policy(self, approver: impl Approver + 'static) -> Self {
        self.change(Change::Policy(Arc::new(approver)))
    }

    /// What becomes of a call that was never recorded. Default: the run halts there.
    #[must_use]
    pub fn off_tape(mut self, off: OffTape) -> Self {
        self.off = off;
        self
    }

    fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    fn only(&self) -> Result<Change, LabError> {
        match self.changes.as_slice() {
            [change] => Ok(change.clone()),
            given => Err(LabError::NotOneChange { given: given.len() }),
        }
    }
}

/// A what-if of one session, about to be run.
#[derive(Debug)]
pub struct WhatIf {
    session: Session,
    spec: WhatIfSpec,
}

macro_rules! of_spec {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl WhatIf {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $($argument: $type),*) -> Self {
                self.spec = self.spec.$name($($argument),*);
                self
            })*
        }
    };
}

of_spec! {
    /// See [`WhatIfSpec::substitute`].
    substitute(call: impl Into<String>, value: Value);
    /// See [`WhatIfSpec::substitute_at`].
    substitute_at(step: u32, value: Value);
    /// See [`WhatIfSpec::substitute_var`].
    substitute_var(step: u32, name: impl Into<String>, value: Value);
    /// See [`WhatIfSpec::model`].
    model(model: impl Into<String>);
    /// See [`WhatIfSpec::instruction`].
    instruction(text: impl Into<String>);
    /// See [`WhatIfSpec::policy`].
    policy(approver: impl Approver + 'static);
    /// See [`WhatIfSpec::off_tape`].
    off_tape(off: OffTape);
}

impl WhatIf {
    /// Runs it. This session is only read; what came of it is a new one.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`]: `NotOneChange`, `SubstitutionUnused`, what keeps a session from being forked; else as
    /// [`Session::send`] when the model fails. A run that halts is no error: [`WhatIfRun::first_divergence`] says why.
    pub async fn run(self) -> Result<WhatIfRun, Error> {
        let change = self.spec.only()?;
        run(&self.session, change, self.spec.off).await
    }
}

/// What came of a what-if.
#[derive(Debug)]
pub struct WhatIfRun {
    session: Session,
    diff: RunDiff,
    divergence: Option<Divergence>,
    hermetic: bool,
    came: Result<Output, String>,
}

impl WhatIfRun {
    /// Its session: an ordinary one.
    pub fn session(&self) -> Session {
        self.session.clone()
    }

    /// The recorded turn against this one.
    pub fn diff(&self) -> &RunDiff {
        &self.diff
    }

    /// The first call that was never recorded, with what was called instead in the recorded run.
    pub fn first_divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    /// Nothing but recorded results was used, and none was refused.
    pub fn hermetic(&self) -> bool {
        self.hermetic
    }

    /// What it cost: nothing, unless a model was asked.
    pub fn cost(&self) -> CostSum {
        self.output().map(Output::cost).unwrap_or_default()
    }

    /// Its answer; `None` where it halted.
    pub fn output(&self) -> Option<&Output> {
        self.came.as_ref().ok()
    }

    /// Why it halted, if it did: the exception, or the call that was never recorded.
    pub fn halted(&self) -> Option<&str> {
        self.came.as_ref().err().map(String::as_str)
    }
}

impl Session {
    /// Its last turn again, under exactly one change.
    ///
    /// ```no_run
    /// # async fn example(session: fast_rlm::Session) -> Result<(), fast_rlm::Error> {
    /// let what_if = session.what_if().substitute("llm_query", serde_json::json!("no")).run().await?;
    /// println!("{}", what_if.diff().verdict());
    /// # Ok(()) }
    /// ```
    pub fn what_if(&self) -> WhatIf {
        WhatIf {
            session: self.clone(),
            spec: WhatIfSpec::default(),
        }
    }
}

impl Client {
    /// The same what-if on many sessions. One that cannot be run is an error in its row, and stops none of the others.
    pub async fn what_if_over<S: AsRef<str>>(
        &self,
        ids: &[S],
        spec: &WhatIfSpec,
    ) -> Vec<(String, Result<WhatIfRun, Error>)> {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            let id = id.as_ref().to_owned();
            let what_if = self.open_session(&id).map(|session| WhatIf {
                session,
                spec: spec.clone(),
            });
            let ran = match what_if {
                Ok(what_if) => what_if.run().await,
                Err(error) => Err(error),
            };
            rows.push((id, ran));
        }
        rows
    }
}

async fn run(original: &Session, change: Change, off: OffTape) -> Result<WhatIfRun, Error> {
    let recorded = original.recording()?;
    if let (Some(source), Some(turn)) = (original.source()?, recorded.turns.last()) {
        check_change(&source.store, &source.session, turn, &change)?;
    }
    let (branch, session) = {
        let _turn = original.shared.turn.clone().lock_owned().await;
        original.branch(None, 0, Origin::WhatIf, Some(change.told()))?
    };
    let tape = Arc::new(WhatIfTape::new(&branch.turn, change.clone(), off));
    let how = GoOn {
        turn: branch.turn.number,
        script: frozen_plan(&branch, &change)?,
        instruction: match &change {
            Change::Instruction(text) => Some(text.clone()),
            _ => None,
        },
        ..GoOn::default()
    };
    let session = session.reconfigured(|config| match &change {
        Change::Model(model) => config.primary_agent(model.as_str()),
        Change::Policy(approver) => config.shared_approver(approver.clone()),
        // Nobody is asked about what is served.
        _ => config,
    });
    let ran = diverge(&session, on_tape(how, tape.clone()), &mut NoSink).await;
    let came_to = match ran {
        Ok(output) => Ok(output),
        Err(Error::Lab(LabError::TailHalted { exception, .. })) => Err(exception),
        // What it did is on record.
        Err(error @ (Error::Run(_) | Error::Panicked)) => return Err(error),
        // It did not begin.
        Err(error) => return Err(branch.give_up(error)),
    };
    let came = session.recording()?;
    if matches!(change, Change::Call(..) | Change::Step(..)) && tape.substituted() == 0 {
        let unused = |what: String| Error::from(LabError::SubstitutionUnused { what });
        return Err(match off {
            // Whatever was made live has cost something: it stays on record.
            OffTape::Live => unused(format!(
                "the run ended before the call came; {} holds what it did",
                session.id()
            )),
            OffTape::Halt => branch.give_up(unused("the run ended before the call came".into())),
        });
    }
    let cells = |recording: &crate::lab::Recording| {
        let steps = recording.turns.iter().flat_map(|turn| &turn.steps);
        denials(steps.flat_map(|step| &step.cells))
    };
    let refused = cells(&came) > cells(&recorded);
    Ok(WhatIfRun {
        diff: crate::lab::diff(&recorded, &came),
        hermetic: tape.divergence().is_none() && !refused,
        divergence: tape.divergence(),
        session,
        came: came_to,
    })
}
