//! Ask, watch it stream, look inside while it runs, and read the answer.

use crate::desk::{Desk, ask, quit};
use serde_json::json;

#[test]
fn an_answer_lands_as_the_next_query() {
    let desk = Desk::new();
    let mut pty = desk.scripted(&crate::desk::replies(&["x = 6 * 7", "FINAL(f'the answer is {x}')"]));
    pty.wait_for("first answer");
    ask(&mut pty, "what is six times seven?");
    pty.wait_for("Q2");
    pty.wait_for("the answer is 42");
    pty.wait_for("answered in");
    let state = desk.state();
    assert_eq!(state["queries"][1]["final"], json!("the answer is 42"));
    assert_eq!(state["pending_query"], json!(null));
    quit(pty);
}

#[test]
fn what_streams_is_seen_and_looked_into_while_it_runs() {
    let desk = Desk::new();
    let script = json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "print('the helper looks')\nFINAL('found it')", "delay": "4s"}]},
        {"when": {"depth": 0}, "replies": [
            {"say": "First I look around in the lighthouse.", "code": "print('printed so far')\nfound = await llm_query('look under the stairs', instruction='Look.')\nprint(found)",
             "stream": {"chars": 4, "every": "60ms"}},
            {"code": "FINAL('done: ' + found)", "delay": "1s"},
        ]},
    ]});
    let mut pty = desk.scripted(&script);
    ask(&mut pty, "where is it?");
    pty.wait_for("P running");
    pty.wait_for("the model writes");
    pty.wait_for("First I look around");
    // Out of the box, and into the run that goes on.
    pty.send("\x1b");
    pty.wait_for("a ask");
    pty.send("\r");
    pty.wait_for("printed so far");
    pty.wait_for("look under the");
    pty.send("t");
    pty.wait_for("2 agents");
    pty.send("\x1b");
    pty.wait_for("done: found it");
    // Said until the next key: it is looked for before one is pressed.
    pty.wait_for("answered in");
    pty.send("\x1b");
    pty.wait_for("Q2");
    quit(pty);
    assert_eq!(desk.state()["queries"][1]["final"], json!("done: found it"));
}

#[test]
fn resizing_all_the_time_loses_nothing() {
    let desk = Desk::new();
    let script = json!({"rules": [{"when": {"depth": 0}, "replies": [
        {"code": "import time\nfor n in range(400):\n    print('line', n)\n    time.sleep(0.002)", "stream": {"chars": 8, "every": "10ms"}},
        {"code": "FINAL('through the storm')", "delay": "300ms"},
    ]}]});
    let mut pty = desk.scripted(&script);
    ask(&mut pty, "go on");
    for round in 0..60u16 {
        pty.resize(1 + (round * 7) % 40, 1 + (round * 13) % 130);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    pty.resize(30, 100);
    pty.wait_for("through the storm");
    pty.wait_for("Q2");
    quit(pty);
}
