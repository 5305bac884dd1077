//! The root's own call that is cut with its process: it was sent, and may be billed. Every figure says so, at once and after
//! the query went on.

use super::Place;
use super::given_up::{EACH, logged, recorded, reply, rule, transcripts, viewed};
use super::stopping::wait_for;
use crate::running::session::lines;
use crate::running::{Program, script, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What the model replies; the second reply takes this many seconds.
fn model(place: &Place, name: &str, last: &str, delay: u64) -> PathBuf {
    let replies = [reply("x = 1", 0), reply("y = 2", delay), reply(last, 0)];
    script::write(place.path(), name, &json!({"rules": [rule(0, "the prompt", &replies)]}))
}

/// A session whose process was killed in the second call of its root.
fn killed(place: &Place) {
    let slow = model(place, "slow.json", "FINAL(y)", 300);
    let asks = Program::asks(place.path(), "the prompt").scripted(&slow);
    let mut child = asks.session(&place.session_dir()).start();
    let stepped = |path: &PathBuf| lines(path).iter().any(|line: &Value| line["code"] == "x = 1");
    wait_for(&mut child, || transcripts(place).iter().any(stepped));
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
}

fn resumed(place: &Place, last: &str) -> Program {
    let fast = model(place, "fast.json", last, 0);
    let resume = Program::new(place.path()).arg("resume").arg(place.session_dir());
    resume.scripted(&fast).arg("--json")
}

#[test]
fn it_is_unknown_as_soon_as_anybody_looks_and_when_the_query_has_gone_on() {
    let place = Place::new();
    killed(&place);
    assert_eq!(viewed(&place), (EACH, false), "nobody has written anything down");
    let ran = resumed(&place, "FINAL(y)").run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    recorded(&place, 3 * EACH, false);
}

#[test]
fn it_stays_so_where_the_query_waits_and_is_answered() {
    let place = Place::new();
    killed(&place);
    let parked = resumed(&place, "FINAL(await ask('why?'))").run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    assert_eq!(viewed(&place), (3 * EACH, false));
    let answer = Program::new(place.path()).arg("answer").arg(place.session_dir());
    let ran = answer
        .arg("because")
        .scripted(&model(&place, "fast.json", "", 0))
        .arg("--json")
        .run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    recorded(&place, 3 * EACH, false);
}

#[test]
fn it_stays_so_where_another_query_is_asked() {
    let place = Place::new();
    killed(&place);
    let next = script::write(
        place.path(),
        "next.json",
        &json!({"replies": [reply("FINAL('next')", 0)]}),
    );
    let asks = Program::asks(place.path(), "another").scripted(&next);
    assert_eq!(asks.session(&place.session_dir()).run().code, Some(0));
    assert_eq!(viewed(&place), (2 * EACH, false));
    assert_eq!(logged(&place), (2 * EACH, false));
}

#[test]
fn what_a_question_cost_stays_when_it_is_dropped() {
    for first in ["x = 1", "await ask('before?')"] {
        let place = Place::new();
        let replies = [reply(first, 0), reply("FINAL(await ask('why?'))", 0)];
        let script = json!({"rules": [rule(0, "the prompt", &replies)]});
        let script = script::write(place.path(), "asks.json", &script);
        let asks = Program::asks(place.path(), "the prompt").scripted(&script);
        assert_eq!(asks.session(&place.session_dir()).run().code, Some(75));
        let before = viewed(&place);
        let drop = Program::new(place.path()).arg("answer").arg(place.session_dir());
        let dropped = drop.arg("--drop").run();
        assert_eq!(dropped.code, Some(0), "{dropped:?}");
        let calls = if first == "x = 1" { 2 } else { 1 };
        assert_eq!(before, (calls * EACH, true), "{first}");
        recorded(&place, calls * EACH, true);
    }
}
