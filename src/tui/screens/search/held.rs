//! Hits in the texts that the model holds: queries, FINALs, memory, and code of runs whose transcript is missing.

use super::hit::{Hit, Part, Spot};
use super::places::{spot_of_step, title_of_step};
use crate::model::{AgentId, Final, MemoryEntry, Query, Session};
use crate::tui::pattern::Pattern;
use crate::tui::screens::{Place, QueryKey};

/// All of them.
pub(super) fn hits(session: &Session, pattern: &Pattern) -> Vec<Hit> {
    let mut found = Found {
        pattern,
        hits: Vec::new(),
    };
    for (order, query) in session.queries.iter().enumerate() {
        found.query(order, query);
    }
    session.memory.entries.iter().for_each(|entry| found.memory(entry));
    found.hits
}

struct Found<'a> {
    pattern: &'a Pattern,
    hits: Vec<Hit>,
}

impl Found<'_> {
    fn query(&mut self, order: usize, query: &Query) {
        let key = QueryKey::of(query);
        let spot = |place| Spot::Run {
            query: key,
            order,
            place,
        };
        self.look(spot(None), Part::Query, "", &query.text);
        self.result(spot(None), "", &query.result);
        for (agent, id) in query.run.agents.iter().zip((0u32..).map(AgentId)) {
            for (index, step) in agent.steps.iter().enumerate().filter(|(_, step)| step.body.is_none()) {
                if let Some(code) = &step.code {
                    let title = title_of_step(id, step);
                    self.look(spot_of_step(query, order, id, index), Part::Code, &title, code);
                }
            }
            if id.0 > 0 {
                let step = agent.steps.len().checked_sub(1);
                let place = Place { agent: id, step };
                self.result(spot(Some(place)), &format!("agent {}", id.0 + 1), &agent.result);
            }
        }
    }

    fn result(&mut self, spot: Spot, title: &str, result: &Final) {
        if let Final::Value { text, .. } = result {
            self.look(spot, Part::Final, title, text);
        }
    }

    /// One hit an entry, in whichever of its texts comes first.
    fn memory(&mut self, entry: &MemoryEntry) {
        let texts = [
            Some(&entry.name),
            entry.note.as_ref(),
            entry.comment.as_ref(),
            Some(&entry.text),
        ];
        let spot = Spot::Memory {
            name: entry.name.clone(),
        };
        let find = |text: &String| Hit::find(self.pattern, text, spot.clone(), Part::Memory, &entry.name);
        let hit = texts.into_iter().flatten().find_map(find);
        self.hits.extend(hit);
    }

    fn look(&mut self, spot: Spot, part: Part, title: &str, text: &str) {
        self.hits.extend(Hit::find(self.pattern, text, spot, part, title));
    }
}
