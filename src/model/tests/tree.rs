//! Agents find their parents and the steps that spawned them; whatever is wrong, each appears once.

use proptest::prelude::*;

use super::*;

fn agent<'a>(session: &'a Session, run: &str) -> &'a Agent {
    session
        .queries
        .iter()
        .flat_map(|query| &query.run.agents)
        .find(|agent| agent.run_id == run)
        .unwrap()
}

fn placed(session: &Session, run: &str) -> (Option<usize>, Placement) {
    let agent = agent(session, run);
    (agent.parent_step, agent.placement)
}

#[test]
fn execution_time_places_a_child() {
    let mut log = Log::new(0);
    log.start("r", None, 0).start("kid", Some("r"), 15);
    log.step("r", during(1, "a", 1, 9), 9)
        .step("r", during(2, "b", 10, 20), 20)
        .step("r", during(3, "c", 21, 30), 30);
    let session = log.session();
    assert_eq!(placed(&session, "kid"), (Some(1), Placement::Timed));
    assert_eq!(agent(&session, "r").steps[1].children, [AgentId(1)]);
    assert_eq!(agent(&session, "kid").depth, 1);
}

#[test]
fn where_executions_touch_the_line_that_follows_decides() {
    let mut log = Log::new(0);
    log.step("r", during(1, "a", 1, 10), 10)
        .start("kid", Some("r"), 10)
        .step("r", during(2, "b", 10, 20), 20);
    assert_eq!(placed(&log.session(), "kid"), (Some(1), Placement::Timed));
    let mut log = Log::new(0);
    log.start("kid", Some("r"), 10)
        .step("r", during(1, "a", 1, 10), 10)
        .step("r", during(2, "b", 10, 20), 20);
    assert_eq!(placed(&log.session(), "kid"), (Some(0), Placement::Timed));
}

#[test]
fn without_times_order_places_a_child() {
    let mut log = Log::new(0);
    log.step("r", executed(1, "a"), 1)
        .start("kid", Some("r"), 2)
        .step("r", executed(2, "b"), 3);
    log.step("r", executed(3, "c"), 4).start("late", Some("r"), 5);
    let session = log.session();
    assert_eq!(placed(&session, "kid"), (Some(1), Placement::Order));
    assert_eq!(placed(&session, "late"), (Some(2), Placement::Guess));
}

#[test]
fn a_parent_without_steps_still_has_its_child() {
    let mut log = Log::new(0);
    log.start("r", None, 0).start("kid", Some("r"), 1);
    let session = log.session();
    assert_eq!(placed(&session, "kid"), (None, Placement::Guess));
    assert_eq!(agent(&session, "r").subtree.agents, 2);
}

#[test]
fn orphans_and_cycles_are_roots_with_a_problem() {
    let mut log = Log::new(0);
    log.start("root", None, 0)
        .start("orphan", Some("gone"), 1)
        .start("self", Some("self"), 2);
    log.start("a", Some("b"), 3)
        .start("b", Some("c"), 4)
        .start("c", Some("a"), 5)
        .start("tail", Some("b"), 6);
    let session = log.session();
    let run = &session.queries[0].run;
    let roots: Vec<&str> = run
        .roots
        .iter()
        .map(|id| run.agent(*id).unwrap().run_id.as_str())
        .collect();
    assert_eq!(roots, ["root", "orphan", "self", "a"]);
    assert_eq!((run.agents.len(), structure_problems(&session)), (7, 3));
    assert!(agent(&session, "a").orphan && !agent(&session, "b").orphan);
    assert_eq!(agent(&session, "orphan").parent_run_id.as_deref(), Some("gone"));
    assert_eq!((agent(&session, "c").depth, agent(&session, "tail").depth), (1, 3));
}

#[test]
fn a_parent_known_by_any_of_its_lines_is_enough() {
    let mut log = Log::new(0);
    log.answer("kid", 9)
        .end("kid", None, 10)
        .start("kid", Some("r"), 5)
        .start("r", None, 1);
    let session = log.session();
    assert_eq!(agent(&session, "kid").parent, Some(AgentId(0)));
    assert_eq!(
        (agent(&session, "kid").started, agent(&session, "kid").ended),
        (Some(5), Some(10))
    );
    assert_eq!(structure_problems(&session), 0);
}

#[test]
fn unknown_events_are_listed_and_skipped() {
    let mut log = Log::new(0);
    log.start("r", None, 0)
        .line("ghost", None, None, LineKind::Unknown("new_event".into()));
    let session = log.session();
    assert_eq!(session.queries[0].run.agents.len(), 1);
    assert_eq!(session.problems[0].kind, ProblemKind::UnknownEvent);
    assert_eq!(
        (session.problems[0].line, session.problems[0].byte),
        (Some(2), Some(100))
    );
}

#[test]
fn clocks_that_run_backwards_are_flagged() {
    let mut log = Log::new(0);
    log.start("r", None, 100)
        .start("kid", Some("r"), 10)
        .step("r", during(1, "a", 30, 20), 110);
    let session = log.session();
    assert_eq!(
        session
            .problems
            .iter()
            .filter(|problem| problem.kind == ProblemKind::Clock)
            .count(),
        2
    );
    assert_eq!(session.queries[0].run.span, Some((10, 110)));
}

#[test]
fn subtrees_sum_each_step_once() {
    let mut log = Log::new(0);
    log.start("r", None, 0)
        .start("a", Some("r"), 1)
        .start("b", Some("a"), 2);
    log.step("b", executed(1, "x"), 3)
        .step("b", executed(2, "y"), 4)
        .step("a", executed(1, "x"), 5);
    let session = log.session();
    let sums = ["r", "a", "b"].map(|run| (agent(&session, run).own().steps, agent(&session, run).subtree.steps));
    assert_eq!(sums, [(0, 3), (1, 3), (2, 2)]);
    assert_eq!(
        (
            session.lost.steps,
            session.lost.agents,
            session.queries[0].run.max_depth
        ),
        (3, 3, 2)
    );
}

proptest! {
    #[test]
    fn any_parents_give_every_agent_one_place(parents in prop::collection::vec(prop::option::of(0usize..12), 0..10)) {
        let mut log = Log::new(0);
        for (index, parent) in parents.iter().enumerate() {
            log.start(&index.to_string(), parent.map(|parent| parent.to_string()).as_deref(), index as i64 % 3);
        }
        let session = log.session();
        let run = &session.queries[0].run;
        prop_assert_eq!(run.agents.len(), parents.len());
        for (index, agent) in run.agents.iter().enumerate() {
            match agent.parent {
                Some(parent) => {
                    prop_assert!((parent.0 as usize) < index, "parents come first");
                    prop_assert_eq!(agent.depth, run.agents[parent.0 as usize].depth + 1);
                }
                None => prop_assert!(run.roots.contains(&AgentId(index as u32))),
            }
        }
        prop_assert_eq!(run.totals.agents, parents.len() as u64);
        let in_roots: u64 = run.roots.iter().map(|id| run.agent(*id).unwrap().subtree.agents).sum();
        prop_assert_eq!(in_roots, parents.len() as u64);
    }
}
