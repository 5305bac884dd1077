//! No process of a server outlives the run, however that ends; a call that is given up leaves nothing behind.

use crate::running::{Program, script, signal};
use crate::{is_alive, piped, program, servers, until};
use serde_json::json;
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

/// A query whose server writes its id and then does not read any more.
fn deaf_query(dir: &Path) -> Program {
    deaf(dir, Program::asks(dir, "go"))
}

fn deaf(dir: &Path, query: Program) -> Program {
    let config = json!({"mcpServers": {"test": {"command": "python3", "args": [program()],
        "env": {"MCP_TEST_PID": dir.join("pid"), "MCP_TEST_DEAF": "1"}}}});
    std::fs::write(dir.join("mcp.json"), config.to_string()).unwrap();
    let code = "await mcp_call('test', 'echo', {'text': 'x'})\nawait mcp_call('test', 'echo')";
    let script = script::steps(dir, "steps.json", &[code]);
    query.scripted(&script).option("--mcp", "mcp.json")
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_gets_nothing_that_was_left_open() {
    let dir = tempfile::tempdir().unwrap();
    let open = ["sh", "-c", "exec 3<mcp.json; exec \"$0\" \"$@\""];
    let mut query = deaf(dir.path(), Program::started_by(dir.path(), &open).arg("go")).start();
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
