//! What a search has to look through: the texts that the model holds, and the bodies that lie on disk. Made from the
//! model at once, so that the search itself runs without it.

use super::hit::{Part, Spot};
use crate::model::{AgentId, BodyRef, Final, MemoryEntry, Query, Session, Step};
use crate::tui::screens::{Place, QueryKey};

/// A text that the model holds.
pub(super) struct Held {
    pub(super) spot: Spot,
    pub(super) part: Part,
    pub(super) title: String,
    pub(super) text: String,
}

/// A body on disk.
pub(super) struct Stored {
    pub(super) spot: Spot,
    pub(super) title: String,
    pub(super) at: BodyRef,
}

/// Everything to look through, in the order of the session.
#[derive(Default)]
pub struct Plan {
    pub(super) held: Vec<Held>,
    pub(super) stored: Vec<Stored>,
}

impl Plan {
    /// Everything in `session`.
    pub fn of(session: &Session) -> Self {
        let mut plan = Self::default();
        for (order, query) in session.queries.iter().enumerate() {
            plan.query(order, query);
        }
        session.memory.entries.iter().for_each(|entry| plan.memory(entry));
        plan
    }

    /// Bytes on disk to look through.
    pub fn bytes(&self) -> u64 {
        self.stored.iter().map(|stored| stored.at.len).sum()
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

    /// A step that was logged twice is looked through twice: either line may have what the other lacks. The list
    /// shows a text that is in both once.
    fn step(&mut self, spot: &Spot, title: String, step: &Step) {
        if let (None, Some(code)) = (step.body, &step.code) {
            self.hold(spot.clone(), Part::Code, &title, code);
        }
        let lines = [step.body, step.twin];
        self.stored.extend(lines.into_iter().flatten().map(|at| Stored {
            spot: spot.clone(),
            title: title.clone(),
            at,
        }));
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
