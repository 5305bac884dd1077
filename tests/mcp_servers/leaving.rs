//! No process of a server outlives the run, however that ends; a call that is given up leaves nothing behind.

use crate::running::{Program, script, signal};
use crate::{is_alive, piped, program, servers, until};
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

async fn child_of(servers: &fast_rlm::mcp::Servers) -> String {
    let pid = servers
        .call("test", "child", json!({}).as_object().unwrap())
        .await
        .unwrap();
    let pid = pid.as_str().unwrap().to_owned();
    assert!(is_alive(&pid));
    pid
}

#[tokio::test]
async fn closing_ends_what_the_server_started_too() {
    let servers = servers(piped());
    let pid = child_of(&servers).await;
    servers.close().await;
    until("its child is gone", || !is_alive(&pid));
}

#[tokio::test]
async fn dropping_does_as_well() {
    let servers = servers(piped());
    let pid = child_of(&servers).await;
    drop(servers);
    until("its child is gone", || !is_alive(&pid));
}

const TWO_CALLS: &str = "await mcp_call('test', 'echo', {'text': 'x'})\nawait mcp_call('test', 'echo')";

/// A query whose server writes its id and then does not read any more.
fn deaf_query(dir: &Path) -> Program {
    deaf(dir, Program::asks(dir, "go"), TWO_CALLS)
}

fn deaf(dir: &Path, query: Program, code: &str) -> Program {
    let config = json!({"mcpServers": {"test": {"command": "python3", "args": [program()],
        "env": {"MCP_TEST_PID": dir.join("pid"), "MCP_TEST_DEAF": "1"}}}});
    std::fs::write(dir.join("mcp.json"), config.to_string()).unwrap();
    let script = script::steps(dir, "steps.json", &[code]);
    query.scripted(&script).option("--mcp", "mcp.json")
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_gets_nothing_that_was_left_open() {
    let dir = tempfile::tempdir().unwrap();
    let open = ["sh", "-c", "exec 3<mcp.json; exec \"$0\" \"$@\""];
    let mut query = deaf(dir.path(), Program::started_by(dir.path(), &open).arg("go"), TWO_CALLS).start();
    until("the server is there", || is_alive(&pid(dir.path())));
    let files = std::fs::read_dir(format!("/proc/{}/fd", pid(dir.path()))).unwrap();
    let files: Vec<_> = files
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
        .collect();
    signal(&query, rustix::process::Signal::KILL);
    query.wait().unwrap();
    assert!(files.len() >= 3, "{files:?}");
    assert!(!files.iter().any(|file| file.ends_with("mcp.json")), "{files:?}");
}

/// Runs a query that is answered while its server goes on; whether the server was there when the answer was.
fn answered_first(dir: &Path) -> bool {
    let query = deaf(
        dir,
        Program::asks(dir, "go"),
        "await mcp_call('test', 'echo', {'text': 'x'})\nFINAL('done')",
    );
    let mut query = query.start();
    let mut line = String::new();
    BufReader::new(query.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let was_there = is_alive(&pid(dir));
    assert_eq!(line, "done\n");
    assert!(query.wait().unwrap().success());
    assert!(!is_alive(&pid(dir)), "the program ends after its servers");
    assert!(
        dir.join("pid.asked").exists(),
        "it was asked to end before it was killed"
    );
    was_there
}

#[test]
fn an_answer_does_not_wait_for_a_server_that_does_not_end() {
    // A machine that is busy enough takes a second from the answer to the look.
    assert!((0..3).any(|_| answered_first(tempfile::tempdir().unwrap().path())));
}

#[test]
fn nor_does_somebody_who_cancels() {
    let dir = tempfile::tempdir().unwrap();
    let mut query = deaf_query(dir.path()).start();
    until("the server is there", || is_alive(&pid(dir.path())));
    until("it is called", || dir.path().join("pid.called").exists());
    signal(&query, rustix::process::Signal::INT);
    assert_eq!(query.wait().unwrap().code(), Some(130));
    assert!(!is_alive(&pid(dir.path())));
    assert!(!dir.path().join("pid.asked").exists(), "it is killed at once");
}

fn pid(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("pid")).unwrap_or_default()
}

#[test]
fn a_query_that_is_killed_leaves_no_server() {
    for kill in [rustix::process::Signal::KILL, rustix::process::Signal::INT] {
        let dir = tempfile::tempdir().unwrap();
        let mut query = deaf_query(dir.path()).start();
        until("the server is there", || is_alive(&pid(dir.path())));
        // The second call is in flight, and the server does not read to the end of its input.
        std::thread::sleep(std::time::Duration::from_millis(300));
        signal(&query, kill);
        query.wait().unwrap();
        until(&format!("the server is gone after {kill:?}"), || {
            !is_alive(&pid(dir.path()))
        });
    }
}
