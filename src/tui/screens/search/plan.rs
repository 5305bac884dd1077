//! What a search has to look through, made from the model at once so that the search itself runs without it: the
//! texts that the model holds, and which step each transcript line is.

use super::hit::{Hit, Part, Spot};
use crate::model::{AgentId, BodyRef, Final, LogId, MemoryEntry, Query, Session, Step};
use crate::tui::pattern::Pattern;
use crate::tui::screens::{Place, QueryKey};
use std::collections::HashMap;

/// A text that the model holds.
struct Held {
    spot: Spot,
    part: Part,
    title: String,
    text: String,
}

/// Everything to look through, in the order of the session.
#[derive(Default)]
pub(super) struct Plan {
    held: Vec<Held>,
    /// Steps, by the place of their lines.
    lines: HashMap<(LogId, u64), (Spot, String)>,
}

impl Plan {
    /// Everything in `session`.
    pub(super) fn of(session: &Session) -> Self {
        let mut plan = Self::default();
        for (order, query) in session.queries.iter().enumerate() {
            plan.query(order, query);
        }
        session.memory.entries.iter().for_each(|entry| plan.memory(entry));
        plan
    }

    /// Hits in what the model holds.
    pub(super) fn held_hits(&self, pattern: &Pattern) -> Vec<Hit> {
        let find = |held: &Held| Hit::find(pattern, &held.text, held.spot.clone(), held.part, &held.title);
        self.held.iter().filter_map(find).collect()
    }

    /// The step whose line is at `at`, and its title; `None` for lines that are no step.
    pub(super) fn step_at(&self, at: BodyRef) -> Option<(&Spot, &str)> {
        let (spot, title) = self.lines.get(&(at.log, at.offset))?;
        Some((spot, title))
    }

    fn query(&mut self, order: usize, query: &Query) {
        let key = QueryKey::of(query);
        let spot = |place| Spot::Run {
            query: key,
            order,
            place,
        };
        self.hold(spot(None), Part::Query, "", &query.text);
        self.result(spot(None), "", &query.result);
        for (agent, id) in query.run.agents.iter().zip(0u32..) {
            let who = if id == 0 {
                String::new()
            } else {
                format!("agent {} ", id + 1)
            };
            for (index, step) in agent.steps.iter().enumerate() {
                let place = Place {
                    agent: AgentId(id),
                    step: Some(index),
                };
                self.step(&spot(Some(place)), format!("{who}{}", step.label()), step);
            }
            if id > 0 {
                let place = Place {
                    agent: AgentId(id),
                    step: agent.steps.len().checked_sub(1),
                };
                self.result(spot(Some(place)), who.trim_end(), &agent.result);
            }
        }
    }

    /// A step that was logged twice has two lines: either may have what the other lacks, and the list shows what is
    /// in both once.
    fn step(&mut self, spot: &Spot, title: String, step: &Step) {
        if let (None, Some(code)) = (step.body, &step.code) {
            self.hold(spot.clone(), Part::Code, &title, code);
        }
        for line in [step.body, step.twin].into_iter().flatten() {
            self.lines
                .insert((line.log, line.offset), (spot.clone(), title.clone()));
        }
    }

    fn result(&mut self, spot: Spot, title: &str, result: &Final) {
        if let Final::Value { text, .. } = result {
            self.hold(spot, Part::Final, title, text);
        }
    }

    fn memory(&mut self, entry: &MemoryEntry) {
        let said = [Some(&entry.text), entry.note.as_ref(), entry.comment.as_ref()];
        let said: Vec<_> = said.into_iter().flatten().map(String::as_str).collect();
        let spot = Spot::Memory {
            name: entry.name.clone(),
        };
        self.hold(
            spot,
            Part::Memory,
            &entry.name,
            &format!("{}: {}", entry.name, said.join("\n")),
        );
    }

    fn hold(&mut self, spot: Spot, part: Part, title: &str, text: &str) {
        self.held.push(Held {
            spot,
            part,
            title: title.to_owned(),
            text: text.to_owned(),
        });
    }
}
