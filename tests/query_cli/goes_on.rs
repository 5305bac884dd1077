//! Recorded queries that go on (`answer`, `fork`, `what-if`, `resume`) are run, shown and stopped as new ones are; a replay
//! is stopped at once.

use super::Place;
use super::stopping::{has, wait_for};
use crate::running::{Program, Ran, script, session, signal, unchanged::files};
use fast_rlm::store::{Fact, NewEvent, NewSession, Select, SessionWriter};
use rustix::process::Signal;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Child;

impl Place {
    fn runs(&self) -> PathBuf {
        self.path().join("runs")
    }

    /// A query in the session `one` under `runs`, of these steps.
    fn one(&self, codes: &[&str]) -> Program {
        self.steps(codes).session(&self.runs()).option("--session-id", "one")
    }

    /// A command on the session `one`, with a model that does one step at once, and takes a minute for the next.
    fn slowly(&self, args: &[&str]) -> Program {
        let replies = json!([{"code": "first = 'of the branch'"}, {"code": "FINAL(1)", "delay": 60}]);
        let script = script::write(self.path(), "slow.json", &json!({"replies": replies}));
        self.lab(args).scripted(&script)
    }

    fn lab(&self, args: &[&str]) -> Program {
        let program = Program::new(self.path()).arg(args[0]).arg("one");
        let program = program.option("--dir", self.runs());
        args[1..].iter().fold(program, |program, arg| program.arg(arg))
    }

    /// The state.json in which the slow model's first step is.
    fn reached(&self, child: &mut Child) -> PathBuf {
        let find = || {
            let sessions = std::fs::read_dir(self.runs()).unwrap();
            let states = sessions.map(|entry| entry.unwrap().path().join("state.json"));
            states.into_iter().find(|state| has(state, "of the branch"))
        };
        wait_for(child, || find().is_some());
        find().unwrap()
    }
}

#[test]
fn a_parked_step_runs_again_with_the_tools_and_variables_that_it_had() {
    let place = Place::new();
    place.file("tools.py", "def double(x):\n    return 2 * x\n");
    let step = "import os\nday = await ask('Which day?')\nFINAL([double(21), day, len(os.environ['PLAN'])])";
    let given = |program: Program| {
        let program = program.option("--tools", "tools.py");
        program.option("--env", "PLAN=secret-plan").arg("--json")
    };
    let asked = given(place.steps(&["kept = 1", step]).session(&place.session_dir())).run();
    assert_eq!(asked.code, Some(75), "{asked:?}");
    let answer = || {
        Program::new(place.path())
            .arg("answer")
            .arg(place.session_dir())
            .arg("monday")
    };
    let answered = given(answer()).run();
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let told = answered.json();
    assert_eq!(
        (&told["outcome"], &told["final"]),
        (&json!("done"), &json!([42, "monday", 11]))
    );
    assert!(!format!("{answered:?}").contains("secret-plan"));
}

#[test]
fn sub_agents_that_had_the_roots_model_have_it_again_whatever_is_configured() {
    let place = Place::new();
    let step = "day = await ask('Which day?')\nFINAL(day)";
    let script = script::steps(place.path(), "steps.json", &[step]);
    let same = format!("scripted:{}", script.display());
    let asked = Program::asks(place.path(), "the prompt").scripted(&script);
    let asked = asked.option("--sub-agent", &same).session(&place.session_dir()).run();
    assert_eq!(asked.code, Some(75), "{asked:?}");
    place.file("fast-rlm.toml", "sub_agent = \"scripted:not-there.json\"\n");
    let answer = Program::new(place.path()).arg("answer").arg(place.session_dir());
    assert_eq!(answer.arg("monday").answer().trim(), "monday");
}

#[test]
fn limits_of_an_answer_stop_the_query_that_goes_on() {
    let place = Place::new();
    let asked = place
        .steps(&["day = await ask('Which day?')"])
        .session(&place.session_dir())
        .run();
    assert_eq!(asked.code, Some(75), "{asked:?}");
    let answer = Program::new(place.path())
        .arg("answer")
        .arg(place.session_dir())
        .arg("monday");
    let more = script::steps(place.path(), "more.json", &["x = 1", "y = 2", "FINAL(day)"]);
    let stopped = answer.scripted(&more).option("--max-calls", "2").arg("--json").run();
    stopped.refused(3, &["max_calls_per_subagent"]);
    assert_eq!(stopped.json()["outcome"], json!("limit"));
}

#[test]
fn of_questions_asked_at_once_each_gets_its_own_answer() {
    let place = Place::new();
    let step = "import asyncio\nboth = await asyncio.gather(ask('Delete everything?', ['yes', 'no']), ask('Your name?'))\n\
                FINAL(both)";
    let first = place.steps(&[step]).session(&place.session_dir()).run();
    let (mut ran, mut asked) = (first, Vec::new());
    while ran.code == Some(75) {
        let deletes = ran.err.contains("Delete everything?");
        assert_ne!(deletes, ran.err.contains("Your name?"), "one at a time: {ran:?}");
        asked.push(deletes);
        let waits = place.steps(&["0"]).session(&place.session_dir()).run();
        assert_eq!(
            waits.err.contains("Delete everything?"),
            deletes,
            "the one that was shown waits: {waits:?}"
        );
        let answer = if deletes { "no" } else { "Ada" };
        ran = Program::new(place.path())
            .arg("answer")
            .arg(place.session_dir())
            .arg(answer)
            .arg("--json")
            .run();
    }
    asked.sort_unstable();
    assert_eq!(asked, [false, true], "{ran:?}");
    assert_eq!(ran.json()["final"], json!(["no", "Ada"]));
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

#[test]
fn what_a_query_spent_before_it_waited_counts_to_its_limits() {
    for (option, limit, cost, stops) in [
        ("--max-money-spent", "0.2", 0.1, "$0.20 allowed, $0.20 spent"),
        ("--max-global-calls", "2", 0.01, "max_global_calls"),
    ] {
        let place = Place::new();
        let reply = |code: &str| json!({"code": code, "usage": {"prompt": 1000, "completion": 10, "cost": cost}});
        let replies = ["a = await ask('one')", "b = await ask('two')", "FINAL(1)"].map(reply);
        let script = script::write(place.path(), "asks.json", &json!({"rules": [{"replies": replies}]}));
        let asks = Program::new(place.path())
            .arg("go")
            .scripted(&script)
            .session(&place.session_dir());
        assert_eq!(asks.option(option, limit).run().code, Some(75));
        let answer = || {
            let answer = Program::new(place.path()).arg("answer").arg(place.session_dir());
            answer.arg("x").option(option, limit).run()
        };
        assert_eq!(answer().code, Some(75), "the second call was still allowed");
        answer().refused(3, &[stops]);
    }
}

#[test]
fn what_a_branch_took_over_counts_to_none_of_its_limits() {
    let place = Place::new();
    let reply = |code: &str| json!({"code": code, "usage": {"prompt": 1000, "completion": 10, "cost": 0.1}});
    let script = |name: &str, codes: &[&str]| {
        let replies: Vec<_> = codes.iter().map(|code| reply(code)).collect();
        script::write(place.path(), name, &json!({"rules": [{"replies": replies}]}))
    };
    let asks = Program::new(place.path()).arg("go").session(&place.runs());
    let asks = asks
        .option("--session-id", "one")
        .scripted(&script("own.json", &["x = 1", "FINAL(x)"]));
    assert_eq!(asks.option("--max-money-spent", "1").run().code, Some(0));
    // By the turn of the conversation: the first one is the parent's.
    let waits = script("branch.json", &["0", "y = await ask('which?')", "FINAL(y)"]);
    let forked = place.lab(&["fork", "--at", "2", "--replan", "Ask."]).scripted(&waits);
    let forked = forked.option("--max-money-spent", "0.15").run();
    assert_eq!(forked.code, Some(75), "{forked:?}");
    let branch = place.runs().join(forked.out.lines().next().unwrap());
    let answer = Program::new(place.path()).arg("answer").arg(branch).arg("this");
    assert_eq!(
        answer
            .scripted(&waits)
            .option("--max-money-spent", "0.15")
            .answer()
            .trim(),
        "this"
    );
}

#[test]
fn steps_are_shown_where_that_is_wanted_and_never_in_pipes() {
    let place = Place::new();
    place.one(&["x = 1", "y = x", "FINAL(y)"]).answer();
    let steps = script::steps(place.path(), "more.json", &["z = 'shown'", "FINAL(z)"]);
    for args in [
        &["fork", "--at", "2", "--replan", "Go on."][..],
        &["what-if", "--instruction", "Shorter."],
    ] {
        let quiet = place.lab(args).scripted(&steps).arg("-q").run();
        let piped = place.lab(args).scripted(&steps).run();
        let shown = place.lab(args).scripted(&steps).option("--verbosity", "full").run();
        for ran in [&quiet, &piped, &shown] {
            assert_eq!((ran.code, ran.out.lines().last()), (Some(0), Some("shown")), "{ran:?}");
        }
        assert!(
            !quiet.err.contains("step 1") && !piped.err.contains("step 1"),
            "{piped:?}"
        );
        assert!(
            shown.err.contains("✓ step") && shown.err.contains("z = 'shown'"),
            "{shown:?}"
        );
        assert!(shown.err.contains("tokens"), "what it took: {shown:?}");
    }
}

#[test]
fn ctrl_c_cancels_a_branch_and_tells_what_is_kept() {
    for (args, told) in [
        (&["fork", "--at", "2", "--replan", "Go on."][..], "fork s_"),
        (&["what-if", "--instruction", "Shorter.", "--live"], "session s_"),
    ] {
        let place = Place::new();
        place.one(&["x = 1", "FINAL(x)"]).answer();
        let mut child = place.slowly(args).start();
        let state = place.reached(&mut child);
        signal(&child, Signal::INT);
        Ran::from(child.wait_with_output().unwrap()).refused(130, &[told, "cancelled"]);
        let state = session::read_json(&state);
        assert_eq!(state["pending_query"], json!(null), "{args:?}");
        assert_eq!(state["interrupted"][0]["outcome"], json!("cancelled"), "{args:?}");
        let listed = Program::new(place.path())
            .arg("sessions")
            .arg(place.runs())
            .arg("--json")
            .run()
            .json();
        let rows = listed.as_array().unwrap();
        assert!(
            rows.len() == 2 && rows.iter().all(|row| row["interrupted"] == json!(false)),
            "{listed:#}"
        );
        assert_eq!(place.lab(&["replay"]).run().code, Some(0), "the original is as it was");
    }
}

#[test]
fn ctrl_c_cancels_a_query_that_is_finished() {
    let place = Place::new();
    let cut = place
        .one(&["x = 1", "y = 2", "FINAL(y)"])
        .env("FAST_RLM_FAULT", "flow.write:4");
    assert_eq!(cut.run().code, None, "it was killed");
    let mut child = place.slowly(&["resume"]).start();
    let state = place.reached(&mut child);
    signal(&child, Signal::INT);
    Ran::from(child.wait_with_output().unwrap()).refused(130, &["cancelled"]);
    let state = session::read_json(&state);
    assert_eq!(state["interrupted"][0]["outcome"], json!("cancelled"), "{state:#}");
    assert!(place.lab(&["resume"]).run().err.contains("nothing to resume"));
}

#[test]
fn a_query_that_ended_before_state_json_said_so_is_told_as_what_it_is() {
    // state.json is written at the beginning, after each step, and at the end of what has no FINAL; the log knows before.
    for (last, fault, told) in [
        ("FINAL(x)", "atomic.create:3", "was answered"),
        ("y = 2", "atomic.create:4", "was stopped by max_calls_per_subagent"),
    ] {
        let place = Place::new();
        let asked = place.one(&["x = 1", last]).option("--max-calls", "2");
        assert_eq!(asked.env("FAST_RLM_FAULT", fault).run().code, None, "it was killed");
        let read = || session::read_json(&place.runs().join("one/state.json"));
        assert_eq!(read()["pending_query"], json!("the prompt"), "{told}");
        let refused = place.lab(&["resume"]).run();
        refused.refused(2, &[told, "state.json did not have its end yet, and has it now"]);
        assert_eq!(read()["pending_query"], json!(null));
        let again = place.lab(&["resume"]).run();
        assert!(again.err.contains(told) && !again.err.contains("yet"), "{again:?}");
    }
}

/// The session `one` with a step that never ends in the place of its second, as the session `loops`.
fn looping(place: &Place) {
    let store = fast_rlm::Storage::dir(place.runs()).open().unwrap();
    let copy = store.events.create_session(&NewSession::named("loops", 9)).unwrap();
    let events = store.events.read_all("one", &Select::all()).unwrap().events;
    let changed = events.into_iter().map(|event| {
        let mut event = NewEvent::from(event);
        if let Fact::StepStarted(started) = &mut event.fact
            && started.code.starts_with("y =")
        {
            started.code = "while True:\n    pass".into();
        }
        event
    });
    let writer = SessionWriter::take_over(&store, &copy.id).unwrap();
    writer.append(changed.collect()).unwrap();
}

#[test]
fn ctrl_c_ends_a_replay_at_once_and_leaves_nothing_behind() {
    for repl in ["sandbox", "python3"] {
        let place = Place::new();
        place
            .one(&["x = 1", "y = 2", "FINAL(y)"])
            .option("--repl", repl)
            .answer();
        looping(&place);
        let temporary = place.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let before = files(&place.runs());
        let replay = Program::new(place.path())
            .arg("replay")
            .arg("loops")
            .option("--dir", "runs");
        let mut child = replay.option("--repl", repl).env("TMPDIR", &temporary).start();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        assert!(line.contains("Q1 step 1"), "{line}");
        signal(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{repl}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{repl}");
        assert_eq!(files(&place.runs()), before, "{repl}");
    }
}
