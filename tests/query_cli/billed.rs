//! Calls that are billed though they gave no step: what they used is in every figure, or every figure says that it is not
//! known.

use super::Place;
use super::stopping::wait_for;
use crate::running::{Program, Ran, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

const USED: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Let me\"}}],\"usage\":{\"prompt_tokens\":5000,\"completion_tokens\":900,\"cost\":0.07}}\n\n";
const SILENT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Let me\"}}]}\n\n";

/// What becomes of a connection after a reply's beginning.
#[derive(Clone, Copy)]
enum After {
    Closed,
    Open,
}

/// A whole reply, for a cent.
fn whole(code: &str) -> String {
    let content = format!("```repl\n{code}\n```");
    let text = json!({"choices": [{"delta": {"content": content}}]});
    let end = json!({
        "choices": [{"delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.01},
    });
    format!("data: {text}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

/// A server that answers its first call wholly, with this code, and of all others gives only the beginning.
fn server(code: &'static str, beginning: &'static str, after: After) -> String {
    let reply = move |number| match number {
        0 => (whole(code), whole(code).len()),
        _ => (beginning.to_owned(), 1_000_000),
    };
    serving(reply, after)
}

/// A server that answers each call with this body of this length.
fn serving(reply: impl Fn(usize) -> (String, usize) + Send + 'static, after: After) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            read_request(&stream);
            let (body, length) = reply(number);
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            if let After::Open = after {
                held.push(stream);
            }
        }
    });
    address
}

/// Reads a request whole: its first line, and its body.
pub(super) fn read_request(stream: &TcpStream) -> (String, Vec<u8>) {
    let (mut reader, mut first, mut length) = (BufReader::new(stream), String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (first, body)
}

fn asks(place: &Place, address: &str) -> Program {
    let program = Program::asks(place.path(), "the prompt").option("--primary-agent", "a-model");
    let program = program
        .env("RLM_MODEL_BASE_URL", address)
        .env("RLM_MODEL_API_KEY", "key-of-a-test");
    program.session(&place.session_dir())
}

/// The viewer's own sums of the one run that there is.
fn seen(place: &Place) -> Value {
    let printed = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .arg(place.session_dir())
        .args(["--json", "--no-cache"])
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&printed.stdout).unwrap();
    told["totals"]["without_final"].clone()
}

fn read_back(place: &Place) -> Vec<fast_rlm::observe::ModelCost> {
    let session = fast_rlm::Session::open(place.session_dir(), None).unwrap();
    session.cost(&fast_rlm::PricingTable::builtin()).unwrap()
}

/// What the query said that it cost, and what the viewer says: nano-dollars, and calls of which nobody knows the cost.
#[track_caller]
fn costs(place: &Place, ran: &Ran, nano: u64, unknown: u64) {
    let (told, seen) = (&ran.json()["usage"], seen(place));
    let wanted = (&json!(nano), &json!(unknown));
    assert_eq!((&told["cost_nano_usd"], &told["calls_without_cost"]), wanted, "{ran:?}");
    assert_eq!((&seen["cost_nano_usd"], &seen["steps_without_cost"]), wanted, "{seen}");
}

#[test]
fn what_a_call_used_that_broke_off_is_in_every_figure() {
    let place = Place::new();
    let ran = asks(&place, &server("x = 1", USED, After::Closed)).arg("--json").run();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    costs(&place, &ran, 80_000_000, 0);
    assert_eq!(seen(&place)["tokens"]["total"], json!(6_010));
    let [cost] = &read_back(&place)[..] else { panic!() };
    assert_eq!((cost.calls, cost.nano, cost.usage.prompt), (2, Some(80_000_000), 5_100));
}

#[test]
fn a_call_that_broke_off_without_a_word_about_its_cost_is_unknown_and_never_free() {
    let place = Place::new();
    let ran = asks(&place, &server("x = 1", SILENT, After::Closed))
        .arg("--json")
        .run();
    costs(&place, &ran, 10_000_000, 1);
    let [cost] = &read_back(&place)[..] else { panic!() };
    assert_eq!((cost.calls, cost.nano), (2, None));
}

#[test]
fn of_an_attempt_with_a_cost_and_one_without_the_known_part_is_told() {
    const ONLY_USAGE: &str =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":0,\"cost\":0.03}}\n\n";
    let place = Place::new();
    let reply = |number| match number {
        0 => (ONLY_USAGE.to_owned(), 1_000_000),
        _ => {
            let priceless = whole("FINAL('done')")
                .replace(",\"cost\":0.01", "")
                .replace("\"cost\":0.01,", "");
            assert!(!priceless.contains("cost"));
            (priceless.clone(), priceless.len())
        }
    };
    let ran = asks(&place, &serving(reply, After::Closed)).arg("--json").run();
    let told = ran.json();
    assert_eq!(
        (&told["final"], &told["usage"]["cost_nano_usd"]),
        (&json!("done"), &json!(30_000_000))
    );
    assert_eq!(told["usage"]["calls_without_cost"], 1, "{told}");
    let viewer = |args: &[&str]| {
        let mut viewer = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        let printed = viewer
            .arg(place.session_dir())
            .args(args)
            .arg("--no-cache")
            .output()
            .unwrap();
        String::from_utf8(printed.stdout).unwrap()
    };
    let seen: Value = serde_json::from_str(&viewer(&["--json"])).unwrap();
    let sum = &seen["totals"]["completed"];
    assert_eq!(
        (&sum["cost_nano_usd"], &sum["steps_without_cost"]),
        (&json!(30_000_000), &json!(1))
    );
    let step = seen["queries"][0]["run"]["tree"][0]["steps"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(
        (&step["cost_nano_usd"], &step["cost_at_least_nano_usd"]),
        (&Value::Null, &json!(30_000_000))
    );
    let facts = viewer(&["--stats"]);
    assert!(facts.contains("$0.03 + 1 unknown"), "{facts}");
    // Programs that know nothing of parts read the cost as unknown.
    let transcript = std::fs::read_to_string(place.session().dir.join(told["log_file"].as_str().unwrap())).unwrap();
    assert!(
        transcript.contains(r#""cost_at_least":0.03"#) && !transcript.contains(r#""cost":"#),
        "{transcript}"
    );
    assert_eq!(recorded_costs(&place).last(), Some(&json!({"at_least": 30_000_000})));
}

/// What the log has for the cost of each of the root's calls.
fn recorded_costs(place: &Place) -> Vec<Value> {
    let log = rusqlite::Connection::open(place.session_dir().join("events.db")).unwrap();
    let costs = "SELECT payload -> '$.cost' FROM event WHERE kind = 'model_call' ORDER BY global_seq";
    let mut costs = log.prepare(costs).unwrap();
    let rows = costs.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|cost| serde_json::from_str(&cost.unwrap()).unwrap()).collect()
}

#[test]
fn so_is_one_that_was_cancelled_and_the_session_goes_on() {
    let place = Place::new();
    let mut child = asks(&place, &server("x = 1", SILENT, After::Open))
        .arg("--json")
        .start();
    let state = place.session_dir().join("state.json");
    wait_for(&mut child, || super::stopping::has(&state, "x = 1"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(&child, Signal::INT);
    let ran = Ran::from(child.wait_with_output().unwrap());
    costs(&place, &ran, 10_000_000, 1);
    let next = place.steps(&["FINAL(x)"]).session(&place.session_dir());
    assert_eq!(next.run().answer(), "1");
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

/// Each call to a sub-agent that fails is caught: the run goes on, and its own next call breaks off, too.
const TWICE: &str = "for _ in range(2):\n    try:\n        await llm_query(context)\n    except Exception as error:\n        print('caught')";

#[test]
fn calls_of_sub_agents_that_broke_off_count_each() {
    let place = Place::new();
    let ran = asks(&place, &server(TWICE, USED, After::Closed)).arg("--json").run();
    costs(&place, &ran, 220_000_000, 0);
    let [cost] = &read_back(&place)[..] else { panic!() };
    assert_eq!((cost.calls, cost.nano), (4, Some(220_000_000)));
}

#[test]
fn so_do_questions_about_a_delegation() {
    let place = Place::new();
    let program = Program::asks(place.path(), &"all of it ".repeat(600)).option("--primary-agent", "a-model");
    let program = program.env("RLM_MODEL_BASE_URL", server(TWICE, USED, After::Closed));
    let program = program
        .env("RLM_MODEL_API_KEY", "key-of-a-test")
        .session(&place.session_dir());
    costs(&place, &program.arg("--json").run(), 220_000_000, 0);
    let [cost] = &read_back(&place)[..] else { panic!() };
    assert_eq!((cost.calls, cost.nano), (4, Some(220_000_000)));
}

#[test]
fn a_call_that_nobody_answered_costs_nothing() {
    let place = Place::new();
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    std::fs::write(place.path().join("rlm_config.yaml"), "api_max_retries: 0\n").unwrap();
    let ran = asks(&place, &format!("http://{nobody}/v1")).arg("--json").run();
    costs(&place, &ran, 0, 0);
}
