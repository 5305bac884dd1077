//! Forks: a session that branches off another one before a step, and goes its own way once.

use super::error::Error;
use super::observed::{Forward, pumped};
use super::output::Output;
use super::place::{Files, Place};
use super::session::Session;
use super::turn::{finish_cut, go_on_with};
use crate::engine::{BeginError, GoOn, RunError, ScriptedReply, SessionLog, Tape, why_nothing_cut};
use crate::lab::{
    AgentSink, Branch, LabError, NamespaceFrom, RunDiff, Source, branch, check_syntax, edited_tail, injected_tail,
};
use crate::store::{Origin, Storage, StoreError, locate};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A branch of a session before one of its steps. It may diverge once; its session is an ordinary one.
#[derive(Debug)]
pub struct Fork {
    session: Session,
    id: String,
    /// Taken by what makes it diverge.
    branch: Mutex<Option<Branch>>,
}

impl std::fmt::Debug for Branch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Branch")
            .field("session", &self.source.session)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Branches off its last turn before the step `at`, 0-based. This session is only read.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`]; a refused fork leaves nothing behind.
    pub async fn fork(&self, at: u32) -> Result<Fork, Error> {
        self.fork_turn(None, at).await
    }

    /// Branches off a turn before one of its steps, both 0-based.
    ///
    /// # Errors
    ///
    /// As [`Session::fork`].
    pub async fn fork_at(&self, turn: u32, at: u32) -> Result<Fork, Error> {
        self.fork_turn(Some(turn), at).await
    }

    async fn fork_turn(&self, turn: Option<u32>, at: u32) -> Result<Fork, Error> {
        let _turn = self.shared.turn.clone().lock_owned().await;
        let (branch, session) = self.branch(turn, at, Origin::Fork, None)?;
        Ok(Fork {
            id: branch.source.session.clone(),
            session,
            branch: Mutex::new(Some(branch)),
        })
    }

    /// A branch with the handle of its session.
    pub(super) fn branch(
        &self,
        turn: Option<u32>,
        at: u32,
        origin: Origin,
        change: Option<String>,
    ) -> Result<(Branch, Self), Error> {
        let (source, sessions) = self.writable_source()?;
        let branch = branch(&source, &sessions, turn, at, origin, change)?;
        let log = SessionLog {
            store: branch.source.store.clone(),
            session: branch.source.session.clone(),
        };
        let files = match self.shared.place.files() {
            Some(files) => files,
            None => Arc::new(Files::Storage(sessions)),
        };
        let place = Place::Stored {
            dir: branch.source.dir.clone(),
            log,
            files,
        };
        Ok((branch, self.beside(place)))
    }

    /// Its log in a store that can be written, and where that store's sessions have their directories.
    fn writable_source(&self) -> Result<(Source, PathBuf), Error> {
        let source = self.required_source()?;
        if let Some(files) = self.shared.place.files() {
            return Ok((source, files.dir().to_owned()));
        }
        let root = locate(self.dir(), None)?.root;
        let store = Storage::dir(&root).open()?;
        Ok((Source { store, ..source }, root))
    }

    /// Compiles steps without running them; touches nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`] with `Syntax` naming the first that is no Python.
    pub async fn check_syntax(&self, steps: &[String]) -> Result<(), Error> {
        let (python, steps) = (self.python().await?, steps.to_vec());
        let work = |_: Forward| async move { check_syntax(&python, &steps).await };
        Ok(pumped(&mut crate::lab::NoSink, work).await??)
    }

    /// Writes state.json anew from the log; where it was removed, what it held is back.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`].
    pub fn rebuild(&self) -> Result<(), Error> {
        Ok(crate::lab::rebuild(&self.writable_source()?.0)?)
    }

    /// Finishes the last query, which a crash cut: completed steps are not run again, finished leaf calls of the step in
    /// flight are served once, and the rest is live and may cost money. A call that died before it was recorded is made a
    /// second time.
    ///
    /// # Errors
    ///
    /// [`Error::Begin`] when there is nothing to resume; else as [`Session::send`].
    pub async fn resume(&self) -> Result<Output, Error> {
        let _turn = self.shared.turn.clone().lock_owned().await;
        let Some(cut) = self.unfinished()? else {
            return Err(self.nothing_cut()?);
        };
        let (session, cancel) = (self.clone(), self.switch()?);
        *self.shared.running() = Some(cancel.clone());
        let stop = super::turn::CancelWhenDropped(cancel.clone());
        let work = |_: Forward| async move { finish_cut(&session, cut.turn, cancel).await };
        let finished = pumped(&mut crate::lab::NoSink, work).await;
        *self.shared.running() = None;
        drop(stop);
        finished?
    }
}

impl Session {
    fn nothing_cut(&self) -> Result<Error, Error> {
        let log = self.source()?.map(|source| SessionLog {
            store: source.store,
            session: source.session,
        });
        Ok(Error::Begin(BeginError::NothingCut {
            dir: self.dir().to_owned(),
            reason: why_nothing_cut(&self.home(), log.as_ref())?,
        }))
    }
}

impl Fork {
    /// The id of its session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its session: an ordinary one, to be read, asked, replayed, or forked again.
    pub fn session(&self) -> Session {
        self.session.clone()
    }

    /// Compares it with another session, step by step: that one first.
    ///
    /// # Errors
    ///
    /// As [`Session::diff`].
    pub fn diff(&self, other: &Session) -> Result<RunDiff, Error> {
        other.diff(&self.session)
    }

    /// Binds `value` in place of the step that it branched before, which must have bound exactly one name and is not run;
    /// then the recorded steps after it run live.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`]: `NotABind` (the fork is removed then: nothing of it is left), `AlreadyDiverged`, or `TailHalted`
    /// with the exception of a step that raised and had not; else as [`Session::send`].
    pub async fn inject(&self, value: &Value, sink: &mut dyn AgentSink) -> Result<Output, Error> {
        self.inject_all(&[(None, value.clone())], sink).await
    }

    /// Binds these names in place of the step; else as [`Fork::inject`].
    ///
    /// # Errors
    ///
    /// As [`Fork::inject`].
    pub async fn inject_named(&self, values: &[(String, Value)], sink: &mut dyn AgentSink) -> Result<Output, Error> {
        let values: Vec<_> = values
            .iter()
            .map(|(name, value)| (Some(name.clone()), value.clone()))
            .collect();
        self.inject_all(&values, sink).await
    }

    async fn inject_all(&self, values: &[(Option<String>, Value)], sink: &mut dyn AgentSink) -> Result<Output, Error> {
        let branch = self.take()?;
        let tail = match injected_tail(&branch.turn, branch.at, values) {
            Ok(tail) => tail,
            Err(refused) => return Err(branch.give_up(refused).into()),
        };
        self.run_tail(branch, tail, sink).await
    }

    /// Runs other steps from here on. Those at the beginning that do what the recorded ones do are taken over with what
    /// they got; the others run live.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`]: `Syntax`, before anything is recorded, and other steps may be given; else as [`Fork::inject`].
    pub async fn edit(&self, steps: &[String], sink: &mut dyn AgentSink) -> Result<Output, Error> {
        let mut branch = self.take()?;
        if let Err(refused) = self.session.check_syntax(steps).await {
            self.put_back(branch);
            return Err(refused);
        }
        let (equal, tail) = edited_tail(&branch.turn, branch.at, steps);
        if equal > 0 {
            branch.advance(branch.at + equal)?;
        }
        self.run_tail(branch, tail, sink).await
    }

    /// Lets the model go on from here, told `prompt` besides.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`]: `AlreadyDiverged`; else as [`Session::send`].
    pub async fn replan(&self, prompt: impl Into<String>, sink: &mut dyn AgentSink) -> Result<Output, Error> {
        let branch = self.take()?;
        let how = GoOn {
            turn: branch.turn.number,
            prompt: Some(prompt.into()),
            rerun: branch.rerun(&[])?,
            ..GoOn::default()
        };
        diverge(&self.session, how, sink).await
    }

    /// Where its namespace comes from, if the recorded steps go on from it.
    pub fn namespace(&self) -> NamespaceFrom {
        let branch = self.branch.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = |branch: &Branch| {
            let steps = branch.turn.steps.iter().skip(branch.at as usize);
            let codes: Vec<&str> = steps.filter_map(|step| step.code.as_deref()).collect();
            branch.namespace(&codes)
        };
        branch.as_ref().map_or(NamespaceFrom::Saved, tail)
    }

    /// Removes it with everything that it has: for one whose way was refused. One that a refused injection removed is
    /// gone already.
    ///
    /// # Errors
    ///
    /// [`Error::Lab`].
    pub fn discard(self) -> Result<(), Error> {
        Ok(crate::lab::remove(&self.session.required_source()?)?)
    }

    /// Removes it because of an error, which is the one to tell: with what is left where it cannot be removed.
    pub(crate) fn give_up(self, error: Error) -> Error {
        let is_gone = |cause: &Error| matches!(cause, Error::Lab(LabError::Store(StoreError::UnknownSession { .. })));
        let (id, told) = (
            self.id.clone(),
            matches!(error, Error::Lab(LabError::LeftBehind { .. })),
        );
        match self.discard() {
            Err(cause) if !told && !is_gone(&cause) => crate::lab::left_behind(id, &error).into(),
            _ => error,
        }
    }

    async fn run_tail(
        &self,
        branch: Branch,
        tail: Vec<ScriptedReply>,
        sink: &mut dyn AgentSink,
    ) -> Result<Output, Error> {
        let codes: Vec<&str> = tail.iter().map(|reply| reply.text.as_str()).collect();
        let how = GoOn {
            turn: branch.turn.number,
            rerun: branch.rerun(&codes)?,
            script: Some(tail),
            ..GoOn::default()
        };
        diverge(&self.session, how, sink).await
    }

    fn take(&self) -> Result<Branch, Error> {
        let mut branch = self.branch.lock().unwrap_or_else(PoisonError::into_inner);
        let diverged = || LabError::AlreadyDiverged {
            session: self.id.clone(),
        };
        Ok(branch.take().ok_or_else(diverged)?)
    }

    fn put_back(&self, branch: Branch) {
        *self.branch.lock().unwrap_or_else(PoisonError::into_inner) = Some(branch);
    }
}

/// Lets a branch go its own way, and tells `sink`.
pub(super) async fn diverge(session: &Session, how: GoOn, sink: &mut dyn AgentSink) -> Result<Output, Error> {
    let _turn = session.shared.turn.clone().lock_owned().await;
    let cancel = session.switch()?;
    *session.shared.running() = Some(cancel.clone());
    let stop = super::turn::CancelWhenDropped(cancel.clone());
    let ours = session.clone();
    let work = |tell: Forward| async move {
        let tell = tell.and(ours.watch.clone());
        let watched = ours.watched_by(Arc::new(tell));
        go_on_with(&watched, how, cancel).await
    };
    let ran = pumped(sink, work).await?;
    *session.shared.running() = None;
    drop(stop);
    match ran {
        Err(Error::Run(failed)) => match failed.error {
            RunError::Halted(exception) => Err(Error::Lab(LabError::TailHalted {
                session: session.id(),
                exception,
            })),
            _ => Err(Error::Run(failed)),
        },
        other => other,
    }
}

/// A tape for a branch whose leaf calls are served.
pub(super) fn on_tape(how: GoOn, tape: Arc<dyn Tape>) -> GoOn {
    GoOn {
        tape: Some(tape),
        ..how
    }
}
