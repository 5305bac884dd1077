//! Sub-agents of a recorded query, run again from their own records.

use crate::desk::{Counter, builder, events_of, model, reader, rewritten};
use fast_rlm::observe::Fact;
use fast_rlm::store::payload::{LeafCall, SubAgent};
use fast_rlm::{Client, Config, NoSink, ReplayReport, Session};
use serde_json::json;
use std::path::Path;

/// One sub-agent that starts another, draws numbers and reads the clock; one that is given a tool; one that raises first.
const ROOT: &str = "a = await llm_query('deep')\nb, c = await batch_llm_query(llm_query('tool', tools=['tool']), llm_query('raises'))\nprint(a, b, c)";

async fn recorded(dir: &Path) -> (Client, Session, Counter) {
    let deep = "import random, time, uuid\nx = random.random()\nprint(x, time.time(), uuid.uuid4())\ny = await llm_query('leaf please')";
    let provider = model(&json!({"rules": [
        {"when": {"depth": 2}, "replies": [{"code": "print('at the end')\nFINAL('leaf')"}]},
        {"when": {"depth": 1, "last": "deep"}, "replies": [{"code": deep}]},
        {"when": {"depth": 1, "first": "4 characters\ntool"}, "replies": [{"code": "FINAL(tool('t')['x'])"}]},
        {"when": {"depth": 1, "first": "raises"}, "replies": [{"code": "1 / 0"}, {"code": "FINAL('raised')"}]},
        {"when": {"depth": 1}, "replies": [{"code": "FINAL([x, y])"}]},
        {"when": {}, "replies": [{"code": ROOT}, {"code": "FINAL([a[1], b, c])"}]},
    ]}));
    let counter = Counter::default();
    let client = builder(dir).tool(counter.clone()).build(provider).unwrap();
    let output = client.run("go").await.unwrap();
    assert_eq!(output.value, json!(["leaf", "t", "raised"]));
    let session = client.session().unwrap();
    (client, session, counter)
}

async fn replayed(session: &Session) -> ReplayReport {
    session.replay(None, &mut NoSink).await.unwrap()
}

#[tokio::test]
async fn case_46_sub_agents_run_again_from_their_own_cells() {
    let dir = tempfile::tempdir().unwrap();
    let (_client, session, counter) = recorded(dir.path()).await;
    let report = replayed(&reader(dir.path()).open_session(&session.id()).unwrap()).await;
    assert!(report.faithful(), "{report:#?}");
    // Three of the root's, one of the first's own; the second's tool and the first's sub-agent are cells of theirs.
    let agents = report.sub_agents;
    assert_eq!((agents.served, agents.replayed, agents.without_cells), (4, 4, 0));
    assert_eq!((report.cells_total, report.cells_consumed), (5, 5));
    assert_eq!(
        agents.steps, 6,
        "two of the first, two of the one that raises, one of the others"
    );
    assert_eq!(counter.count(), 1);
    assert_eq!(report.state_equal, Some(true));
}

fn agent_of(fact: Fact, wanted: &str) -> Result<SubAgent, Box<Fact>> {
    match fact {
        Fact::SubAgent(agent) if agent.steps[0].code.contains(wanted) => Ok(agent),
        other => Err(Box::new(other)),
    }
}

#[tokio::test]
async fn case_46_a_child_without_cells_is_reported_and_its_parent_keeps_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, _) = recorded(dir.path()).await;
    let without = rewritten(&client, &session, |fact| {
        agent_of(fact, "1 / 0").err().map(|other| *other)
    });
    let report = replayed(&without).await;
    assert!(report.faithful(), "{report:#?}");
    assert_eq!((report.sub_agents.replayed, report.sub_agents.without_cells), (3, 1));
    assert_eq!(
        report.plans[0].steps.len(),
        2,
        "the root goes on with what was recorded"
    );
}

#[tokio::test]
async fn case_46_a_child_that_comes_to_something_else_diverges_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, _) = recorded(dir.path()).await;
    let changed = |wanted: &'static str, change: fn(&mut SubAgent)| {
        rewritten(&client, &session, move |fact| {
            let agent = agent_of(fact, wanted).map(|mut agent| {
                change(&mut agent);
                agent.into()
            });
            Some(agent.unwrap_or_else(|other| *other))
        })
    };
    let output = changed("at the end", |agent| {
        agent.steps[0].code = "print('elsewhere')\nFINAL('leaf')".into();
        agent.steps[0].ended.as_mut().unwrap().output = "[FULL OUTPUT SHOWN]... at the end\n".into();
    });
    let diverged = replayed(&output).await.diverged.unwrap();
    assert_eq!(diverged.what, "sub-agent 4, step 1: output");
    assert_eq!((diverged.turn, diverged.step), (0, 0));
    let result = changed("tool('t')", |agent| {
        agent.steps[0].code = "FINAL(tool('t')['call'])".into()
    });
    let diverged = replayed(&result).await.diverged.unwrap();
    assert_eq!(
        (
            diverged.what.as_str(),
            diverged.expected.as_str(),
            diverged.got.as_str()
        ),
        ("sub-agent 2, step 1: FINAL", "\"t\"", "1")
    );
    let call = changed("tool('t')", |agent| {
        agent.steps[0].code = "FINAL(tool('u')['x'])".into()
    });
    let report = replayed(&call).await;
    assert_eq!(report.diverged.unwrap().what, "sub-agent 2, step 1: call tool");
    assert_eq!(report.unconsumed.len(), 1);
}

#[tokio::test]
async fn what_a_sub_agent_was_given_is_in_its_record_and_secrets_are_not() {
    const SECRET: &str = "hunter2-hunter2";
    let dir = tempfile::tempdir().unwrap();
    let provider = model(&json!({"rules": [
        {"when": {"depth": 1}, "replies": [
            {"code": "import os\nprint('it is', os.environ['TOKEN'])", "reasoning": format!("I know {SECRET}")},
            {"code": "FINAL(len(os.environ['TOKEN']))"},
        ]},
        {"when": {}, "replies": [{"code": "FINAL(await llm_query('look'))"}]},
    ]}));
    let config = || Config::new("m").env("TOKEN", SECRET);
    let client = builder(dir.path()).config(config()).build(provider).unwrap();
    assert_eq!(client.run("go").await.unwrap().value, json!(SECRET.len()));
    let session = client.session().unwrap();
    let events = events_of(&client, &session);
    let agent = events.iter().find_map(|event| match &event.fact {
        Fact::SubAgent(agent) => Some(agent.clone()),
        _ => None,
    });
    let agent = agent.unwrap();
    assert_eq!((agent.depth, agent.steps.len(), agent.error), (1, 2, None));
    assert!(agent.steps[0].call.request.is_some() && !agent.steps[0].call.added.is_empty());
    assert!(!format!("{events:?}").contains(SECRET));
    let report = replayed(&session).await;
    assert!(report.faithful() && report.sub_agents.replayed == 1, "{report:#?}");
}

#[tokio::test]
async fn a_sub_agent_without_an_answer_runs_again_too() {
    let dir = tempfile::tempdir().unwrap();
    let provider = model(&json!({"rules": [
        {"when": {"depth": 1}, "at_end": "last", "replies": [{"code": "print('still looking')"}]},
        {"when": {}, "at_end": "last", "replies": [
            {"code": "try:\n    await llm_query('look')\nexcept RuntimeError as e:\n    told = str(e)\nprint(told)"},
            {"code": "FINAL(told)"},
        ]},
    ]}));
    let config = Config::new("m").max_calls_per_subagent(3);
    let client = builder(dir.path()).config(config).build(provider).unwrap();
    let told = client.run("go").await.unwrap().text().into_owned();
    assert!(told.contains("max_calls_per_subagent"), "{told}");
    let report = replayed(&client.session().unwrap()).await;
    assert!(report.faithful(), "{report:#?}");
    assert_eq!((report.sub_agents.replayed, report.sub_agents.steps), (1, 3));
}

#[tokio::test]
async fn a_result_of_a_sub_agents_own_that_was_cut_leaves_it_unreplayed() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, _) = recorded(dir.path()).await;
    let cut = rewritten(&client, &session, |fact| match fact {
        Fact::LeafCall(cell) if cell.call == "tool" => Some(
            LeafCall {
                outcome: fast_rlm::store::payload::CellOutcome::Truncated {
                    head: "{".into(),
                    bytes: 9,
                    cap: 1,
                },
                ..cell
            }
            .into(),
        ),
        other => Some(other),
    });
    let report = replayed(&cut).await;
    assert!(report.faithful(), "{report:#?}");
    assert_eq!((report.sub_agents.replayed, report.sub_agents.without_cells), (3, 1));
}
