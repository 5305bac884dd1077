//! Sizes at which anything quadratic or recursive would not come back.

use super::*;

#[test]
fn a_chain_of_agents_is_walked_not_recursed() {
    let mut log = Log::new(0);
    log.start("0", None, 0);
    for depth in 1..20_000 {
        log.start(&depth.to_string(), Some(&(depth - 1).to_string()), depth);
    }
    let session = log.session();
    let run = &session.queries[0].run;
    assert_eq!((run.max_depth, run.root().unwrap().subtree.agents), (19_999, 20_000));
}

#[test]
fn many_agents_of_one_parent_with_many_steps() {
    let mut log = Log::new(0);
    log.start("r", None, 0);
    for n in 0..10_000 {
        log.start(&format!("k{n}"), Some("r"), n * 10 + 5);
        log.step("r", during(n as u64 + 1, "x", n * 10, n * 10 + 9), n * 10 + 9);
    }
    let run = &log.session().queries[0].run;
    assert!(
        run.agents
            .iter()
            .skip(1)
            .all(|agent| agent.placement == Placement::Timed)
    );
    assert!(run.agents[0].steps.iter().all(|step| step.children.len() == 1));
}

#[test]
fn one_step_repeated_without_end() {
    let mut log = Log::new(0);
    for n in 0..10_000 {
        log.step(
            "r",
            StepLine {
                cost: Cost::Known(n),
                ..executed(1, "x")
            },
            n,
        );
    }
    let session = log.session();
    assert_eq!(session.queries[0].run.totals.steps, 10_000);
    assert_eq!(structure_problems(&session), 1_001, "listed in part, counted in full");
}

#[test]
fn many_lost_runs_of_the_same_code() {
    let mut events = vec![pending("q")];
    let mut codes = Vec::new();
    for id in 0..2_000 {
        let mut log = Log::new(id);
        log.start(&format!("r{id}"), None, i64::from(id))
            .step(&format!("r{id}"), executed(1, "x"), i64::from(id));
        events.extend(log.events(&[]));
        codes.push(code(0, 1, "x"));
    }
    events.push(state(vec![], codes));
    let session = settled(events);
    assert_eq!(session.queries.len(), 2_000);
    assert!(
        session
            .queries
            .iter()
            .enumerate()
            .all(|(at, query)| query.run.log == Some(LogId(at as u32)))
    );
    assert!(session.queries.iter().all(|query| query.code.len() == 1));
}
