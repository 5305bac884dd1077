//! The driver of one session's runs: an event in, effects out. No clock, no thread, no engine: whoever calls it says
//! what time it is and does what comes out.

use super::current::Current;
use super::money::dollars;
use super::order::{Ending, Found, Order, Told};
use super::words::{In, Out, State};
use crate::model::{LiveEvent, Time};
use crate::text::{duration, plural};
use crate::tui::effect::Token;
use crate::tui::notice::Notice;
use crate::tui::widgets::prompt::{Question, Request, Settings, Standing};
use std::time::Duration;

/// A run that took longer than this calls back a person who looks elsewhere.
const LONG: Duration = Duration::from_secs(10);

/// The driver of one session.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The key that lets a run spend more, as people read it.
    raise_key: String,
    state: State,
    token: Token,
    current: Current,
    /// The question that the session waits with.
    parked: Option<Question>,
    /// The last run was stopped by this limit.
    stopped_by: Option<String>,
}

impl Machine {
    /// A machine that nothing was asked of yet. `raise_key` lets a run spend more, as people read it.
    pub fn new(raise_key: String) -> Self {
        Self {
            raise_key,
            ..Self::default()
        }
    }

    /// How things stand.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A run goes on.
    pub fn is_running(&self) -> bool {
        !matches!(self.state, State::Idle | State::Failed(_) | State::Done)
    }

    /// Raising its limit does something: a run goes on, or was stopped by one and can be asked again.
    pub fn can_raise(&self) -> bool {
        self.is_running() || self.stopped_by.is_some() && self.current.order.as_ref().is_some_and(Order::is_query)
    }

    /// The run's root agent, once it has started.
    pub fn root(&self) -> Option<&str> {
        self.current.root.as_deref()
    }

    /// Takes an event; `now` is time since the program's start, `wall` the wall clock.
    pub fn take(&mut self, event: In, now: Duration, wall: Time) -> Vec<Out> {
        match event {
            In::Send(request, settings) => self.send(request, settings, now, wall),
            In::Answer { id, text, settings } => self.answer(id, text, settings, now, wall),
            In::Resume(settings) => self.resume(settings, now, wall),
            In::Cancel => self.cancel(),
            In::Raise(settings) => self.raise(settings, now, wall),
            In::Found(found) => self.found(found),
            In::Told(token, told) if token == self.token && self.is_running() => self.told(told, now, wall),
            // Of a run that was given up.
            In::Told(..) => Vec::new(),
            In::Tick if self.is_running() => vec![Out::Live(LiveEvent::Now(wall))],
            In::Tick => Vec::new(),
        }
    }

    fn send(&mut self, request: Request, settings: Settings, now: Duration, wall: Time) -> Vec<Out> {
        if self.is_running() {
            return vec![Out::Refuse("a run is going on: one query at a time".into())];
        }
        if self.parked.is_some() {
            return vec![Out::Refuse("the session waits for an answer: give it first".into())];
        }
        self.start(Order::new(request, settings), false, now, wall)
    }

    /// Goes on with the query that a crash cut.
    fn resume(&mut self, settings: Settings, now: Duration, wall: Time) -> Vec<Out> {
        if self.is_running() {
            return vec![Out::Say(Notice::trouble("a run is going on: one at a time"))];
        }
        if self.parked.is_some() {
            return vec![Out::Say(Notice::trouble("the session waits for an answer: give it"))];
        }
        let order = Order {
            resume: true,
            ..Order::new(Request::default(), settings)
        };
        self.start(order, true, now, wall)
    }

    fn start(&mut self, order: Order, resumes: bool, now: Duration, wall: Time) -> Vec<Out> {
        let query = order.request.text.clone();
        let order = Order {
            token: self.token.next(),
            ..order
        };
        self.current = Current {
            since: now,
            resumes,
            limit: order.settings.max_money_nano,
            order: Some(order.clone()),
            ..Current::default()
        };
        (self.state, self.stopped_by) = (State::Submitting, None);
        let began = LiveEvent::Began {
            query,
            time: wall,
            resumes,
        };
        vec![Out::Live(began), Out::Start(order)]
    }

    fn answer(&mut self, id: u64, text: String, settings: Settings, now: Duration, wall: Time) -> Vec<Out> {
        if self.is_running() {
            return self.answer_running(id, text, wall);
        }
        let Some(question) = self.parked.take_if(|parked| parked.id == id) else {
            return Vec::new();
        };
        let request = Request { text, file: None };
        let order = Order {
            answers: Some(question.text),
            ..Order::new(request, settings)
        };
        self.start(order, true, now, wall)
    }

    fn answer_running(&mut self, id: u64, text: String, wall: Time) -> Vec<Out> {
        let before = self.current.questions.len();
        self.current.questions.retain(|question| question.id != id);
        if self.current.questions.len() == before {
            return Vec::new();
        }
        let token = self.token;
        let mut out = vec![Out::Answer { token, id, text }];
        match self.current.questions.front().cloned() {
            Some(next) => out.push(Out::Ask(next)),
            None => out.extend(self.current.asks(false, wall)),
        }
        self.settle_state();
        out
    }

    fn cancel(&mut self) -> Vec<Out> {
        if !self.is_running() {
            return Vec::new();
        }
        self.state = State::Cancelling;
        self.current.questions.clear();
        vec![Out::Cancel(self.token), Out::Withdraw]
    }

    /// Twice as much, at once or in another run, which has the names that the first one kept.
    fn raise(&mut self, settings: Settings, now: Duration, wall: Time) -> Vec<Out> {
        if self.is_running() {
            let limit = self.current.limit.saturating_mul(2);
            (self.current.limit, self.current.warned) = (limit, false);
            let next = dollars(settings.max_money_nano);
            let words = format!("this query may spend {} now; the next one {next}", dollars(limit));
            return vec![Out::Allow(self.token, limit), Out::Say(Notice::done(&words))];
        }
        let order = self.current.order.clone().filter(Order::is_query);
        let Some((name, order)) = self.stopped_by.clone().zip(order) else {
            let words = match self.stopped_by {
                // What it was asked is not known here.
                Some(_) => "the query that went on was stopped: ask it again, with more in the settings".to_owned(),
                None => format!(
                    "no limit was met: a query may spend {}",
                    dollars(settings.max_money_nano)
                ),
            };
            return vec![Out::Say(Notice::info(&words))];
        };
        let (mut settings, mut stretch) = (order.settings, order.stretch);
        match name.as_str() {
            "max_money_spent" => settings.max_money_nano = self.current.limit.saturating_mul(2),
            _ => stretch = stretch.saturating_mul(2),
        }
        let raised = settings.max_money_nano;
        let order = Order {
            stretch,
            ..Order::new(order.request, settings)
        };
        let mut out = self.start(order, false, now, wall);
        out.push(Out::Limit(raised));
        out.push(Out::Say(Notice::done(
            "raised: asked again, with the names that it kept",
        )));
        out
    }

    fn found(&mut self, found: Found) -> Vec<Out> {
        if self.is_running() {
            return Vec::new();
        }
        self.parked = found.parked;
        match &self.parked {
            Some(question) => vec![Out::Ask(question.clone())],
            None => vec![Out::Overtake("the question was answered elsewhere")],
        }
    }

    fn told(&mut self, told: Told, now: Duration, wall: Time) -> Vec<Out> {
        match told {
            Told::Preparing(line) => {
                self.current.preparing = Some(line);
                Vec::new()
            }
            Told::Live(events) => self.live(events),
            Told::Asked(question) => self.asked(question, wall),
            Told::Notice(text) => vec![Out::Say(Notice::info(&text))],
            Told::Ended(ending) => self.ended(ending, now),
        }
    }

    fn live(&mut self, events: Vec<LiveEvent>) -> Vec<Out> {
        let mut durable = false;
        for event in &events {
            if let LiveEvent::Agent {
                run_id, parent, news, ..
            } = event
            {
                durable |= news.is_durable();
                self.current.note(run_id, parent.is_none(), news);
            }
        }
        self.settle_state();
        let mut out: Vec<Out> = events.into_iter().map(Out::Live).collect();
        if durable {
            out.push(Out::Nudge);
        }
        if !self.current.warned && self.current.spent.nears(self.current.limit) {
            self.current.warned = true;
            let words = format!(
                "80% of {} is spent: {} lets it spend twice as much",
                dollars(self.current.limit),
                self.raise_key
            );
            out.push(Out::Say(Notice::trouble(&words)));
        }
        out
    }

    fn asked(&mut self, question: Question, wall: Time) -> Vec<Out> {
        if self.state == State::Cancelling {
            return Vec::new();
        }
        let first = self.current.questions.is_empty();
        self.current.questions.push_back(question.clone());
        self.settle_state();
        if !first {
            return Vec::new();
        }
        let mut out: Vec<Out> = self.current.asks(true, wall).into_iter().collect();
        out.push(Out::Ask(question));
        out
    }

    /// The state that follows from what is known; a run that is being stopped stays so until it has ended.
    fn settle_state(&mut self) {
        let current = &self.current;
        self.state = match self.state {
            State::Cancelling => State::Cancelling,
            _ if !current.questions.is_empty() => State::Asking,
            _ if current.step == 0 => State::Submitting,
            _ if !current.running => State::Streaming,
            _ if !current.helpers.is_empty() => State::Helped,
            _ => State::Running,
        };
    }

    fn ended(&mut self, ending: Ending, now: Duration) -> Vec<Out> {
        let took = now.saturating_sub(self.current.since);
        let spent = self.current.spent.words();
        self.current.questions.clear();
        let (state, words, tell) = match ending {
            Ending::Refused(why) => {
                self.state = State::Idle;
                return self.refused(why);
            }
            Ending::Answered => {
                let took = duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
                let words = format!("answered in {took}, {spent}");
                (State::Done, words.clone(), Notice::done(&words))
            }
            Ending::Parked(question) => {
                self.parked = Some(question);
                let words = "waits for an answer, which can be given at any time".to_owned();
                (State::Idle, words.clone(), Notice::info(&words))
            }
            Ending::Cancelled => {
                let words = format!("cancelled: {spent}; every finished step is kept");
                (State::Idle, words.clone(), Notice::info(&words))
            }
            Ending::Limit { name, error } => {
                self.stopped_by = Some(name);
                let words = match self.can_raise() {
                    true => format!("{error}; {} asks again with twice as much", self.raise_key),
                    false => format!("{error}; ask again with more in the settings"),
                };
                (State::Failed(words.clone()), words.clone(), Notice::trouble(&words))
            }
            Ending::Failed(error) => (
                State::Failed(error.clone()),
                error.clone(),
                Notice::trouble(&format!("{error} ({spent})")),
            ),
        };
        self.state = state;
        let mut out = vec![Out::Nudge, Out::Live(LiveEvent::Over), Out::Say(tell)];
        let over = Out::Overtake("the run ended before its question was answered");
        out.push(self.parked.clone().map_or(over, Out::Ask));
        out.push(Out::Ended {
            long: took >= LONG,
            words,
        });
        out
    }

    /// Nothing was begun: a query goes back into the box, and the question of an answer is asked again.
    fn refused(&self, why: String) -> Vec<Out> {
        let mut out = vec![Out::Live(LiveEvent::Over), Out::Withdraw, Out::Nudge];
        match self.current.resumes {
            true => out.extend([Out::Say(Notice::trouble(&why)), Out::Look]),
            false => out.push(Out::Refuse(why)),
        }
        out
    }

    /// How the box shows it.
    pub fn standing(&self) -> Standing {
        let what = match &self.state {
            State::Idle | State::Done => return Standing::Ready,
            State::Failed(why) => return Standing::Failed(why.clone()),
            State::Cancelling => return Standing::Cancelling,
            State::Submitting => self.current.preparing.clone().unwrap_or_else(|| "starting".into()),
            State::Streaming => format!("step {}, {}", self.current.step, self.current.call),
            State::Running => format!("step {}, its code runs", self.current.step),
            State::Helped => {
                let helpers = plural(self.current.helpers.len() as u128, "sub-agent", "sub-agents");
                format!("step {}, {helpers}", self.current.step)
            }
            State::Asking => format!("step {}, it asks", self.current.step),
        };
        Standing::Running {
            what,
            since: self.current.since,
        }
    }
}
