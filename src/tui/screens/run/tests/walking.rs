//! Moving through the tree, and from run to run.

use super::*;

#[test]
fn keys_walk_the_tree() {
    let mut stage = lighthouses(0);
    assert_eq!(stage.title(), "Q1 › step 1");
    stage.act(Action::SiblingNext);
    assert_eq!(stage.title(), "Q1 › step 2");
    stage.acts(&[Action::SiblingPrevious; 3]);
    assert_eq!(stage.title(), "Q1 › step 5", "around the ends, past the probe");
    stage.act(Action::SiblingPrevious);
    assert_eq!(stage.title(), "Q1 › step 4");
    stage.act(Action::FirstChild);
    assert_eq!(stage.title(), "Q1 › Count the storms in the logboo…");
    stage.act(Action::FirstChild);
    assert!(stage.title().ends_with("probe"), "{}", stage.title());
    stage.acts(&[Action::Parent, Action::Parent]);
    assert_eq!(stage.title(), "Q1 › step 4");
    stage.act(Action::Parent);
    assert_eq!(stage.title(), "Q1");
}

#[test]
fn folding_hides_sub_agents_and_a_leaf_folds_its_parent() {
    let mut stage = lighthouses(0);
    let rows = stage.screen.tree.rows().len();
    stage.acts(&[
        Action::SiblingPrevious,
        Action::SiblingPrevious,
        Action::SiblingPrevious,
        Action::Fold,
    ]);
    assert_eq!(stage.title(), "Q1 › step 4");
    assert!(stage.screen.tree.rows().len() < rows);
    stage.act(Action::Open);
    assert_eq!(stage.screen.tree.rows().len(), rows, "Enter opens what is folded");
    stage.acts(&[Action::FirstChild, Action::FirstChild, Action::Fold]);
    assert_eq!(stage.title(), "Q1 › Count the storms in the logboo…");
}

#[test]
fn runs_follow_each_other() {
    let mut stage = lighthouses(0);
    let mut seen = vec![stage.title()];
    for _ in 1..stage.world.session.queries.len() {
        stage.act(Action::RunNext);
        seen.push(stage.title());
    }
    let labels: Vec<&str> = seen.iter().filter_map(|title| title.split(' ').next()).collect();
    let all: Vec<String> = stage
        .world
        .session
        .queries
        .iter()
        .map(|query| query.label.to_string())
        .collect();
    assert_eq!(labels, all);
    stage.act(Action::RunNext);
    assert!(matches!(stage.left.last(), Some(Effect::Notice(_))));
    stage.act(Action::RunPrevious);
    assert!(!stage.title().starts_with('P'), "{}", stage.title());
}

#[test]
fn a_live_run_is_followed_only_from_its_end() {
    let live = sample::lighthouses().queries.len() - 1;
    let mut stage = lighthouses(live);
    assert!(
        stage.title().ends_with("step 2"),
        "a live run opens at its newest step: {}",
        stage.title()
    );
    let grow = |stage: &mut Stage, from: u64, to: u64| {
        let mut run = sample::Transcript::new(5, 11);
        for step in from..=to {
            run.step("live", None, step, Some(1), |_| ());
        }
        run.shifted(100 * from)
            .into_iter()
            .for_each(|event| stage.world.session.apply(event));
        stage.world.session.settle();
        stage.send(&Input::ModelChanged);
    };
    grow(&mut stage, 3, 4);
    assert!(stage.title().ends_with("step 4"), "{}", stage.title());
    stage.act(Action::StepPrevious);
    grow(&mut stage, 5, 6);
    assert!(
        stage.title().ends_with("step 3"),
        "reading goes on undisturbed: {}",
        stage.title()
    );
}

#[test]
fn a_place_is_opened_even_if_it_is_folded_away() {
    let place = Place {
        agent: AgentId(3),
        step: Some(1),
    };
    let mut stage = Stage::at(sample::lighthouses(), 0, Some(place));
    assert_eq!(stage.screen.tree.place(), Some(place));
    assert!(stage.frame(120, 34).contains("code"));
}

#[test]
fn the_timeline_of_this_run_is_opened() {
    let mut stage = lighthouses(3);
    let key = stage.screen.key;
    stage.act(Action::Timeline);
    assert!(matches!(stage.left.last(), Some(Effect::Push(Route::Timeline { query })) if *query == key));
}
