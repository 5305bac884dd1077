//! Reading back: folds over the log, which change nothing.

use crate::desk::{builder, client, files, model, reader};
use fast_rlm::PricingTable;
use fast_rlm::lab::{Recording, observe};
use fast_rlm::observe::CostBasis;
use fast_rlm::provider::Price;
use serde_json::json;

#[tokio::test]
async fn case_8_reading_changes_no_byte() {
    let dir = tempfile::tempdir().unwrap();
    let id = {
        let client = client(dir.path(), &["x = await llm_query('a')", "FINAL(x)"]);
        client.run("go").await.unwrap();
        client.session_id().unwrap()
    };
    let before = files(dir.path());
    let client = reader(dir.path());
    let session = client.open_session(&id).unwrap();
    let events = client.sessions().unwrap()[0].events;
    for _ in 0..100 {
        session.history().unwrap();
        session.turns().unwrap();
        session.run_trace().unwrap();
        session.cost(&PricingTable::builtin()).unwrap();
        session.efficiency().unwrap();
    }
    assert_eq!(client.sessions().unwrap()[0].events, events);
    assert_eq!(files(dir.path()), before);
}

#[tokio::test]
async fn case_10_costs_are_exact_and_unknown_is_not_free() {
    let dir = tempfile::tempdir().unwrap();
    let usage = json!({"prompt": 1000, "completion": 500, "cost": "unknown"});
    let provider = model(&json!({
        "rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL(1)", "usage": {"prompt": 7, "completion": 3, "cost": 0.05}}]}],
        "replies": [{"code": "x = await llm_query('a')", "usage": usage}, {"code": "FINAL(x)", "usage": usage}],
    }));
    let client = builder(dir.path()).sub_model("small").build(provider).unwrap();
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    let mut table = PricingTable::default();
    let unknown = session.cost(&table).unwrap();
    assert_eq!((unknown[0].model.as_str(), unknown[0].nano), ("m", None));
    let dollars = |dollars: i64| Price {
        input: dollars * 1_000_000_000,
        cached: None,
        cache_write: None,
        output: dollars * 1_000_000_000,
    };
    table.set("m", dollars(1000));
    table.set("small", dollars(1));
    let rows = session.cost(&table).unwrap();
    // Two calls of 1,500 tokens at $1,000 a million; the sub-agent's own figure beats the table.
    assert_eq!(
        (rows[0].nano, rows[0].basis),
        (Some(3_000_000_000), CostBasis::Estimated)
    );
    assert_eq!(
        (rows[1].model.as_str(), rows[1].nano, rows[1].basis),
        ("small", Some(50_000_000), CostBasis::Reported)
    );

    let mixed = builder(dir.path()).sub_model("m").build(model(&json!({
        "rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL(1)", "usage": {"prompt": 7, "completion": 3, "cost": 0.05}}]}],
        "replies": [{"code": "FINAL(await llm_query('a'))", "usage": usage}],
    }))).unwrap();
    mixed.run("go").await.unwrap();
    let rows = mixed.session().unwrap().cost(&table).unwrap();
    assert_eq!(
        (rows.len(), rows[0].nano, rows[0].basis),
        (1, Some(1_550_000_000), CostBasis::Estimated)
    );
}

#[tokio::test]
async fn efficiency_is_none_before_a_turn_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let session = client(dir.path(), &["1/0", "FINAL(1)", "FINAL(2)"])
        .create_session()
        .unwrap();
    assert!(session.efficiency().unwrap().is_none());
    session.send("one").await.unwrap();
    let first = session.efficiency().unwrap().unwrap();
    assert_eq!(
        (first.turns, first.finals, first.steps, first.failed_steps),
        (1, 1, 2, 1)
    );
    assert_eq!(first.preamble_share, Some(0.0));
    session.send("two").await.unwrap();
    let both = session.efficiency().unwrap().unwrap();
    assert!(both.preamble_share.unwrap() > 0.0 && both.tokens_per_final.unwrap() > 0.0);
}

#[tokio::test]
async fn what_is_read_of_a_part_of_the_log_is_what_the_whole_of_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let provider = model(&json!({
        "rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL({'child_run': None})", "usage": {"prompt": 7, "completion": 3, "cost": 0.05}}]}],
        "replies": [
            {"code": "a = await llm_query('a')\nprint(a)"}, {"code": "1 / 0"}, {"code": "FINAL(a)"},
            {"code": "b = 1"}, {"error": 400},
            {"code": "c = await batch_llm_query(llm_query('c'), llm_query('d'))"}, {"code": "y = await ask('ok?')"},
        ],
    }));
    let client = builder(dir.path()).build(provider).unwrap();
    let session = client.session().unwrap();
    session.send("one").await.unwrap();
    session.send("two").await.unwrap_err();
    assert!(session.send("three").await.unwrap().suspended.is_some());
    let whole = Recording::read(client.store(), &session.id()).unwrap();
    let table = PricingTable::builtin();
    assert_eq!(session.history().unwrap(), observe::history(&whole));
    assert_eq!(session.turns().unwrap(), observe::turns(&whole));
    assert_eq!(session.cost(&table).unwrap(), observe::model_costs(&whole, &table));
    assert_eq!(session.efficiency().unwrap(), observe::efficiency(&whole));
    let turns = session.turns().unwrap();
    assert_eq!(turns.iter().map(|turn| turn.sub_agents).collect::<Vec<_>>(), [1, 0, 2]);
    assert_eq!(turns[0].failed_steps, 1);
    let history = session.history().unwrap();
    assert!(
        history.iter().any(|message| message.text == "(turn ended in an error)"),
        "{history:?}"
    );
}
