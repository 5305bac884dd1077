//! `cargo run --example what_if`: a recorded session again under exactly one change, with the rest of the world as it was
//! recorded, on one session and on several. A script plays the model, so this needs no key.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Client, WhatIfSpec};
use serde_json::json;
use std::sync::Arc;

/// A mood that a sub-agent names, and what is made of it.
const MODEL: &str = r#"
rules:
  - when: {depth: 1}
    replies: [{code: FINAL("cheerful")}]
  - when: {}
    replies:
      - code: mood = await llm_query(context)
      - code: FINAL("sail" if mood == "cheerful" else "stay")
"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Arc::new(Scripted::from_yaml(MODEL, &Settings::default())?);
    let client = Client::builder().model("demo").build(model)?;
    let mut ids = Vec::new();
    for day in ["Monday's letter", "Tuesday's letter"] {
        let session = client.create_session()?;
        println!("{day}: {}", session.send(day).await?.text());
        ids.push(session.id());
    }

    let gloomy = WhatIfSpec::new().substitute("llm_query", json!("gloomy"));
    for (id, ran) in client.what_if_over(&ids, &gloomy).await {
        let ran = ran?;
        assert!(ran.hermetic(), "nobody was asked");
        let answer = ran
            .output()
            .map(|output| output.text().into_owned())
            .unwrap_or_default();
        assert_eq!(answer, "stay");
        println!("{id}, gloomy: {answer}; {}; {}", ran.diff().verdict(), ran.cost());
    }
    Ok(())
}
