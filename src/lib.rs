//! Recursive language models (RLMs) in one process: resumable sessions, their transcripts and memory, and the
//! terminal program that shows and drives them.
//!
//! An RLM never puts a long input into the model's prompt. The model gets a Python REPL that holds the input as
//! `context`, writes code to explore it, calls sub-agents whose answers come back as Python values, and ends with
//! `FINAL(value)`. A *session* keeps the root REPL's variables, functions and notes between queries.
//!
//! The programs `fast-rlm` and `fast-rlm-log` are thin layers over this library. The page below teaches it in five
//! minutes; its first example runs offline. The rooms further down are ordered: a room uses only those named before it.
#![cfg_attr(feature = "engine", doc = "")]
#![cfg_attr(feature = "engine", doc = include_str!("../docs/library.md"))]
// Tests may slice what they know.
#![cfg_attr(test, allow(clippy::string_slice, clippy::single_range_in_vec_init))]

#[cfg(all(feature = "engine", not(unix)))]
compile_error!("the engine needs a Unix system; the viewer alone is built with --no-default-features");

pub mod text;

pub mod model;

pub mod disk;

pub mod store;

pub mod source;

#[cfg(feature = "engine")]
pub mod provider;

#[cfg(feature = "engine")]
pub mod mcp;

#[cfg(feature = "engine")]
pub mod repl;

#[cfg(feature = "engine")]
pub mod engine;

#[cfg(feature = "engine")]
pub mod lab;

#[cfg(feature = "engine")]
pub mod client;

#[cfg(feature = "engine")]
pub mod observe;

pub mod tui;

pub mod cli;

#[cfg(feature = "engine")]
pub use client::{
    Client, ClientBuilder, Config, Error, FailedRun, Fork, Output, PastQuery, RunOptions, Session, TurnStream,
    Variable, WhatIf, WhatIfRun, WhatIfSpec, remove_on_signals, run, warm_up,
};
#[cfg(feature = "engine")]
pub use engine::{AllowAll, Approver, AskPerson, Decision, DenyAll, GateCall, Tool};
#[cfg(feature = "engine")]
pub use engine::{Input, Person, Question, RunError, RunEvent, Watch, What};
#[cfg(feature = "engine")]
pub use lab::{AgentSink, DiffRow, LabError, LabEvent, NamespaceFrom, NoSink, OffTape, ReplayReport, RunDiff};
#[cfg(feature = "engine")]
pub use mcp::ServerSpec;
#[cfg(feature = "engine")]
pub use provider::{PricingTable, Provider};
#[cfg(feature = "engine")]
pub use repl::Backend;
#[cfg(feature = "engine")]
pub use store::Storage;
