//! MCP servers are called from the REPL, by the agents they were handed to and no others; what they do badly ends in an
//! exception that quotes them; their processes and credentials go nowhere.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../running/mod.rs"]
mod running;

mod hostile;
mod in_the_repl;
mod leaving;
mod speaking;

use fast_rlm::mcp::{ServerSpec, Servers};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The server's program.
fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp_servers/server.py")
}

/// A server over pipes, with short patience.
fn piped() -> ServerSpec {
    let spec = ServerSpec::stdio("test", "python3", &[program().to_str().unwrap()]);
    spec.within(Duration::from_secs(20), Duration::from_secs(20))
}

fn servers(spec: ServerSpec) -> Servers {
    Servers::new(&[spec])
}

/// A server on a port; it ends with this value.
struct Served {
    child: Child,
    url: String,
    _dir: tempfile::TempDir,
}

impl Served {
    fn start(env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("url");
        let mut command = Command::new("python3");
        command.arg(program()).arg("http").arg(&file).envs(env.iter().copied());
        let child = command.stdin(Stdio::piped()).spawn().unwrap();
        until("the server listens", || file.exists());
        Self {
            child,
            url: std::fs::read_to_string(file).unwrap(),
            _dir: dir,
        }
    }

    fn spec(&self) -> ServerSpec {
        let spec = ServerSpec::http("test", &self.url);
        spec.within(Duration::from_secs(20), Duration::from_secs(20))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something that will come.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is there, and is no zombie.
fn is_alive(pid: &str) -> bool {
    let Ok(pid) = pid.parse::<u32>() else { return false };
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}
