//! `cargo run --example ask_across_restart`: a query asks a person, its process ends, and another one answers; no call
//! that had finished is made again. A script plays the model, so this needs no key.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Client, Error, Storage};
use std::path::Path;
use std::sync::Arc;

/// A sub-agent finds a flight; a person decides.
const MODEL: &str = r#"
rules:
  - when: {depth: 1}
    replies: [{code: 'FINAL("the 7:40")'}]
replies:
  - code: |
      flight = await llm_query("Find the earliest flight.")
      sure = await ask("Book " + flight + "?", options=["yes", "no"])
      FINAL(flight + " is booked" if sure == "yes" else "nothing is booked")
"#;

fn client(state: &Path) -> Result<Client, Box<dyn std::error::Error>> {
    let model = Arc::new(Scripted::from_yaml(MODEL, &Settings::default())?);
    Ok(Client::builder()
        .model("demo")
        .storage(Storage::dir(state))
        .build(model)?)
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = tempfile::tempdir()?;
    // First process.
    let id = {
        let client = client(state.path())?;
        let output = client.run("Book the earliest flight you can find.").await?;
        let question = output.suspended.ok_or("it did not ask")?;
        println!("it asks: {question}");
        client.session_id()?
    };
    // Later process: same directory, same conversation.
    let session = client(state.path())?.open_session(&id)?;
    assert!(session.suspended()?);
    let refused: Result<_, Error> = session.send("perhaps").await;
    println!("not an answer: {}", refused.err().ok_or("it was taken")?);
    let output = session.send("yes").await?;
    assert_eq!(output.text(), "the 7:40 is booked");
    println!("{}", output.text());
    Ok(())
}
