//! Asking a session: one query after another, on the library's own threads.

use super::error::{Error, FailedRun};
use super::output::Output;
use super::python;
use super::session::Session;
use crate::engine::{
    self, Answer, Asking, GoOn, Input, Query, Question, RunError, RunEvent, Watch, What, go_on, run_query,
};
use crate::provider::Cancel;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

impl Session {
    /// Asks, and waits for the answer. In a session that waits for an answer itself, `query` is that answer. May be
    /// called anywhere, but blocks the thread; [`Session::send`] does not.
    ///
    /// The first query of a process loads Python: milliseconds, or half a minute the first time on a machine (see
    /// [`warm_up`](crate::warm_up)).
    ///
    /// # Errors
    ///
    /// [`Error::Run`] when the query ended without FINAL; any other when it did not begin. The session stays usable.
    pub fn query(&self, query: impl Into<Input>) -> Result<Output, Error> {
        let turn = Turn::new(self, query.into());
        let (sender, receiver) = mpsc::sync_channel(1);
        python::threads()?.spawn(async move {
            // Nobody receives only when the waiting thread is gone.
            let _ = sender.send(turn.run().await);
        });
        receiver.recv().unwrap_or(Err(Error::Panicked))
    }

    /// Asks, without blocking. Works on any executor. Dropping the future cancels the query: it is closed and recorded
    /// as cancelled, and the next one can be asked at once.
    ///
    /// # Errors
    ///
    /// As [`Session::query`].
    pub async fn send(&self, query: impl Into<Input> + Send) -> Result<Output, Error> {
        let turn = Turn::new(self, query.into());
        let cancel = CancelWhenDropped(turn.cancel.clone());
        let answered = python::threads()?.spawn(turn.run()).await;
        drop(cancel);
        answered.unwrap_or(Err(Error::Panicked))
    }
}

/// Cancelling a query that has ended changes nothing.
#[derive(Debug)]
pub(super) struct CancelWhenDropped(pub(super) Cancel);

impl Drop for CancelWhenDropped {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// One query, on its way.
pub(super) struct Turn {
    session: Session,
    input: Input,
    cancel: Cancel,
}

impl Turn {
    pub(super) fn new(session: &Session, input: Input) -> Self {
        Self {
            session: session.clone(),
            input,
            cancel: Cancel::new(),
        }
    }

    /// Stops it.
    pub(super) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for its turn, and takes it. What has to wait is meant for what the session asks now, and not for what it
    /// asks then.
    pub(super) async fn run(self) -> Result<Output, Error> {
        let shared = self.session.shared.clone();
        let free = shared.turn.clone().try_lock_owned().ok();
        let meant = self.session.asking()?;
        let _turn = match free {
            Some(turn) => turn,
            None => shared.turn.clone().lock_owned().await,
        };
        *shared.running() = Some(self.cancel.clone());
        let output = self.take(meant).await;
        *shared.running() = None;
        if shared.is_closed() {
            shared.place.leave()?;
        }
        output
    }

    async fn take(self, meant: Option<(Asking, Question)>) -> Result<Output, Error> {
        if self.session.configured().resumes()
            && let Some(cut) = self.session.unfinished()?
            && cut.completed + u32::from(cut.in_flight) > 0
        {
            // What it ends in is in its own record; a query that cannot go on must not keep the next one from beginning.
            let _ = finish_cut(&self.session, cut.turn, self.cancel.clone()).await;
        }
        let (query, steps) = prepare(&self.session, self.input, self.cancel).await?;
        let answer = ask(&self.session, query, meant).await?;
        output(&self.session, answer, &steps).await
    }
}

/// Goes on with a turn that a crash cut.
pub(super) async fn finish_cut(session: &Session, turn: u32, cancel: Cancel) -> Result<Output, Error> {
    let how = GoOn {
        turn,
        ..GoOn::default()
    };
    go_on_with(session, how, cancel).await
}

/// Goes on with a session's last turn.
pub(super) async fn go_on_with(session: &Session, how: GoOn, cancel: Cancel) -> Result<Output, Error> {
    let (query, steps) = prepare(session, again(session), cancel).await?;
    let answer = go_on(&session.home(), how, query).await?;
    output(session, answer, &steps).await
}

/// What a recorded query goes on with: its own input, whose file may be another one now.
fn again(session: &Session) -> Input {
    match &session.configured().input_file {
        None => Input::Text(String::new()),
        Some(path) => Input::File {
            path: path.clone(),
            prompt: String::new(),
        },
    }
}

/// Everything that a query needs, and its steps as they will be counted.
pub(super) async fn prepare(session: &Session, input: Input, cancel: Cancel) -> Result<(Query, Arc<Steps>), Error> {
    let ours = session.clone();
    let ready = tokio::task::spawn_blocking(move || {
        let dir = ours.open_dir()?;
        let settings = ours.settings()?;
        let python = python::load(settings.repl, &mut |line| tracing::info!("{line}"))?;
        make_dir(dir)?;
        Ok::<_, Error>((settings, python))
    });
    let (settings, python) = ready.await.unwrap_or(Err(Error::Panicked))?;
    if session.shared.is_closed() {
        return Err(Error::Closed);
    }
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let steps = Arc::new(Steps::of(session.watch.clone()));
    let query = Query {
        input,
        settings,
        factory: python,
        watch: steps.clone(),
        cancel,
        person: session.person.clone(),
    };
    Ok((query, steps))
}

/// A session that waited for an answer takes what it was sent for one.
async fn ask(session: &Session, query: Query, meant: Option<(Asking, Question)>) -> Result<Answer, Error> {
    let home = session.home();
    let Some((asking, question)) = meant else {
        return Ok(run_query(&home, query).await?);
    };
    match query.input.clone() {
        Input::Text(text) => {
            let input = again(session);
            Ok(engine::answer(&home, asking, text, Query { input, ..query }).await?)
        }
        Input::Json(_) | Input::File { .. } => Err(Error::NotAnAnswer {
            dir: home.dir,
            question,
        }),
    }
}

/// Also where transcripts go elsewhere.
fn make_dir(dir: &std::path::Path) -> Result<(), Error> {
    std::fs::create_dir_all(dir).map_err(|cause| Error::File {
        path: dir.to_owned(),
        doing: "creating",
        cause,
    })
}

/// What the library's caller gets, who may end its runtime next: the query's servers have ended by then.
async fn output(session: &Session, answer: Answer, steps: &Steps) -> Result<Output, Error> {
    answer.leaving.done().await;
    let steps = steps.count.load(Ordering::SeqCst);
    let (usage, run_id, transcript) = (answer.spent, answer.run_id, answer.transcript);
    let output = |value, converted, suspended| Output {
        value,
        converted,
        suspended,
        usage,
        steps,
        run_id: run_id.clone(),
        transcript: transcript.clone(),
    };
    match answer.result {
        Ok(result) => Ok(output(result.value, result.converted, None)),
        Err(RunError::Parked(question)) => Ok(output(Value::Null, false, Some(question))),
        Err(error) => Err(Error::Run(Box::new(FailedRun {
            error,
            session: session.id(),
            usage,
            steps,
            run_id,
            transcript,
        }))),
    }
}

/// Counts the root's steps on their way to who watches.
pub(super) struct Steps {
    pub(super) count: AtomicU64,
    watch: Arc<dyn Watch>,
}

impl Steps {
    pub(super) fn of(watch: Arc<dyn Watch>) -> Self {
        let count = AtomicU64::new(0);
        Self { count, watch }
    }
}

impl Watch for Steps {
    fn event(&self, event: RunEvent) {
        if event.agent.depth == 0 && matches!(event.what, What::StepEnded { .. }) {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        self.watch.event(event);
    }
}
