//! `kill -9` at any instant of a query loses no completed step: the session opens again, its files are whole, and
//! everything that was told, or committed to its log, is there exactly once.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

mod running;

use fast_rlm::store::{Fact, Kind, Select, Store};
use running::session::{self, Session, check_state, check_transcript, output};
use running::{Program, Ran, script};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const QUERY: &str = "Take six steps.";
const STEPS: u64 = 6;

/// The script of a query of six steps, one of them with sub-agents, and of the query that is asked afterwards.
fn script_in(dir: &Path) -> PathBuf {
    let steps = [
        "s1 = 'one'\nprint(s1)",
        "s2 = list(range(20_000))\nprint(len(s2))",
        "s3 = await batch_llm_query(llm_query('a'), llm_query('b'))\nprint(s3)",
        "def s4():\n    return s1\nprint(s4())",
        "s1 = s1 + ' more'\ns5 = {'set': {1, 2}}\nprint(s5)\n1 / 0",
        "s6 = len(s3)\nFINAL({'steps': s6})",
    ];
    let look = "print('names', sorted(n for n in list(globals()) if n[0] == 's' and n[1:].isdigit()))\nprint('s1 is', globals().get('s1'))";
    let rules = [
        script::rule(
            json!({"depth": 0, "first": {"regex": "Output:\ncontext: [^\n]*\nTake six"}}),
            &steps,
        ),
        script::rule(json!({"depth": 0}), &[look, "FINAL('looked')"]),
        script::rule(json!({"depth": 1}), &["FINAL(context.upper())"]),
    ];
    script::write(dir, "six.json", &json!({"defaults": {"delay": 0.01}, "rules": rules}))
}

fn asks(dir: &Path, prompt: &str) -> Program {
    Program::asks(dir, prompt)
        .scripted(&script_in(dir))
        .session(&dir.join("session"))
        .option("--verbosity", "full")
}

/// Steps of the log that ended, by their number from 1, with their turn's run.
struct Logged {
    run_id: String,
    ended: Vec<u64>,
    has_final: bool,
}

fn logged(dir: &Path) -> Option<Logged> {
    let session = dir.join("session");
    if !session.exists() {
        return None;
    }
    let store = Store::open_read_only(&session).unwrap();
    let session = store.events.latest_session().unwrap()?;
    let kinds = [Kind::TurnStarted, Kind::StepEnded, Kind::Final];
    let events = store
        .events
        .read_all(&session.id, &Select::turn(0).only(&kinds))
        .unwrap()
        .events;
    let mut found = Logged {
        run_id: String::new(),
        ended: Vec::new(),
        has_final: false,
    };
    for event in events {
        match event.fact {
            Fact::TurnStarted(started) => found.run_id = started.run_id,
            Fact::StepEnded(_) => found.ended.push(u64::from(event.step.unwrap()) + 1),
            Fact::Final(_) => found.has_final = true,
            _ => {}
        }
    }
    (!found.run_id.is_empty()).then_some(found)
}

/// The steps that were told on stderr.
fn told(ran: &Ran) -> Vec<u64> {
    let number = |line: &str| {
        line.strip_prefix("✓ step ")
            .or(line.strip_prefix("✗ step "))?
            .split(' ')
            .next()?
            .parse()
            .ok()
    };
    ran.err.lines().filter_map(number).collect()
}

/// Opens the session again and holds everything against what its log had when the process died.
fn check(dir: &Path, killed: &Ran) -> u64 {
    let session = Session::at(&dir.join("session"));
    if session.dir.join("state.json").exists() {
        check_state(&session.state());
    }
    let logged = logged(dir);
    let ended = logged.as_ref().map(|logged| logged.ended.clone()).unwrap_or_default();
    assert_eq!(ended, (1..=ended.len() as u64).collect::<Vec<_>>());
    assert!(
        told(killed).iter().all(|step| ended.contains(step)),
        "told {:?} of {ended:?}",
        told(killed)
    );

    let looked = asks(dir, "Which names are there?").run();
    assert_eq!((looked.code, looked.out.as_str()), (Some(0), "looked\n"), "{looked:?}");
    let state = session.state();
    check_state(&state);
    if let Some(logged) = &logged {
        check_steps(&session, &state, logged);
        check_ledger(&state, logged);
    }
    check_names(&session.last_transcript(), ended.len());
    check_log(dir);
    ended.len() as u64
}

/// Each completed step is in the code log and in the transcript, once; a step in flight is in neither.
fn check_steps(session: &Session, state: &Value, logged: &Logged) {
    let rows = state["code_log"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["run_id"] == json!(logged.run_id));
    let kept: Vec<u64> = rows.map(|row| row["step"].as_u64().unwrap()).collect();
    assert_eq!(kept, logged.ended, "in the code log");
    let lines = transcript_of(session, &logged.run_id);
    let steps = session::steps(&lines, true);
    let mut recorded: Vec<u64> = steps
        .iter()
        .map(|line| line["step"].as_u64().unwrap())
        .filter(|step| *step > 0)
        .collect();
    recorded.sort_unstable();
    assert_eq!(recorded, logged.ended, "in the transcript");
    let finals = lines
        .iter()
        .filter(|line| line["event_type"] == json!("final_result") && line["depth"] == json!(0));
    assert_eq!(finals.count(), usize::from(logged.has_final));
}

fn transcript_of(session: &Session, run_id: &str) -> Vec<Value> {
    let logs = std::fs::read_dir(session.dir.join("logs"))
        .unwrap()
        .map(|entry| session::lines(&entry.unwrap().path()));
    let lines = logs
        .into_iter()
        .find(|lines| lines.iter().any(|line| line["run_id"] == json!(run_id)))
        .unwrap_or_default();
    check_transcript(&lines);
    lines
}

/// The killed query has its FINAL, or is listed as interrupted; both never.
fn check_ledger(state: &Value, logged: &Logged) {
    let finals: Vec<&str> = state["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["query"].as_str().unwrap())
        .collect();
    let cut = state
        .get("interrupted")
        .map_or(0, |rows| rows.as_array().unwrap().len());
    if logged.has_final {
        assert_eq!((finals, cut), (vec![QUERY, "Which names are there?"], 0));
        assert_eq!(state["queries"][0]["final"], json!({"steps": 2}));
    } else {
        assert_eq!((finals, cut), (vec!["Which names are there?"], 1));
        assert_eq!(state["interrupted"][0]["query"], json!(QUERY));
    }
    assert_eq!(state["pending_query"], Value::Null);
}

/// The names are those of the last completed step, no more and no less.
fn check_names(lines: &[Value], completed: usize) {
    let said = output(lines, 1);
    let listed = said.split("s1 is").next().unwrap();
    for name in 1..=STEPS as usize {
        assert_eq!(
            listed.contains(&format!("\"s{name}\"")),
            name <= completed,
            "s{name} after {completed} steps: {said}"
        );
    }
    let s1 = ["None", "one", "one", "one", "one", "one more", "one more"][completed];
    assert!(said.contains(&format!("s1 is {s1}\n")), "{said}");
}

/// The log's turns follow one another and each has its end.
fn check_log(dir: &Path) {
    let store = Store::open_read_only(&dir.join("session")).unwrap();
    let session = store.events.latest_session().unwrap().unwrap();
    let page = store.events.read_all(&session.id, &Select::all()).unwrap();
    assert_eq!(page.skipped, []);
    let of = |kind: Kind| {
        page.events
            .iter()
            .filter(|event| event.fact.kind() == kind)
            .map(|event| event.turn.unwrap())
            .collect::<Vec<_>>()
    };
    let turns = of(Kind::TurnStarted);
    assert_eq!(turns, (0..turns.len() as u32).collect::<Vec<_>>());
    assert_eq!(of(Kind::TurnEnded), turns);
}

/// Waits for the instant, then kills; a process that was faster is done.
fn kill_after(mut child: Child, delay: Duration) -> Ran {
    std::thread::sleep(delay);
    child.kill().unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

/// How long the query takes when nobody kills it.
fn whole_run() -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let ran = asks(dir.path(), QUERY).run();
    assert_eq!((ran.code, told(&ran).len() as u64), (Some(0), STEPS), "{ran:?}");
    let took = started.elapsed();
    assert_eq!(check(dir.path(), &ran), STEPS);
    took
}

/// Does something for each number on a few threads; the number is told when it fails.
fn for_each(numbers: impl Iterator<Item = u64> + Send, work: impl Fn(u64) + Sync) {
    let numbers = Mutex::new(numbers);
    let next = || numbers.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(number) = next() {
                    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(number)));
                    assert!(done.is_ok(), "number {number}");
                }
            });
        }
    });
}

/// Kills at instants that are spread over the whole run by a fixed sequence of fractions.
fn kill_at_many_instants(kills: u64) {
    let whole = whole_run();
    let cut = AtomicU64::new(0);
    for_each(0..kills, |number| {
        let dir = tempfile::tempdir().unwrap();
        // The fractional parts of the golden ratio's multiples: never in step with anything.
        let fraction = (number as f64 * 0.618_033_988_749_895).fract();
        let killed = kill_after(asks(dir.path(), QUERY).start(), whole.mul_f64(fraction));
        let completed = check(dir.path(), &killed);
        cut.fetch_add(u64::from(completed > 0 && completed < STEPS), Ordering::Relaxed);
    });
    assert!(cut.into_inner() > 0, "none of {kills} kills hit a step");
}

#[test]
fn killed_at_any_instant() {
    kill_at_many_instants(50);
}

#[test]
#[ignore = "1,000 kills take minutes"]
fn killed_at_a_thousand_instants() {
    kill_at_many_instants(1_000);
}

/// Dies at the N-th write, fsync, rename or commit; `false` when there are fewer.
fn die_at(point: u64) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let ran = asks(dir.path(), QUERY)
        .env("FAST_RLM_FAULT", format!("*:{point}"))
        .run();
    check(dir.path(), &ran);
    ran.code.is_none()
}

#[test]
fn killed_after_a_write() {
    // A step passes some dozen points: a stride that is prime to it meets each kind.
    for_each((1..100).step_by(7), |point| {
        die_at(point);
    });
}

#[test]
#[ignore = "every point takes minutes"]
fn killed_after_every_write() {
    let last = AtomicU64::new(0);
    for_each(1..400, |point| {
        if die_at(point) {
            last.fetch_max(point, Ordering::Relaxed);
        }
    });
    let last = last.into_inner();
    assert!(last > 10 * STEPS && last < 399, "the last point is {last}");
}

/// The N-th write, fsync, rename or commit fails: the query ends with an error that says where and why, what was
/// completed stays, and the next query works. `false` when there are fewer.
fn fail_at(point: u64, cause: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let fault = format!("*:{point}={cause}");
    let ran = asks(dir.path(), QUERY).env("FAST_RLM_FAULT", fault).run();
    if ran.code != Some(0) {
        ran.refused(1, &["injected", "session"]);
    }
    check(dir.path(), &ran);
    ran.code == Some(1)
}

#[test]
fn a_write_that_fails_is_told_and_the_next_query_works() {
    let causes = ["full", "readonly", "denied", "gone"];
    let failed = AtomicU64::new(0);
    for_each((1..100).step_by(7), |point| {
        let cause = causes[(point / 7 % 4) as usize];
        failed.fetch_add(u64::from(fail_at(point, cause)), Ordering::Relaxed);
    });
    assert!(failed.into_inner() > 5, "most of the points are on the way of a query");
}
