//! Parked turns: a step that asked while nobody was there, and what it takes to run it again.

use super::numbers::Numbers;
use super::{Journal, NewEvent, Resuming, TurnSettings, TurnSpent, now};
use crate::engine::person::Question;
use crate::engine::questions::Questions;
use crate::engine::tape::Recorded;
use crate::store::payload::{Answered, Asked, LeafCall, ModelCall, Outcome, Swept, TurnEnded, TurnStarted};
use crate::store::{Cassette, Digest, Fact, Parked, Select, Served, SessionWriter, Store, StoreError, StoredEvent};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Which question of a session it is: an answer to one is none to another, whatever they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    turn: u32,
    step: u32,
    number: u32,
}

/// A turn that waits for an answer.
#[derive(Debug)]
pub(in crate::engine) struct ParkedTurn {
    pub(in crate::engine) turn: u32,
    /// 0-based.
    pub(in crate::engine) step: u32,
    /// The question that is open.
    pub(in crate::engine) question: Question,
    pub(in crate::engine) started: TurnStarted,
    /// The root's calls so far, the last one that of the parked step.
    pub(in crate::engine) calls: Vec<ModelCall>,
    /// Questions about delegations that the parked step asked.
    pub(in crate::engine) guards: Vec<ModelCall>,
    /// The root's calls that came to nothing.
    pub(in crate::engine) unanswered: Vec<ModelCall>,
    cells: Vec<LeafCall>,
    questions: Questions,
    numbers: Numbers,
    pub(in crate::engine) spent: TurnSpent,
}

/// What a parked step got before it parked: served again, in place of calling.
#[derive(Debug)]
pub(in crate::engine) struct Tape {
    cassette: Mutex<Cassette>,
    questions: Questions,
    /// There is nothing but what was recorded.
    all: bool,
}

impl Tape {
    /// A tape of `cells` and of questions with their answers.
    pub(in crate::engine) fn new(cells: Vec<LeafCall>, questions: Questions, all: bool) -> Self {
        Self {
            cassette: Mutex::new(Cassette::new(cells)),
            questions,
            all,
        }
    }

    /// Nothing may be called that it does not have.
    pub(in crate::engine) fn is_all(&self) -> bool {
        self.all
    }

    /// The recorded result of a leaf call; `None` when it never finished and has to be made.
    pub(in crate::engine) fn serve(&self, call: &str, input: Digest) -> Option<Recorded> {
        let mut cassette = self.cassette.lock().unwrap_or_else(PoisonError::into_inner);
        match cassette.serve(call, input) {
            Served::Cell(cell) => Some(Recorded::from(*cell)),
            // A result too large to be kept whole has to be asked for again.
            Served::Truncated { .. } | Served::Missing { .. } => None,
        }
    }

    /// What the step asked before.
    pub(in crate::engine) fn questions(&self) -> &Questions {
        &self.questions
    }
}

impl ParkedTurn {
    /// Which question is open.
    pub(in crate::engine) fn asking(&self) -> Asking {
        Asking {
            turn: self.turn,
            step: self.step,
            number: self.question.number,
        }
    }

    /// Takes the answer: the log of the turn as it goes on, and the tape of the parked step.
    pub(in crate::engine) fn answer(self, writer: SessionWriter, answer: String) -> (Journal, Tape) {
        let mut questions = self.questions;
        questions.answer_with(self.question.number, answer.clone());
        let mut journal = Journal::at(writer, self.turn, self.step, TurnSettings::of(&self.started));
        self.numbers.go_on(self.step, &mut journal);
        journal.resuming = Mutex::new(Some(Resuming {
            answers: vec![(self.question.number, answer)],
        }));
        (journal, Tape::new(self.cells, questions, false))
    }
}

impl Journal {
    /// Parks the step in flight, durably.
    pub(in crate::engine) fn park(&self, question: &Question) -> Result<(), StoreError> {
        let step = self.step.load(Ordering::SeqCst);
        let asked = Asked {
            number: question.number,
            question: question.text.clone(),
            options: question.options.clone(),
            schema: None,
        };
        let ended = TurnEnded {
            outcome: Outcome::Suspended,
            ..TurnEnded::default()
        };
        let number = u64::from(question.number);
        // A turn can park many times; each time ends it once more.
        let times = (u64::from(step) << 32) + number + 1;
        let mut events = self.answered_events(step);
        events.push(NewEvent::of_step(self.turn, step, now(), asked.into()).numbered(number));
        events.push(NewEvent::of_turn(self.turn, now(), ended.into()).numbered(times));
        let parked = Parked {
            turn: self.turn,
            step,
            number: question.number,
            question: question.text.clone(),
            options: question.options.clone(),
            schema: None,
            time: now(),
        };
        self.writer.park(&parked, events).map(drop)
    }

    /// Closes a parked turn as cancelled.
    pub(in crate::engine) fn drop_parked(writer: &SessionWriter, turn: u32, state: Digest) -> Result<(), StoreError> {
        let ended = TurnEnded {
            outcome: Outcome::Cancelled,
            ..TurnEnded::default()
        };
        let swept = Swept {
            state: Some(state),
            ..Swept::default()
        };
        writer.append(vec![
            NewEvent::of_turn(turn, now(), ended.into()),
            NewEvent::of_turn(turn, now(), swept.into()).numbered(u64::from(u32::MAX)),
        ])?;
        writer.unpark(turn)
    }

    /// A parked step runs again and has not ended: whatever happens, its question stays open.
    pub(in crate::engine) fn is_resuming(&self) -> bool {
        self.resuming.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Answers given by this process that the log lacks.
    pub(super) fn answered_events(&self, step: u32) -> Vec<NewEvent> {
        let resuming = self.resuming.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = resuming.iter().flat_map(|resuming| &resuming.answers);
        let event = |(number, answer): &(u32, String)| {
            let answered = Answered {
                number: *number,
                answer: answer.clone().into(),
            };
            NewEvent::of_step(self.turn, step, now(), answered.into()).numbered(u64::from(*number))
        };
        answers.map(event).collect()
    }

    /// After a parked step has ended: its questions wait no more.
    pub(super) fn close_resumed(&self) -> Result<(), StoreError> {
        let resumed = self.resuming.lock().unwrap_or_else(PoisonError::into_inner).take();
        resumed.map_or(Ok(()), |_| self.writer.unpark(self.turn))
    }
}

/// The session's parked turn, if its step has not ended after all.
pub(in crate::engine) fn load_parked(store: &Store, session: &str) -> Result<Option<ParkedTurn>, StoreError> {
    let Some(parked) = store.flow.parked(session)?.pop() else {
        return Ok(None);
    };
    let events = store.events.read_all(session, &Select::turn(parked.turn))?.events;
    let ended = |event: &StoredEvent| event.step == Some(parked.step) && matches!(event.fact, Fact::StepEnded(_));
    if events.iter().any(ended) {
        return Ok(None);
    }
    let mut turn = ParkedTurn {
        turn: parked.turn,
        step: parked.step,
        question: Question {
            number: parked.number,
            text: parked.question,
            options: parked.options,
        },
        started: TurnStarted::default(),
        calls: Vec::new(),
        guards: Vec::new(),
        unanswered: Vec::new(),
        cells: Vec::new(),
        questions: Questions::default(),
        numbers: Numbers::default(),
        spent: TurnSpent::default(),
    };
    events.into_iter().for_each(|event| turn.take(event));
    Ok(Some(turn))
}

impl ParkedTurn {
    fn take(&mut self, event: StoredEvent) {
        self.spent.take(&event);
        self.numbers.take(&event);
        let in_step = event.step == Some(self.step);
        match event.fact {
            Fact::TurnStarted(started) => self.started = started,
            Fact::ModelCall(call) if call.is_reply() => self.calls.push(call),
            Fact::ModelCall(call) if in_step && call.guard => self.guards.push(call),
            Fact::ModelCall(call) if !call.guard => self.unanswered.push(call),
            Fact::LeafCall(cell) if in_step && cell.run_id == self.started.run_id => self.cells.push(cell),
            Fact::Asked(asked) if in_step => self.questions.ask(asked),
            Fact::Answered(answered) if in_step => self.questions.answered(answered),
            _ => {}
        }
    }
}
