//! The scripted chat server that lies beside the foreign sessions: a real HTTP server, its replies chosen from the
//! conversation.

use super::session;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running server; it ends with this value.
pub(crate) struct Server {
    child: Child,
    port: u16,
    requests: PathBuf,
}

impl Server {
    /// Starts the server in `tool`; `instant` leaves out the delays of its scripts. Requests are kept in `dir`.
    pub(crate) fn start(tool: &Path, dir: &Path, instant: bool) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let requests = dir.join("requests.jsonl");
        let mut command = Command::new("python3");
        command
            .arg(tool.join("scripted_server.py"))
            .arg("--full")
            .args(instant.then_some("--instant"));
        command
            .args(["--port", &port.to_string()])
            .arg("--requests")
            .arg(&requests);
        // The tool's directory may be read-only, and is not ours.
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("python3: {e}"));
        let ready = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .next()
            .unwrap()
            .unwrap();
        assert!(ready.starts_with("listening"), "{ready}");
        Self { child, port, requests }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// What it was asked so far, in the order of its answers.
    pub(crate) fn requests(&self) -> Vec<Value> {
        if self.requests.exists() {
            session::lines(&self.requests)
        } else {
            Vec::new()
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the server's program lies; says so and gives `None` where there is none.
pub(crate) fn tool() -> Option<PathBuf> {
    use std::io::Write;
    let tool = super::foreign_sessions()?.parent()?.join("tools/scripted_server");
    if tool.join("scripted_server.py").is_file() {
        return Some(tool);
    }
    let _ = writeln!(std::io::stderr(), "skipped: there is no {}", tool.display());
    None
}
