//! Queries that are killed, raise, or come to a limit: what is kept of them, and what the next one is told.

use crate::running::Ran;
use crate::running::server::tool;
use crate::running::session::{self, check_state, output};
use crate::{Scene, play, recorded};
use serde_json::{Value, json};

#[test]
fn a_killed_query_is_told_to_the_next_one() {
    let Some(tool) = tool() else { return };
    // With its delays: the third reply takes two minutes.
    let scene = Scene::open(&tool, true, false);
    let (_, _) = scene.ask(scene.asks("Split the first twelve primes into odd and even, and keep the list."));
    let mut child = scene.asks("Now square each prime and add them up.").start();
    let state = || scene.session().state();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while state()["code_log"].as_array().unwrap().len() < 4 {
        assert!(std::time::Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        state()["pending_query"],
        json!("Now square each prime and add them up.")
    );

    let (answer, _) = scene.ask(scene.asks("And what is left?"));
    assert_eq!(answer, json!("unscripted"));
    let first = scene.server.requests().last().unwrap()["messages"][1]["content"].to_string();
    assert!(
        first.contains("interrupted after 2 steps") && first.contains("total (int): 4727"),
        "{first}"
    );
    assert_eq!(
        state()["interrupted"][0]["query"],
        json!("Now square each prime and add them up.")
    );
    assert_eq!(state()["queries"].as_array().unwrap().len(), 2);
}

#[test]
fn errors_limits_and_unknown_costs() {
    play(|scene| {
        let ran = scene
            .asks("Count every grain of sand.")
            .option("--max-calls", "3")
            .run();
        ran.refused(3, &["max_calls_per_subagent", "3"]);
        stopped(
            scene,
            &ran,
            "max_calls_per_subagent",
            &["grains = 10 ** 6", "grains *= 2", "grains *= 2"],
        );

        let (answer, totals) = scene.ask(scene.asks("Print something of everything."));
        assert_eq!(answer, recorded("errors").0["queries"][0]["final"]);
        assert_eq!((totals.root_steps, totals.failed_steps), (10, 2));
        assert_eq!(
            (totals.steps_without_cost, totals.cost_nano),
            (9, 0),
            "a cost of 0 is known"
        );
        check_weird_output(&scene.last());

        let (answer, totals) = scene.ask(scene.asks("Let the helpers fail.").option("--max-depth", "2"));
        assert_eq!((answer, totals.max_depth), (Value::Null, 2));
        let lines = scene.last();
        assert!(
            lines
                .iter()
                .all(|line| line.get("result").is_none_or(|result| !result.is_null())),
            "None is absent"
        );
        let said = [output(&lines, 1), output(&lines, 2), output(&lines, 3)];
        assert_eq!(said[0], "[EMPTY OUTPUT]", "the helper at the floor said so itself");
        let leaf = lines
            .iter()
            .find(|line| line["depth"] == json!(2) && line["step"] == json!(1))
            .unwrap();
        assert!(
            leaf["hasError"] == json!(true) && leaf["output"].as_str().unwrap().contains("depth"),
            "{leaf}"
        );
        assert!(
            said[1].contains("accepted 10800"),
            "a short context is worth no question: {said:?}"
        );
        assert!(
            said[2].contains("dawdler: ") && said[2].contains("max_calls_per_subagent"),
            "{said:?}"
        );

        let ran = scene.asks("Spend all the money you have.").run();
        ran.refused(3, &["max_money_spent", "$0.20"]);
        stopped(scene, &ran, "max_money_spent", &["spent = 1", "spent = 2"]);
        let outcomes: Vec<Value> = scene.session().state()["interrupted"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["outcome"].clone())
            .collect();
        assert_eq!(outcomes, ["limit", "limit"]);
    });
}

/// A limit stopped the run: the steps before are kept, the transcript says why, and the query is listed apart.
#[track_caller]
fn stopped(scene: &Scene, ran: &Ran, limit: &str, codes: &[&str]) {
    let (told, state) = (ran.json(), scene.session().state());
    check_state(&state);
    assert_eq!(told["outcome"], json!("limit"));
    let row = state["interrupted"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&row["run_id"], &row["outcome"]), (&told["run_id"], &json!("limit")));
    let ran: Vec<&Value> = state["code_log"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["run_id"] == told["run_id"])
        .collect();
    assert_eq!(ran.len(), codes.len());
    for (row, code) in ran.iter().zip(codes) {
        assert!(row["code"].as_str().unwrap().starts_with(code), "{row}");
    }
    let totals = scene.totals(&told, &row["log_file"]);
    assert_eq!(totals.root_steps, codes.len());
    let lines = scene.session().transcript(&row["log_file"]);
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["event_type"], &end["outcome"], &end["limit"]),
        (&json!("agent_end"), &json!("limit"), &json!(limit))
    );
    assert!(end["error"].as_str().unwrap().contains(limit), "{end}");
}

fn check_weird_output(lines: &[Value]) {
    let raw = output(lines, 1);
    for byte in [
        "\u{1b}[31mred",
        "\u{1b}]0;owned title\u{7}",
        "10%\rprogress",
        "nul\0",
        "\u{9b}31m",
        "del\u{7f}",
    ] {
        assert!(raw.contains(byte), "{byte:?}");
    }
    assert!(output(lines, 2).contains("👩‍👩‍👧‍👦") && output(lines, 2).contains("zero\u{200b}width"));
    let long = output(lines, 3);
    assert!(
        long.contains("TRUNCATED") && long.chars().count() < 10_200,
        "{}",
        &long.chars().take(80).collect::<String>()
    );
    assert!(output(lines, 4).contains("<b>bold</b> [red]not red[/red]"));
    assert!(output(lines, 5).contains("SyntaxError"));
    assert!(output(lines, 6).contains("to stderr") && output(lines, 6).contains("to stdout"));
    assert!(output(lines, 7).contains("ValueError: line one"));
    assert!(
        output(lines, 8).contains("first block\nsecond block 2"),
        "both blocks are one step"
    );
    let failed: Vec<u64> = session::steps(lines, true)
        .iter()
        .filter(|line| line["hasError"] == json!(true))
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert_eq!(failed, [5, 7]);
}

#[test]
fn leaving_python_ends_a_step_only() {
    play(|scene| {
        let (answer, totals) = scene.ask(scene.asks("Leave in the middle."));
        assert_eq!(answer, json!("never reached"));
        assert_eq!((totals.root_steps, totals.failed_steps), (3, 1));
        assert!(output(&scene.last(), 2).contains("SystemExit"));
        assert!(
            scene.session().state()["variables"]["kept"]["preview"]
                .to_string()
                .contains("saved before the exit")
        );
    });
}
