//! Opening whatever lies at a path, to the end: events into a model, every body read.

use fast_rlm::model::{Run, Session};
use fast_rlm::source::{OpenOptions, Opened, Source, Stop, open};
use std::path::Path;

/// Opens a target and reads everything of it; a refusal is one line without control characters.
pub(super) fn read_all(target: &Path) {
    let options = OpenOptions {
        use_cache: false,
        ..OpenOptions::default()
    };
    match open(target, &options) {
        Err(refusal) => {
            let said = refusal.to_string();
            assert!(!said.contains('\n'), "{said:?}");
        }
        Ok(Opened::Picker { .. }) => {}
        Ok(Opened::Session { events, source }) => {
            let mut session = Session::default();
            events.into_iter().for_each(|event| session.apply(event));
            session.settle();
            source.scan(&Stop::default(), &mut |events| {
                events.into_iter().for_each(|event| session.apply(event));
            });
            session.settle();
            look_at(&session, &source);
        }
    }
}

/// No step's cost is counted twice, and every body can be read or says why not.
fn look_at(session: &Session, source: &Source) {
    let steps: u64 = session
        .queries
        .iter()
        .map(|query| read_bodies(&query.run, source))
        .sum();
    let priced = session.completed.cost.known + session.lost.cost.known;
    assert!(priced <= steps, "{priced} prices of {steps} steps");
}

/// Returns how many steps there are.
fn read_bodies(run: &Run, source: &Source) -> u64 {
    let steps = run.agents.iter().flat_map(|agent| &agent.steps);
    let mut count = 0;
    for step in steps {
        count += 1;
        for at in [step.body, step.twin].into_iter().flatten() {
            if let Err(why) = source.body(at) {
                assert!(!why.to_string().is_empty());
            }
        }
    }
    count
}
