//! MCP servers as their client: programs spoken to over pipes, and servers spoken to over HTTP, both with the messages
//! of the Model Context Protocol. What calls of them become in a run (a gate, a cell, a Python value) is the engine's.
//!
//! The client is our own, over tokio's processes and the HTTP client that models are reached with: the protocol's client
//! side is one handshake and six requests. The crate `rmcp` 3.11 was measured against it (client, child process,
//! streamable HTTP over the same reqwest): 29 s of compiling without optimisation for itself and 40 s with the dozen
//! crates that it adds, a second sha2 and chrono among them; and it reads lines of any length into memory, which a server
//! is not to be trusted with.
//!
//! Every server is hostile until shown otherwise: messages, lists and standard error are bounded, each request has a
//! time limit, requests of the server's own (sampling, elicitation) are refused, and its processes end as a group.

mod connection;
mod credentials;
mod declared;
mod error;
mod http;
mod process;
mod servers;
mod spec;
mod stdio;
mod wire;

pub use declared::{SpecError, load, read};
pub use error::McpError;
pub use servers::{Counts, Listed, Servers};
pub use spec::{ServerSpec, Transport};
