//! Numbers, costs and instants of any kind, through the real viewer: exact where they are known, unknown where they
//! are not, and never hidden.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

// Each of its users needs its own part of it.
#[allow(dead_code)]
mod viewer_files;

use serde_json::{Value, json};
use viewer_files::{Place, lines, problems, run, step, step_of};

fn one(line: String) -> Value {
    Place::with_log(&lines(&[line])).json()
}

#[test]
fn counts_of_any_form_are_read_or_unknown() {
    for (total, tokens, odd) in [
        ("12.0", 12, 0),
        ("\"12\"", 12, 1),
        ("1e400", 11, 1),
        ("123456789012345678901234567890", 11, 1),
        ("-5", 11, 1),
        ("NaN", 11, 1),
        ("null", 11, 0),
        ("[12]", 11, 1),
        ("9007199254740993", 9_007_199_254_740_993_u64, 0),
        ("18446744073709551615", u64::MAX, 0),
    ] {
        let json = one(step(1, "").replace("\"total_tokens\":11", &format!("\"total_tokens\":{total}")));
        assert_eq!(run(&json)["tokens"]["total"], tokens, "{total}");
        assert_eq!(problems(&json).len(), odd, "{total}");
    }
}

#[test]
fn a_step_without_a_usable_number_counts_with_all_that_it_used() {
    for number in ["null", "-3", "1e30", "1.5", "\"one\"", "[]"] {
        let odd = step(2, "").replace("\"step\":2", &format!("\"step\":{number}"));
        let json = Place::with_log(&lines(&[step(1, ""), odd])).json();
        assert_eq!(
            (&run(&json)["steps"], &run(&json)["tokens"]["total"]),
            (&json!(2), &json!(22)),
            "{number}"
        );
        assert_eq!(run(&json)["cost_nano_usd"], 2_000_000, "{number}");
        let told = json["problems"].to_string();
        assert!(
            told.contains("taken for step 2") && !told.contains("unknown type"),
            "{told}"
        );
    }
}

#[test]
fn the_last_of_duplicate_keys_counts() {
    let json = one(step(1, "").replace(
        "\"usage\":",
        "\"usage\":{\"total_tokens\":5},\"hasError\":true,\"usage\":",
    ));
    assert_eq!(
        (&run(&json)["tokens"]["total"], &run(&json)["failed_steps"]),
        (&json!(11), &json!(1))
    );
}

#[test]
fn costs_are_exact_and_unknown_is_not_zero() {
    for (cost, nano, shown) in [
        ("0", Some(0_i64), "$0"),
        ("0.0", Some(0), "$0"),
        ("4e-9", Some(4), "$0.000000004"),
        ("0.0000378", Some(37_800), "$0.0000378"),
        ("0.00499", Some(4_990_000), "$0.00499"),
        ("0.995", Some(995_000_000), "$1.00"),
        ("1234.5", Some(1_234_500_000_000), "$1,234.50"),
        ("-1e-9", Some(-1), "-$0.000000001"),
        ("1e-10", Some(1), "$0.000000001"),
        ("0e-400", Some(0), "$0"),
        ("\"0.41\"", Some(410_000_000), "$0.41"),
        ("null", None, "unknown"),
        ("1e400", None, "unknown"),
        ("\"free\"", None, "unknown"),
    ] {
        let place = Place::with_log(&lines(&[step(1, "").replace("0.001", cost)]));
        let json = place.json();
        let known = u64::from(nano.is_some());
        assert_eq!(run(&json)["cost_nano_usd"], nano.unwrap_or(0), "{cost}");
        assert_eq!(
            (&run(&json)["steps_with_cost"], &run(&json)["steps_without_cost"]),
            (&json!(known), &json!(1 - known))
        );
        let stats = place.stats();
        let line = stats
            .lines()
            .find(|line| line.trim_start().starts_with("Cost "))
            .unwrap();
        assert_eq!(line.split_whitespace().last(), Some(shown), "{cost}");
    }
}

#[test]
fn sums_are_integers_with_the_unknown_beside_them() {
    let mut log: Vec<String> = (1..=10).map(|n| step(n, "").replace("0.001", "0.1")).collect();
    log.extend((11..=13).map(|n| step(n, "").replace(",\"cost\":0.001", "")));
    let place = Place::with_log(&lines(&log));
    assert_eq!(run(&place.json())["cost_nano_usd"], 1_000_000_000_i64, "no 0.9999999");
    assert!(place.stats().contains("$1.00 + 3 unknown"));
}

#[test]
fn clocks_of_any_kind_hide_nothing() {
    let timed = |run: &str, step: u64, start: &str, end: &str| {
        step_of(
            run,
            step,
            &format!(r#","timestamps":{{"llm_call_start":{start},"llm_call_end":{end}}}"#),
        )
    };
    let log = lines(&[
        timed("r1", 1, "\"2026-01-01T00:00:05Z\"", "\"2026-01-01T00:00:01Z\""),
        timed("r1", 2, "\"2026-01-01T02:00:00+02:00\"", "\"2026-01-01T00:00:00.250\""),
        timed("r1", 3, "1767225600000", "1e400"),
        timed("r1", 4, "\"yesterday\"", "null"),
        step_of("early", 1, r#","parent_run_id":"r1""#).replace("2026-01-01T00:00:01Z", "1999-01-01T00:00:00Z"),
    ]);
    let place = Place::with_log(&log);
    let json = place.json();
    assert_eq!(
        (&run(&json)["steps"], &run(&json)["agents"], &run(&json)["events"]),
        (&json!(5), &json!(2), &json!(5))
    );
    let kinds: Vec<String> = problems(&json).into_iter().map(|(kind, _, _)| kind).collect();
    assert!(
        kinds.contains(&"clock".to_owned()) && kinds.contains(&"number".to_owned()),
        "{kinds:?}"
    );
    // What is years away from everything else does not move the run, but it is named.
    assert_eq!(json["queries"][0]["started"].as_str().map(|at| &at[..4]), Some("2026"));
    assert!(
        json["problems"]
            .to_string()
            .contains("1999-01-01 00:00:00 UTC is years away")
    );
}

#[test]
fn a_root_without_usage_counts_its_children_once() {
    let log = lines(&[
        r#"{"run_id":"r1","event_type":"agent_start"}"#.to_owned(),
        step_of("a", 1, r#","parent_run_id":"r1""#),
        step_of("b", 1, r#","parent_run_id":"a""#),
    ]);
    let json = Place::with_log(&log).json();
    assert_eq!(
        (&run(&json)["tokens"]["total"], &run(&json)["root_steps"]),
        (&json!(22), &json!(0))
    );
}

#[test]
fn many_steps_and_a_giant_beside_them() {
    let mut log: Vec<String> = (1..=20_000).map(|n| step(n, "")).collect();
    log.push(step(20_001, "").replace("\"total_tokens\":11", "\"total_tokens\":18446744073709551615"));
    let json = Place::with_log(&lines(&log)).json();
    assert_eq!(
        (&run(&json)["steps"], &run(&json)["tokens"]["total"]),
        (&json!(20_001), &json!(u64::MAX))
    );
}

#[test]
fn a_directory_counts_of_each_session_what_the_session_counts() {
    let place = Place::with_log(&lines(&[step(1, ""), step(2, "")]));
    // Another one, of which `code_log` alone tells the steps.
    place.put(
        "old/state.json",
        r#"{"version": 2, "queries": [{"query": "q", "result": "r", "log_file": "gone.jsonl"}],
            "code_log": [{"q": 1, "step": 1, "ok": true, "code": "x"}, {"q": 1, "step": 2, "ok": true, "code": "y"}]}"#,
    );
    let all: Value = serde_json::from_slice(&place.run(".", &["--json"]).stdout).unwrap();
    let sessions = all["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    for listed in sessions {
        let own = place.run(listed["name"].as_str().unwrap(), &["--json"]).stdout;
        let own: Value = serde_json::from_slice(&own).unwrap();
        for (listed, own) in [
            (&listed["queries"], &own["completed"]),
            (&listed["runs_without_final"], &own["without_final"]),
            (&listed["completed"], &own["totals"]["completed"]),
            (&listed["without_final"], &own["totals"]["without_final"]),
        ] {
            assert_eq!(listed, own);
        }
    }
    let bare = sessions.iter().find(|session| session["name"] == "old").unwrap();
    let sums: Vec<&Value> = ["completed", "without_final"]
        .iter()
        .map(|part| &bare[part]["steps_without_transcript"])
        .collect();
    assert!(sums.contains(&&json!(2)), "{bare}");
}

#[test]
fn what_cannot_be_read_of_a_directory_is_told_and_missing_from_its_sums() {
    let whole = r#"{"version": 2, "queries": [{"query": "first", "log_file": "logs/a.jsonl"}], "pending_query": null, "variables": {}}"#;
    for length in 60..whole.len() - 1 {
        let place = Place::with_log(&lines(&[step(1, "")]));
        place.put("cut/state.json", &whole[..length]);
        let listing = place.json_of(".");
        let rows = listing["sessions"].as_array().unwrap();
        let cut = rows.iter().find(|row| row["name"] == "cut").unwrap();
        assert!(
            cut["damaged"].as_str().unwrap().contains("state.json"),
            "{length}: {cut}"
        );
        assert_eq!(listing["unread"], 1, "{length}");
        let text = String::from_utf8(place.run(".", &["--stats"]).stdout).unwrap();
        assert!(
            text.contains("+ 1 session that cannot be read: unknown"),
            "{length}: {text}"
        );
    }
}
