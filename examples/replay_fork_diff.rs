//! `cargo run --example replay_fork_diff`: a recorded session is replayed without anybody being asked, forked at a step
//! with another value, and compared with its fork. A script plays the model, so this needs no key.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Client, LabEvent, NoSink, Storage};
use serde_json::json;
use std::sync::Arc;

/// Two readings from sub-agents, and their sum.
const MODEL: &str = r#"
rules:
  - when: {depth: 1, first: "north"}
    replies: [{code: FINAL(12)}]
  - when: {depth: 1, first: "south"}
    replies: [{code: FINAL(30)}]
replies:
  - code: north = await llm_query("Count the ships in the north.")
  - code: south = await llm_query("Count the ships in the south.")
  - code: FINAL(north + south)
"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs = tempfile::tempdir()?;
    let model = Arc::new(Scripted::from_yaml(MODEL, &Settings::default())?);
    let client = Client::builder()
        .model("demo")
        .storage(Storage::dir(runs.path()))
        .build(model)?;
    let output = client.run("How many ships are there?").await?;
    println!("recorded: {}", output.value);

    // Every call is served from the record: no model is asked, and it costs nothing.
    let session = client.session()?;
    let mut tick = |event: LabEvent| {
        if let LabEvent::StepReplayed {
            step, mismatch: None, ..
        } = event
        {
            println!("  ✓ step {}", step + 1);
        }
    };
    let report = session.replay(None, &mut tick).await?;
    assert!(report.faithful());
    println!(
        "replayed: {}/{} calls from the record",
        report.cells_consumed, report.cells_total
    );

    // What if the south had been empty? The second step is not run; the third runs again.
    let fork = session.fork(1).await?;
    let forked = fork.inject(&json!(0), &mut NoSink).await?;
    assert_eq!(forked.value, json!(12));
    println!("forked as {}: {}", fork.id(), forked.value);

    let diff = fork.diff(&session)?;
    assert!(!diff.identical);
    println!("{}", diff.verdict());
    Ok(())
}
