//! What was at work when its process died. Lines of sub-agents tell what they used until then; from here on their last
//! lines say that they were cut, and the log has what they used: it counts to the limits of a query that goes on. So does
//! the root's own call, of which nobody knows what it cost.

use super::lines::{each_line, transcript_of};
use super::recover::{IN_TURN, RecoverError};
use crate::disk::transcript_writer::{AgentRef, EndRecord, TranscriptWriter, UsageRecord};
use crate::engine::clock::now;
use crate::model::{Cost, Usage};
use crate::store::payload::{CellOutcome, LeafCall, ModelCall, Outcome, TurnStarted};
use crate::store::{Asks, Fact, Kind, NewEvent, Select, SessionWriter, Store, StoredEvent};
use crate::text::parse_nano;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::path::Path;

/// A turn that has no end of its own, as far as it matters here.
#[derive(Default)]
struct OpenTurn {
    turn: u32,
    started: TurnStarted,
    /// The step in flight.
    step: Option<u32>,
    /// Sub-agents that have a cell.
    known: HashSet<String>,
    /// The next number of a leaf call of the step in flight.
    next: u64,
    /// Its model may have been asked when the process died.
    asks: Asks,
}

impl OpenTurn {
    fn take(&mut self, event: StoredEvent) {
        self.asks.take(&event.fact);
        match event.fact {
            Fact::TurnStarted(started) => self.started = started,
            Fact::StepStarted(_) => (self.step, self.next) = (event.step, 0),
            Fact::StepEnded(_) => self.step = None,
            Fact::LeafCall(cell) => {
                self.next = self.next.max(cell.number.saturating_add(1));
                self.known.extend(cell.child_run);
            }
            _ => {}
        }
    }
}

/// A sub-agent, as its lines have it.
#[derive(Default)]
struct Orphan {
    parent: Option<String>,
    depth: u32,
    /// It had come to call its model.
    probed: bool,
    ended: bool,
    used: Usage,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Line<'l> {
    run_id: String,
    parent_run_id: Option<String>,
    #[serde(default)]
    depth: u32,
    event_type: String,
    step: Option<u64>,
    #[serde(borrow)]
    usage: Option<Figures<'l>>,
    #[serde(borrow)]
    guard: Option<Figures<'l>>,
    #[serde(borrow)]
    unanswered: Option<Figures<'l>>,
}

#[derive(Deserialize)]
struct Figures<'l> {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
    #[serde(default)]
    cached_tokens: u64,
    #[serde(default)]
    reasoning_tokens: u64,
    #[serde(borrow)]
    cost: Option<&'l RawValue>,
    #[serde(borrow)]
    cost_at_least: Option<&'l RawValue>,
}

impl Figures<'_> {
    fn usage(&self) -> Usage {
        Usage {
            prompt: self.prompt_tokens,
            completion: self.completion_tokens,
            total: self.total_tokens,
            cached: self.cached_tokens,
            reasoning: self.reasoning_tokens,
        }
    }

    fn cost(&self) -> Cost {
        let nano = |raw: Option<&RawValue>| raw.and_then(|raw| parse_nano(raw.get()));
        match (nano(self.cost), nano(self.cost_at_least)) {
            (Some(nano), _) => Cost::Known(nano),
            (None, part) => Cost::of_part(part.unwrap_or_default()),
        }
    }
}

impl Orphan {
    fn take(&mut self, line: &Line<'_>) {
        self.parent = line.parent_run_id.clone().or(self.parent.take());
        self.depth = line.depth;
        self.probed |= line.step == Some(0);
        self.ended |= line.event_type == "agent_end";
        let step = line.usage.as_ref().filter(|_| line.step.is_some_and(|step| step > 0));
        for figures in [step, line.guard.as_ref(), line.unanswered.as_ref()]
            .into_iter()
            .flatten()
        {
            self.add(&figures.usage(), figures.cost());
        }
    }

    fn add(&mut self, used: &Usage, cost: Cost) {
        self.used.add(used);
        self.cost = Some(self.cost.map_or(cost, |before| before.plus(cost)));
    }

    /// It was cut: in the middle of a call, or of a step whose call has no line.
    fn cut(&mut self) -> bool {
        let cut = !self.ended;
        if cut && self.probed {
            self.add(&Usage::default(), Cost::Unknown);
        }
        cut
    }

    fn cell(&self, run_id: &str, number: u64, root: &str) -> LeafCall {
        LeafCall {
            call: "llm_query".into(),
            number,
            run_id: self.parent.clone().unwrap_or_else(|| root.to_owned()),
            outcome: CellOutcome::Stopped,
            child_run: Some(run_id.to_owned()),
            usage: self.used.is_reported().then_some(self.used),
            cost: self.cost.unwrap_or(Cost::Known(0)),
            ended: now(),
            ..LeafCall::default()
        }
    }
}

/// Completes what is known of the sub-agents of a turn that was cut, or that waits.
pub(super) fn close_orphans(store: &Store, writer: &SessionWriter, dir: &Path) -> Result<(), RecoverError> {
    let Some(open) = open_turn(store, writer.session())? else {
        return Ok(());
    };
    close_call(writer, &open)?;
    let (Some(step), Some(path)) = (open.step, transcript_of(dir, &open.started)) else {
        return Ok(());
    };
    let mut agents: IndexMap<String, Orphan> = IndexMap::new();
    each_line(&path, |line| {
        let line = serde_json::from_slice::<Line<'_>>(line).ok();
        if let Some(line) = line.filter(|line| line.depth > 0) {
            agents.entry(line.run_id.clone()).or_default().take(&line);
        }
    });
    let cut: Vec<_> = agents.iter_mut().map(|(_, agent)| agent.cut()).collect();
    let unknown = agents
        .iter()
        .filter(|(id, _)| open.started.cassette && !open.known.contains(*id));
    let cells = unknown.zip(open.next..).map(|((id, agent), number)| {
        let cell = agent.cell(id, number, &open.started.run_id);
        NewEvent::of_step(open.turn, step, now(), cell.into()).numbered(number)
    });
    let cells: Vec<_> = cells.collect();
    if !cells.is_empty() {
        writer.append(cells)?;
    }
    let cut = agents
        .into_iter()
        .zip(cut)
        .filter_map(|(agent, cut)| cut.then_some(agent));
    for (run_id, agent) in cut {
        let end = EndRecord {
            outcome: Some("interrupted"),
            error: Some("its process ended"),
            unanswered: agent.probed.then(UsageRecord::default),
            ..EndRecord::default()
        };
        let who = AgentRef {
            run_id,
            parent_run_id: agent.parent,
            depth: agent.depth,
        };
        TranscriptWriter::open(&path)?.end(&who, now(), &end)?;
    }
    Ok(())
}

/// Has the root's call that was cut in the log, as one that nobody knows the cost of.
fn close_call(writer: &SessionWriter, open: &OpenTurn) -> Result<(), RecoverError> {
    if !open.asks.may_be() || !open.started.cassette {
        return Ok(());
    }
    let call = ModelCall {
        run_id: open.started.run_id.clone(),
        model: open.started.model.clone(),
        error: Some("its process ended before the reply was there".into()),
        cost: Cost::Unknown,
        started: now(),
        ended: now(),
        ..ModelCall::default()
    };
    let event = NewEvent::of_turn(open.turn, now(), call.into());
    writer.append(vec![event.numbered(writer.row()?.events)])?;
    Ok(())
}

/// The last turn, where it has no end of its own.
fn open_turn(store: &Store, session: &str) -> Result<Option<OpenTurn>, RecoverError> {
    let last = store.events.last_of(session, &IN_TURN)?;
    let is_open = |event: &StoredEvent| match &event.fact {
        Fact::TurnEnded(ended) => ended.outcome == Outcome::Suspended,
        _ => true,
    };
    let Some(turn) = last.filter(is_open).and_then(|event| event.turn) else {
        return Ok(None);
    };
    let kinds = [
        Kind::TurnStarted,
        Kind::ModelCall,
        Kind::StepStarted,
        Kind::StepEnded,
        Kind::LeafCall,
        Kind::Final,
    ];
    let mut open = OpenTurn {
        turn,
        ..OpenTurn::default()
    };
    let select = Select::turn(turn).only(&kinds);
    let events = store.events.read_all(session, &select)?.events;
    events.into_iter().for_each(|event| open.take(event));
    Ok(Some(open))
}
