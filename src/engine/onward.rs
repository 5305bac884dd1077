//! Turns that go on: after a crash, or from where a fork branched off.

use super::again::needed;
use super::agent::{Onward, Prelude, PreludeStep};
use super::begin_error::BeginError;
use super::blocks::repl_code;
use super::event::What;
use super::home::Home;
use super::journal::{Cut, IN_TURN, Tape as StepTape, load_cut, load_parked};
use super::keeper::Keeper;
use super::open::{Opened, lock};
use super::questions::Questions;
use super::reopen::Reopened;
use super::resume::{reply, used};
use super::run::Run;
use super::script::{Script, ScriptedReply};
use super::session::{Answer, Query, finish, root_spec};
use super::tape::Tape;
use crate::provider::Message;
use crate::repl::RestoreSet;
use crate::store::payload::{LeafCall, Outcome};
use crate::store::{Fact, Kind, Store, StoreError};
use std::sync::{Arc, Mutex};

/// How a turn goes on.
#[derive(Default)]
pub struct GoOn {
    /// The session's last turn, 0-based.
    pub turn: u32,
    /// What the root replies, in place of its model.
    pub script: Option<Vec<ScriptedReply>>,
    /// What the model is told besides, before it replies.
    pub prompt: Option<String>,
    /// An instruction in place of the recorded one.
    pub instruction: Option<String>,
    /// Serves the root's leaf calls.
    pub tape: Option<Arc<dyn Tape>>,
    /// Steps to be run again first, where the namespace cannot be restored.
    pub rerun: Option<Rerun>,
}

/// Recorded steps to be run again, before a turn goes on, from an earlier namespace.
#[derive(Clone, Debug, Default)]
pub struct Rerun {
    /// The namespace that they start from.
    pub restore: RestoreSet,
    /// The steps.
    pub steps: Vec<RerunStep>,
}

/// A step to be run again.
#[derive(Clone, Debug, Default)]
pub struct RerunStep {
    /// 0-based.
    pub step: u32,
    /// Its code.
    pub code: String,
    /// What its leaf calls got.
    pub cells: Vec<LeafCall>,
    /// Its questions, with their answers.
    pub questions: Questions,
    /// What the clocks showed it.
    pub readings: Vec<u64>,
    /// Whether it raised; where it does otherwise now, nothing that it binds is used. `None` where that does not matter.
    pub failed: Option<bool>,
}

/// A turn that a crash cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// Which, 0-based.
    pub turn: u32,
    /// Steps that were completed.
    pub completed: u32,
    /// The step in flight had begun.
    pub in_flight: bool,
    /// Its query.
    pub query: String,
}

/// The last turn of a session, where a crash cut it. Reads only.
///
/// # Errors
///
/// Those of the store.
pub fn interruption(store: &Store, session: &str) -> Result<Option<Interruption>, StoreError> {
    let last = store.events.last_of(session, &IN_TURN)?;
    let cut = match last.as_ref().map(|event| &event.fact) {
        Some(Fact::TurnEnded(ended)) if ended.outcome == Outcome::Suspended => load_parked(store, session)?.is_none(),
        Some(Fact::TurnEnded(ended)) => ended.outcome == Outcome::Interrupted,
        Some(_) => true,
        None => false,
    };
    let Some(turn) = last.filter(|_| cut).and_then(|event| event.turn) else {
        return Ok(None);
    };
    let cut = load_cut(store, session, turn)?;
    let query = match &cut.started.query {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(Some(Interruption {
        turn,
        completed: cut.completed(),
        in_flight: cut.in_flight(),
        query,
    }))
}

/// Goes on with the session's last turn. Completed steps are not run again; of a step in flight, finished leaf calls
/// are served once.
///
/// The turn's own input and instruction are used, not `query.input`; where that is a file, it is the file of the turn.
///
/// # Errors
///
/// [`BeginError::NothingCut`], and what keeps a query from beginning.
pub async fn go_on(home: &Home, how: GoOn, query: Query) -> Result<Answer, BeginError> {
    let lock = lock(home, &query.cancel).await?;
    let opened = Opened::open(home, &query.settings, Cut::Keep, lock)?;
    let nothing = |reason: &str| BeginError::NothingCut {
        dir: home.dir.clone(),
        reason: reason.to_owned(),
    };
    let earlier = opened.observed(&query.settings)?;
    let (store, (writer, next)) = opened
        .store
        .zip(opened.log)
        .ok_or_else(|| nothing("it has no log to go on from"))?;
    if next != how.turn + 1 {
        return Err(nothing("a later query has begun: only the last one can go on"));
    }
    let session = writer.session().to_owned();
    let cut = load_cut(&store, &session, how.turn)?;
    let (mut messages, mut unlogged) = cut.messages();
    if messages.is_empty() {
        return Err(nothing(
            "nothing to resume: it was cut before its first step, so ask again",
        ));
    }
    let started = cut.started.clone();
    let query = query.structured_as(&started);
    let Reopened {
        prepared,
        schema,
        reference,
        lines,
        memory,
    } = Reopened::of(home, &query, &started, opened.doc)?;
    let again = cut.calls.last().filter(|_| cut.in_flight());
    let code = again
        .and_then(|call| repl_code(&call.reply))
        .filter(|_| how.rerun.is_none());
    let rerun = code.and_then(|code| needed(&store, &session, how.turn, (cut.completed(), &code)));
    let rerun = how.rerun.or(rerun);
    let keeper = Keeper::resume(memory, cut.journal(writer)?, reference.clone());
    let copied = copied(&store, &session, how.turn)?.min(cut.calls.len() as u64);
    let run = Arc::new(Run::new(&query, lines, how.tape).after(cut.spent.from(copied)));
    run.know(&earlier);
    let told = [
        prepared.instruction.clone(),
        how.instruction.clone().or(started.instruction.clone()),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let mut spec = root_spec(&run, &reference.run_id, prepared, schema, None, keeper);
    spec.instruction = (!told.is_empty()).then(|| told.join("\n\n"));
    spec.had_mcp(&started);
    let guards = cut.guards.iter().filter(|_| again.is_some());
    run.accounts.go_on(&spec.id.run_id, guards.map(used));
    // What a branch has from its parent, that one tells.
    let own = cut.unanswered.iter().filter(|_| copied == 0);
    run.accounts.owes(&spec.id.run_id, own.map(used));
    if let Some(prompt) = how.prompt {
        messages.push(Message::user(prompt));
        unlogged += 1;
    }
    spec.onward = Some(Onward {
        steps: cut.calls.len() as u64,
        copied,
        again: again.map(|call| (reply(call), Arc::new(cut.tape()))),
        script: how.script.map(|replies| Mutex::new(Script::new(replies))),
        prelude: rerun.map(prelude),
        messages,
        unlogged,
    });
    let id = spec.id.clone();
    if again.is_some() {
        let note = "the step that was cut runs again: a call of it that was not recorded is made a second time";
        run.tell(&id, What::Notice(note.into()));
    }
    Ok(finish(run, spec, opened.notes).await)
}

/// Replies of a turn that a branch has from its parent.
pub(super) fn copied(store: &Store, session: &str, turn: u32) -> Result<u64, StoreError> {
    let from = store.events.last_of(session, &[Kind::ForkedFrom])?;
    Ok(match from.map(|event| event.fact) {
        Some(Fact::ForkedFrom(from)) if from.turn == turn => u64::from(from.step),
        _ => 0,
    })
}

pub(super) fn prelude(rerun: Rerun) -> Prelude {
    let step = |step: RerunStep| PreludeStep {
        number: u64::from(step.step) + 1,
        code: step.code,
        tape: Arc::new(StepTape::new(step.cells, step.questions, true)),
        readings: step.readings,
        failed: step.failed,
    };
    Prelude {
        restore: rerun.restore,
        steps: rerun.steps.into_iter().map(step).collect(),
    }
}
