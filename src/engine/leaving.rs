//! The MCP servers of a query that has ended, on their way out: no answer waits for a server that takes its time.

use crate::mcp::Servers;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Servers that end in the background, within two seconds, on the runtime that ran their query. Whoever is about to end
/// that runtime or the process waits for [`Leaving::done`] first; else those that are left are killed.
#[derive(Debug)]
pub struct Leaving(JoinHandle<()>);

impl Leaving {
    /// Begins to end them; `at_once` where a person has cancelled.
    pub(super) fn begin(servers: Arc<Servers>, at_once: bool) -> Self {
        Self(tokio::spawn(async move {
            if at_once {
                servers.kill().await;
            } else {
                servers.close().await;
            }
        }))
    }

    /// Waits until none of their processes is left.
    pub async fn done(self) {
        // It is aborted only with the runtime, which kills them.
        let _ = self.0.await;
    }
}
