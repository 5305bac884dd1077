//! Calls of sub-agents that nobody waits for any more: what they used is in every figure, or every figure says that it is
//! not known. Each reply of these scripts has the same price, so that the sums tell which calls are in them.

use super::Place;
use super::stopping::wait_for;
use crate::running::session::lines;
use crate::running::{Program, Ran, script, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What each reply costs, nano-dollars.
pub(super) const EACH: u64 = 10_000_000;

/// A reply; `delay` in seconds.
pub(super) fn reply(code: &str, delay: u64) -> Value {
    json!({"code": code, "delay": delay, "usage": {"prompt": 100, "completion": 10, "cost": 0.01}})
}

pub(super) fn rule(depth: u64, first: &str, replies: &[Value]) -> Value {
    json!({"when": {"depth": depth, "first": first}, "replies": replies})
}

/// Sub-agents by what they are given: one answers at once, one does not answer, one answers and computes for ever.
fn helpers() -> Vec<Value> {
    vec![
        rule(1, "quick", &[reply("FINAL('here')", 0)]),
        rule(1, "slow", &[reply("FINAL('late')", 300)]),
        rule(1, "busy", &[reply("import asyncio\nawait asyncio.sleep(300)", 0)]),
        rule(1, "twice", &[reply("x = 1", 0), reply("FINAL('late')", 300)]),
        rule(1, "parent", &[reply("x = await llm_query('of a slow child')", 0)]),
        rule(2, "child", &[reply("FINAL('late')", 300)]),
        rule(1, "fails", &[json!({"error": {"status": 402, "message": "no credit"}})]),
        rule(
            1,
            "dear",
            &[json!({
                "code": "x = 1", "delay": 2, "usage": {"prompt": 100, "completion": 10, "cost": 0.5},
            })],
        ),
    ]
}

fn asks(place: &Place, steps: &[&str]) -> Program {
    let replies: Vec<_> = steps.iter().map(|code| reply(code, 0)).collect();
    let script = json!({"rules": helpers(), "replies": replies});
    let script = script::write(place.path(), "given-up.json", &script);
    let program = Program::asks(place.path(), "the prompt").scripted(&script);
    program.session(&place.session_dir()).arg("--json")
}

/// Gives up what `call` makes, after a while.
fn gives_up(call: &str) -> String {
    format!("import asyncio\ntry:\n    await asyncio.wait_for({call}, 4)\nexcept TimeoutError:\n    FINAL('gone')")
}

/// What is told: nano-dollars that are known, and whether that is all.
pub(super) type Told = (u64, bool);

/// The viewer's sums of all that there is in the session.
pub(super) fn viewed(place: &Place) -> Told {
    let printed = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .arg(place.session_dir())
        .args(["--json", "--no-cache"])
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let sums = ["completed", "without_final"].map(|part| told["totals"][part].clone());
    let sum = |key: &str| sums.iter().map(|sum| sum[key].as_u64().unwrap()).sum::<u64>();
    (sum("cost_nano_usd"), sum("steps_without_cost") == 0)
}

/// The sums of the transcripts' own lines.
fn written(place: &Place) -> Told {
    let (mut nano, mut whole) = (0.0, true);
    for line in transcripts(place).iter().flat_map(|path| lines(path)) {
        let asked = line["step"].as_u64().is_some_and(|step| step > 0);
        let used = [
            asked.then_some(&line["usage"]),
            line.get("guard"),
            line.get("unanswered"),
        ];
        for used in used.into_iter().flatten() {
            nano += used["cost"]
                .as_f64()
                .or(used["cost_at_least"].as_f64())
                .unwrap_or_default();
            whole &= used["cost"].is_number();
        }
    }
    ((nano * 1e9_f64).round() as u64, whole)
}

pub(super) fn transcripts(place: &Place) -> Vec<PathBuf> {
    let logs = std::fs::read_dir(place.session_dir().join("logs"))
        .into_iter()
        .flatten();
    let paths = logs.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect()
}

/// The sums of the log's calls.
pub(super) fn logged(place: &Place) -> Told {
    let (mut nano, mut whole) = (0, true);
    for cost in costs_in_log(&place.session_dir()) {
        nano += cost.as_u64().or(cost["at_least"].as_u64()).unwrap_or_default();
        whole &= cost.is_u64();
    }
    (nano, whole)
}

fn costs_in_log(dir: &Path) -> Vec<Value> {
    let log = rusqlite::Connection::open(dir.join("events.db")).unwrap();
    let costs = "SELECT payload -> '$.cost' FROM event WHERE kind = 'model_call' OR (kind = 'leaf_call' AND \
                 payload ->> '$.child_run' IS NOT NULL)";
    let mut costs = log.prepare(costs).unwrap();
    let rows = costs.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|cost| serde_json::from_str(&cost.unwrap()).unwrap()).collect()
}

/// All figures say so: of `calls` that were sent, `known` have this price, and `unknown` none.
#[track_caller]
pub(super) fn billed(place: &Place, ran: &Ran, nano: u64, unknown: u64) {
    let used = &ran.json()["usage"];
    let told = (&used["cost_nano_usd"], &used["calls_without_cost"]);
    assert_eq!(told, (&json!(nano), &json!(unknown)), "{ran:?}");
    recorded(place, nano, unknown == 0);
}

#[track_caller]
pub(super) fn recorded(place: &Place, nano: u64, whole: bool) {
    assert_eq!(written(place), (nano, whole), "in the transcripts");
    assert_eq!(viewed(place), (nano, whole), "in the viewer");
    assert_eq!(logged(place), (nano, whole), "in the log");
    let session = fast_rlm::Session::open(place.session_dir(), None).unwrap();
    let rows = session.cost(&fast_rlm::PricingTable::builtin()).unwrap();
    let all: Option<i128> = rows.iter().map(|row| row.nano).sum();
    assert_eq!(all, whole.then_some(i128::from(nano)), "read back");
}

/// Every agent that began has an end.
#[track_caller]
fn all_ended(place: &Place) {
    for path in transcripts(place) {
        let lines = lines(&path);
        let count = |event: &str| lines.iter().filter(|line| line["event_type"] == event).count();
        assert_eq!(count("agent_start"), count("agent_end"), "{lines:?}");
    }
}

#[test]
fn a_call_that_the_code_waits_for_no_longer_is_unknown_and_never_free() {
    let place = Place::new();
    let ran = asks(&place, &[&gives_up("llm_query('slow')")]).run();
    assert_eq!(ran.json()["final"], "gone");
    billed(&place, &ran, EACH, 1);
    all_ended(&place);
    let lines = lines(&transcripts(&place)[0]);
    let end = lines
        .iter()
        .find(|line| line["event_type"] == "agent_end" && line["depth"] == 1);
    let end = end.unwrap();
    assert_eq!(end["outcome"], "cancelled");
    assert_eq!(
        end["error"],
        "given up: the code that started it waits for it no longer"
    );
}

#[test]
fn an_answer_whose_step_is_given_up_is_paid_for() {
    let place = Place::new();
    let ran = asks(&place, &[&gives_up("llm_query('busy')")]).run();
    assert_eq!(ran.json()["final"], "gone");
    billed(&place, &ran, 2 * EACH, 0);
    all_ended(&place);
}

#[test]
fn so_is_what_a_sub_agent_of_one_that_is_given_up_used() {
    let place = Place::new();
    let ran = asks(&place, &[&gives_up("llm_query('parent')")]).run();
    assert_eq!(ran.json()["final"], "gone");
    billed(&place, &ran, 2 * EACH, 1);
    all_ended(&place);
}

#[test]
fn of_a_batch_that_is_given_up_each_call_counts_and_what_has_ended_stays() {
    let place = Place::new();
    let batch = "batch_llm_query(llm_query('quick'), llm_query('slow'), llm_query('slow too'))";
    let ran = asks(&place, &[&gives_up(batch)]).run();
    billed(&place, &ran, 2 * EACH, 2);
    all_ended(&place);
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

#[test]
fn tasks_that_are_left_behind_at_a_steps_end_count() {
    let place = Place::new();
    let left = "import asyncio\nt = asyncio.create_task(llm_query('slow'))\nawait asyncio.sleep(4)\nFINAL(1)";
    let ran = asks(&place, &[left]).run();
    billed(&place, &ran, EACH, 1);
    all_ended(&place);
}

#[test]
fn a_batch_of_which_one_fails_has_all_its_calls() {
    let place = Place::new();
    let batch = "try:\n    await batch_llm_query(llm_query('quick'), llm_query('fails'))\nexcept Exception:\n    FINAL('failed')";
    let ran = asks(&place, &[batch]).run();
    assert_eq!(ran.json()["final"], "failed");
    billed(&place, &ran, 2 * EACH, 0);
}

#[test]
fn a_limit_that_one_of_several_meets_hides_none_of_the_others() {
    let place = Place::new();
    let batch = "await batch_llm_query(llm_query('dear'), llm_query('slow'), llm_query('slow'), llm_query('busy'))";
    let ran = asks(&place, &[batch]).option("--max-money-spent", "0.3").run();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    billed(&place, &ran, 2 * EACH + 500_000_000, 2);
    all_ended(&place);
}

#[test]
fn ctrl_c_hides_none_of_what_is_under_way() {
    let place = Place::new();
    let batch = "await batch_llm_query(llm_query('quick'), llm_query('slow'), llm_query('slow'), llm_query('busy'))";
    let mut child = asks(&place, &[batch]).start();
    let probed = |path: &PathBuf| lines(path).iter().filter(|line| line["step"] == 0).count() == 5;
    wait_for(&mut child, || transcripts(&place).iter().any(probed));
    std::thread::sleep(Duration::from_secs(2));
    signal(&child, Signal::INT);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    billed(&place, &ran, 3 * EACH, 2);
    all_ended(&place);
}

#[test]
fn a_question_that_parks_hides_none_and_what_is_asked_again_is_paid_again() {
    let place = Place::new();
    let asks_twice = "import asyncio\nq = await llm_query('quick')\nt = asyncio.create_task(llm_query('slow'))\n\
                      await asyncio.sleep(4)\nFINAL(await ask('go on?') + q)";
    let parked = asks(&place, &[asks_twice]).run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    assert_eq!(logged(&place), (2 * EACH, false));
    assert_eq!(viewed(&place), (2 * EACH, false));
    let answer = Program::new(place.path())
        .arg("answer")
        .arg(place.session_dir())
        .arg("yes ");
    assert_eq!(answer.answer(), "yes here");
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
    recorded(&place, 2 * EACH, false);
    assert_eq!(
        costs_in_log(&place.session_dir())
            .iter()
            .filter(|cost| cost.is_null())
            .count(),
        2
    );
}

#[test]
fn a_question_about_a_delegation_that_is_given_up_is_unknown_too() {
    let place = Place::new();
    let replies = [reply(&gives_up("llm_query(context)"), 0)];
    let script = json!({
        "rules": [{"when": {"depth": 0, "turn": 1}, "replies": [reply("YES", 300)]}],
        "replies": replies,
    });
    let script = script::write(place.path(), "guard.json", &script);
    let program = Program::asks(place.path(), &"all of it ".repeat(600)).scripted(&script);
    let ran = program.session(&place.session_dir()).arg("--json").run();
    assert_eq!(ran.json()["final"], "gone");
    billed(&place, &ran, EACH, 1);
}

/// A query of this step, whose delegations pass.
fn guarded(place: &Place, step: &str) -> Program {
    let passes = json!({"text": "YES", "usage": {"prompt": 100, "completion": 10, "cost": 0.01}});
    let rules = json!([
        {"when": {"depth": 0, "last": "YES"}, "replies": [passes]},
        {"when": {"depth": 1}, "replies": [reply("FINAL('here')", 0)]},
    ]);
    let script = json!({"rules": rules, "replies": [reply(step, 0), reply("FINAL('next')", 0)]});
    let script = script::write(place.path(), "guarded.json", &script);
    let program = Program::asks(place.path(), &"all of it ".repeat(600)).scripted(&script);
    program.session(&place.session_dir()).arg("--json")
}

#[test]
fn a_question_about_a_delegation_counts_when_its_step_goes_on_later() {
    let place = Place::new();
    let step = "a = await llm_query(context)\nb = await ask('go on?')\nFINAL([a, b])";
    assert_eq!(guarded(&place, step).run().code, Some(75));
    let answer = Program::new(place.path())
        .arg("answer")
        .arg(place.session_dir())
        .arg("yes");
    assert_eq!(answer.run().code, Some(0));
    recorded(&place, 3 * EACH, true);
}

/// The transcripts' lines of the root's first step.
fn first_steps(place: &Place) -> Vec<Value> {
    let lines = transcripts(place).into_iter().flat_map(|path| lines(&path));
    lines.filter(|line| line["step"] == 1 && line["depth"] == 0).collect()
}

#[test]
fn a_line_that_a_crash_left_out_has_the_steps_own_call_and_its_questions() {
    // The commit of the step's end is found by trying.
    for commit in 1.. {
        let place = Place::new();
        let step = "a = await llm_query(context)";
        let killed = guarded(&place, step).env("FAST_RLM_FAULT", format!("events.commit:{commit}"));
        assert_ne!(killed.run().code, Some(0), "no commit left the line out");
        let log = rusqlite::Connection::open(place.session_dir().join("events.db")).unwrap();
        let ended = "SELECT count(*) FROM event WHERE kind = 'step_ended'";
        let ended: i64 = log.query_row(ended, [], |row| row.get(0)).unwrap_or_default();
        if ended == 0 || !first_steps(&place).is_empty() {
            continue;
        }
        drop(log);
        assert_eq!(guarded(&place, "FINAL('again')").run().code, Some(0));
        let all = first_steps(&place);
        let line = all
            .iter()
            .find(|line| line["code"].as_str().unwrap().trim() == step)
            .unwrap();
        let both = (&line["usage"]["cost"], &line["guard"]["cost"]);
        assert_eq!(both, (&json!(0.01), &json!(0.01)), "{line}");
        return;
    }
}

/// A session whose process was killed while one sub-agent had ended, one had made a step, and one waited for its first
/// reply.
fn killed(place: &Place) {
    let batch = "await batch_llm_query(llm_query('quick'), llm_query('twice'), llm_query('slow'))";
    let mut child = asks(place, &[batch]).start();
    let stepped = |path: &PathBuf| lines(path).iter().any(|line| line["code"] == "x = 1");
    wait_for(&mut child, || transcripts(place).iter().any(stepped));
    std::thread::sleep(Duration::from_secs(3));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
}

#[test]
fn what_sub_agents_used_whose_process_was_killed_is_in_every_figure() {
    let place = Place::new();
    killed(&place);
    assert_eq!(asks(&place, &["FINAL('next')"]).run().code, Some(0));
    assert_eq!(viewed(&place), (4 * EACH, false));
    assert_eq!(logged(&place), (4 * EACH, false));
    let cut = transcripts(&place).into_iter().flat_map(|path| lines(&path));
    let cut = cut.filter(|line| line["outcome"] == "interrupted" && line["depth"] == 1);
    assert_eq!(cut.count(), 2);
    // Once is enough.
    let before = logged(&place);
    assert_eq!(asks(&place, &["FINAL('next')"]).run().code, Some(0));
    assert_eq!(logged(&place), (before.0 + EACH, false));
}

#[test]
fn what_sub_agents_used_whose_process_was_killed_counts_to_the_limits_of_who_goes_on() {
    let place = Place::new();
    killed(&place);
    let resume = || Program::new(place.path()).arg("resume").arg(place.session_dir());
    let stopped = resume().option("--max-money-spent", "0.03").run();
    stopped.refused(3, &["max_money_spent"]);
    assert_eq!(logged(&place), (3 * EACH, false), "no call was made");
}
