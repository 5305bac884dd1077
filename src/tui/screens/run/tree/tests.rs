//! The tree on runs of any shape.

use super::*;
use crate::model::LogState;
use crate::model::{AgentId, Session};
use crate::tui::screens::overview::sample::{self, Transcript};
use proptest::prelude::*;

/// Agents whose parents are given by index (any index: orphans and cycles included), with a step each for odd ones.
fn run_of(parents: &[Option<usize>]) -> Session {
    let mut transcript = Transcript::new(0, 0);
    for (index, parent) in parents.iter().enumerate() {
        let (name, parent) = (format!("agent {index}"), parent.map(|parent| format!("agent {parent}")));
        transcript.start(&name, parent.as_deref());
        if index % 2 == 1 {
            transcript.step(&name, parent.as_deref(), 1, Some(1), |_| ());
        }
    }
    sample::session(transcript.events(LogState::Stray, Vec::new()))
}

fn unfolded(run: &Run) -> Vec<TreeRow> {
    let folds = Folds::of(run);
    flatten(run, &Unplaced::of(run), &folds)
}

#[test]
fn a_chain_of_many_agents_needs_no_stack() {
    let parents: Vec<_> = (0..3_000_usize).map(|index| index.checked_sub(1)).collect();
    let session = run_of(&parents);
    let run = &session.queries[0].run;
    let deepest = Place {
        agent: AgentId(2_999),
        step: Some(0),
    };
    let tree = Tree::new(run, Some(deepest), false);
    assert_eq!(tree.place(), Some(deepest));
}

#[test]
fn large_runs_begin_folded_and_count_only_what_is_unfolded() {
    let mut parents = vec![None];
    parents.extend(std::iter::repeat_n(Some(0), 20_000));
    let session = run_of(&parents);
    let run = &session.queries[0].run;
    let mut tree = Tree::new(run, None, false);
    let rows = tree.rows().len();
    assert!(rows <= 20_001, "sub-agents are folded: {rows}");
    tree.act(Action::Last, run);
    tree.act(Action::StepPrevious, run);
    assert!(tree.is_folded());
}

#[test]
fn the_selection_survives_agents_that_turn_up_before_it() {
    let before = run_of(&[None, Some(0), Some(0)]);
    let mut tree = Tree::new(
        &before.queries[0].run,
        Some(Place {
            agent: AgentId(2),
            step: None,
        }),
        false,
    );
    let mut transcript = Transcript::new(0, 0);
    transcript
        .start("agent 0", None)
        .start("late", Some("agent 0"))
        .start("agent 1", Some("agent 0"));
    transcript.start("agent 2", Some("agent 0"));
    let after = sample::session(transcript.events(LogState::Stray, Vec::new()));
    let run = &after.queries[0].run;
    tree.take_run(run);
    let agent = tree
        .place()
        .and_then(|place| run.agent(place.agent))
        .map(|agent| agent.run_id.as_str());
    assert_eq!(agent, Some("agent 2"));
}

proptest! {
    #[test]
    fn every_agent_and_step_has_one_row_and_every_parent_holds_its_children(
        parents in proptest::collection::vec(proptest::option::of(0usize..12), 1..12),
    ) {
        let session = run_of(&parents);
        for query in &session.queries {
            let run = &query.run;
            let rows = unfolded(run);
            let all: usize = run.agents.iter().map(|agent| agent.steps.len() + 1).sum();
            let places: std::collections::HashSet<_> = rows.iter().map(|row| row.place).collect();
            prop_assert_eq!((rows.len(), places.len()), (all, all));
            let unplaced = Unplaced::of(run);
            for row in &rows {
                for child in children(run, &unplaced, row.place) {
                    prop_assert_eq!(parent(run, child), Some(row.place));
                }
            }
        }
    }

    #[test]
    fn any_walk_keeps_a_selection(
        parents in proptest::collection::vec(proptest::option::of(0usize..8), 1..8),
        walk in proptest::collection::vec(0usize..9, 0..30),
    ) {
        const WALK: [Action; 9] = [
            Action::StepPrevious, Action::StepNext, Action::Parent, Action::FirstChild, Action::SiblingNext,
            Action::SiblingPrevious, Action::Fold, Action::First, Action::Last,
        ];
        let session = run_of(&parents);
        let run = &session.queries[0].run;
        let mut tree = Tree::new(run, None, false);
        for action in walk {
            tree.act(WALK[action], run);
            prop_assert!(tree.place().is_some());
        }
    }
}
