//! What the panes show of a place: code and output of a step; what an agent was given and what it gave.

use super::bodies::{Bodies, Reading};
use super::render::Piece;
use crate::model::{Agent, BodyRef, Final, LiveRun, LiveStep, LogId, Phase, Query, Step, Tail};
use crate::text::{SafeText, cut};
use crate::tui::body::{Body, Text};
use crate::tui::screens::Place;
use crate::tui::screens::overview::ending::Ending;
use crate::tui::screens::overview::head::head;
use crate::tui::theme::Role;
use std::sync::Arc;

/// Bytes of an output beside which the result is not repeated.
const HUGE: usize = 16 << 20;

/// A place with everything that is known of it.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) query: &'a Query,
    pub(super) place: Option<Place>,
    pub(super) bodies: &'a Bodies,
    /// The whole text of the query, where it was found beside the transcript.
    pub(super) whole: Option<&'a Text>,
    /// The run while it goes on.
    pub(super) live: Option<&'a LiveRun>,
}

impl<'a> Shown<'a> {
    /// The agent.
    pub(super) fn agent(&self) -> Option<&'a Agent> {
        self.query.run.agent(self.place?.agent)
    }

    /// The step, if one is selected.
    pub(super) fn step(&self) -> Option<&'a Step> {
        self.agent()?.steps.get(self.place?.step?)
    }

    /// The agent is the query's own.
    fn is_query(&self) -> bool {
        self.place
            .is_none_or(|place| self.query.run.roots.first() == Some(&place.agent))
    }

    /// Bodies that must be read to show it; `input` is shown as well as the place itself.
    pub(super) fn needed(&self, input: bool) -> Vec<(BodyRef, Option<BodyRef>)> {
        let step = self.step().and_then(|step| Some((step.body?, step.twin)));
        let from_probe = !self.is_query() || self.query.text_cut;
        let shows_input = input || self.step().is_none();
        let probe = self
            .agent()
            .and_then(|agent| agent.probe)
            .filter(|_| shows_input && from_probe);
        step.into_iter().chain(probe.map(|at| (at, None))).collect()
    }

    /// The transcript beside which the whole query may lie, when the text that is shown was cut.
    pub(super) fn cut_in(&self, input: bool) -> Option<LogId> {
        let shown = self.is_query() && (input || self.step().is_none());
        self.query.run.log.filter(|_| shown && self.query.text_cut)
    }

    /// What is known of the selected step while it is not on disk.
    pub(super) fn in_flight(&self) -> Option<&'a LiveStep> {
        let step = self.step().filter(|step| step.body.is_none())?;
        self.live?.step(&self.agent()?.run_id, step.number)
    }

    /// The left pane: code, or what an agent was given.
    pub(super) fn code(&self) -> Vec<Piece> {
        let Some(step) = self.step() else { return self.input() };
        if let Some(live) = self.in_flight() {
            return code_in_flight(live);
        }
        match (step.body, &step.code) {
            (None, Some(code)) => vec![Piece::Code(Text::new(code.as_str()))],
            (None, None) => vec![Piece::words("its code is not known", Role::Dim)],
            (Some(at), _) => self.of_body(at, |body| match body.code.is_empty() {
                true => vec![Piece::words("the model wrote no code", Role::Dim)],
                false => vec![Piece::Code(body.code.clone())],
            }),
        }
    }

    /// What was done to a text of the step before it could be shown.
    pub(super) fn mark(&self, text: impl Fn(&Body) -> &Text) -> Option<&'static str> {
        let Reading::Read(body) = self.bodies.get(self.step()?.body?)? else {
            return None;
        };
        let repaired = body.repaired && text(body).raw.contains('\u{FFFD}');
        match (body.cut, repaired) {
            (true, true) => Some("cut, repaired"),
            (true, false) => Some("cut"),
            (false, true) => Some("repaired"),
            (false, false) => None,
        }
    }

    /// What the left pane is called.
    pub(super) fn code_title(&self) -> &'static str {
        if self.step().is_some() { "code" } else { "input" }
    }

    /// What the right pane is called.
    pub(super) fn output_title(&self) -> &'static str {
        if self.step().is_some() { "output" } else { "final" }
    }

    /// The right pane: output, below the last one the result; or an agent's result.
    pub(super) fn output(&self) -> Vec<Piece> {
        let Some(step) = self.step() else { return self.result() };
        if let Some(live) = self.in_flight() {
            return output_in_flight(live);
        }
        let mut pieces = match step.body {
            Some(_) if !step.executed => vec![Piece::words("no output was recorded for this step", Role::Dim)],
            Some(at) => self.of_body(at, |body| match body.output.is_empty() {
                true => vec![Piece::words("it printed nothing", Role::Dim)],
                false => vec![Piece::Data(body.output.clone())],
            }),
            None => vec![Piece::words(
                "its output is not known: the transcript is missing",
                Role::Dim,
            )],
        };
        // While the output is being read, nothing stands in its place: a search would take that for all there is.
        if self.is_last() && self.has_result() && !self.has_huge_output() && !self.is_on_its_way() {
            if !matches!(pieces.last(), Some(Piece::Data(text)) if text.raw.ends_with('\n')) {
                pieces.push(Piece::words("", Role::Text));
            }
            pieces.push(Piece::words("── FINAL ──", Role::Title));
            pieces.extend(self.result());
        }
        pieces
    }

    /// The result, which stands below the last output, has a pane of its own alone: put together with a huge output,
    /// that would be held twice.
    pub(super) fn has_result_apart(&self) -> bool {
        self.is_last() && self.has_result() && self.has_huge_output()
    }

    fn has_huge_output(&self) -> bool {
        let reading = self.step().and_then(|step| self.bodies.get(step.body?));
        matches!(reading, Some(Reading::Read(body)) if body.output.raw.len() > HUGE)
    }

    /// The body of the selected step is being read.
    pub(super) fn is_on_its_way(&self) -> bool {
        let reading = self.step().and_then(|step| step.body).map(|at| self.bodies.get(at));
        matches!(reading, Some(None | Some(Reading::Asked)))
    }

    /// The agent works right now.
    fn is_alive(&self) -> bool {
        let phase = self
            .live
            .zip(self.agent())
            .and_then(|(live, agent)| live.phase(&agent.run_id));
        phase.is_some_and(Phase::is_alive)
    }

    fn is_last(&self) -> bool {
        let steps = self.agent().map_or(0, |agent| agent.steps.len());
        self.place
            .and_then(|place| place.step)
            .is_some_and(|step| step + 1 == steps)
    }

    fn has_result(&self) -> bool {
        let own = self.agent().is_some_and(|agent| agent.result != Final::Unset);
        own || (self.is_query() && self.query.result != Final::Unset)
    }

    /// The reasoning of a step.
    pub(super) fn reasoning(&self) -> Vec<Piece> {
        if let Some(live) = self.in_flight() {
            return streamed(&live.reasoning, "no reasoning so far");
        }
        match self.step().map(|step| step.body) {
            None => vec![Piece::words(
                "select a step: agents have no reasoning of their own",
                Role::Dim,
            )],
            Some(None) => vec![Piece::words(
                "its reasoning is not known: the transcript is missing",
                Role::Dim,
            )],
            Some(Some(at)) => self.of_body(at, |body| match body.reasoning.is_empty() {
                true => vec![Piece::words("no reasoning was recorded for this step", Role::Dim)],
                false => vec![Piece::Data(body.reasoning.clone())],
            }),
        }
    }

    /// What the agent was given: the query, or what its probe printed.
    pub(super) fn input(&self) -> Vec<Piece> {
        if !self.is_query() {
            return self.probe();
        }
        if let Some(whole) = self.whole {
            return vec![Piece::Data(whole.clone())];
        }
        let mut pieces = vec![match self.query.text.is_empty() {
            true => Piece::words("the query is not known", Role::Dim),
            false => Piece::Data(Text::new(self.query.text.as_str())),
        }];
        if self.query.text_cut {
            pieces.push(Piece::words("", Role::Text));
            pieces.push(Piece::words(
                "── cut by its writer; what its probe saw of it ──",
                Role::Warning,
            ));
            pieces.extend(self.probe());
        }
        pieces
    }

    fn probe(&self) -> Vec<Piece> {
        match self.agent().map(|agent| (agent.probe, &agent.task)) {
            Some((Some(at), _)) => self.of_body(at, |body| vec![Piece::Data(body.output.clone())]),
            Some((None, task)) if !task.is_empty() => vec![Piece::Data(Text::new(task.as_str()))],
            _ => vec![Piece::words("what it was given was not recorded", Role::Dim)],
        }
    }

    /// What the agent gave, or why it gave nothing.
    pub(super) fn result(&self) -> Vec<Piece> {
        let own = self
            .agent()
            .map(|agent| &agent.result)
            .filter(|result| **result != Final::Unset);
        let ending = match own {
            Some(result) => Ending::of_final(result),
            None if self.is_query() => Ending::of(self.query),
            None if self.is_alive() => return vec![Piece::words(Ending::NOT_YET.words, Ending::NOT_YET.role)],
            None => Ending::of_final(&Final::Unset),
        };
        let mut pieces = Vec::new();
        if !ending.words.is_empty() {
            pieces.push(Piece::words(ending.words, ending.role));
        }
        if !ending.text.is_empty() {
            pieces.push(Piece::Data(Text::new(ending.text)));
        }
        pieces
    }

    fn of_body(&self, at: BodyRef, pieces: impl Fn(&Body) -> Vec<Piece>) -> Vec<Piece> {
        match self.bodies.get(at) {
            Some(Reading::Read(body)) => pieces(&Arc::clone(body)),
            Some(Reading::Failed(why)) => {
                let words = SafeText::line(&format!("cannot be read: {why}"));
                vec![Piece::Words(words, Role::Failure)]
            }
            Some(Reading::Asked) | None => Vec::new(),
        }
    }

    /// Its name: `Q3 › step 2`, `Q3 › a task`.
    pub(super) fn title(&self) -> String {
        let label = self.query.label;
        match (self.agent(), self.step()) {
            (Some(_), Some(step)) if self.is_query() => format!("{label} › {}", step.label()),
            (Some(agent), Some(step)) => format!("{label} › {} › {}", short_task(agent), step.label()),
            (Some(agent), None) if !self.is_query() => format!("{label} › {}", short_task(agent)),
            _ => label.to_string(),
        }
    }
}

/// The code of a step in flight: the reply while it streams, then the code that was in it.
fn code_in_flight(live: &LiveStep) -> Vec<Piece> {
    match (&live.code, live.replied) {
        (Some(code), _) => vec![Piece::Code(Text::new(code.as_str()))],
        (None, Some(_)) => vec![Piece::words("the model wrote no code", Role::Dim)],
        (None, None) => streamed(&live.text, "waits for the model"),
    }
}

fn output_in_flight(live: &LiveStep) -> Vec<Piece> {
    match (live.replied, live.kept) {
        (None, _) => vec![Piece::words("its code is still to come", Role::Dim)],
        (Some(_), None) => streamed(&live.output, "nothing printed so far"),
        (Some(_), Some(_)) => streamed(&live.output, "it printed nothing"),
    }
}

/// A text as far as it came.
fn streamed(tail: &Tail, nothing: &'static str) -> Vec<Piece> {
    if tail.is_empty() {
        return vec![Piece::words(nothing, Role::Running)];
    }
    let cut = tail.is_cut().then(|| {
        Piece::words(
            "… what came before is in the transcript when the step has ended",
            Role::Dim,
        )
    });
    cut.into_iter().chain([Piece::Plain(Text::new(tail.text()))]).collect()
}

/// The beginning of a sub-agent's task.
fn short_task(agent: &Agent) -> String {
    let name = if agent.task.is_empty() {
        &agent.run_id
    } else {
        &agent.task
    };
    let name = head(name, 30);
    let (start, _) = cut(name.as_str(), 30);
    if start.len() < name.as_str().len() {
        format!("{start}…")
    } else {
        start.to_owned()
    }
}
