//! `cargo run --example quick_start`: one query, offline. A script plays the model, so this needs no key; with a real
//! one, `Config::new("z-ai/glm-5")` is all that changes.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Config, RunOptions};
use serde_json::json;
use std::sync::Arc;

/// Two replies of the model: it looks at its input first, then it answers with what Python found.
const MODEL: &str = r#"
replies:
  - say: The input is a list of readings. I will look at its shape.
    code: |
      print(len(context), context[0])
  - say: Now the warmest day.
    code: |
      warmest = max(context, key=lambda reading: reading["celsius"])
      FINAL({"day": warmest["day"], "celsius": warmest["celsius"]})
"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Scripted::from_yaml(MODEL, &Settings::default())?;
    let config = Config::default()
        .provider(Arc::new(model))
        .instruction("Which day was the warmest?")
        .max_calls_per_subagent(5);

    // The model sees that there is a list, and reads it with code: it may be far longer than any prompt.
    let readings = json!([
        {"day": "Monday", "celsius": 17.5},
        {"day": "Tuesday", "celsius": 21.0},
        {"day": "Wednesday", "celsius": 19.2},
    ]);
    let output = fast_rlm::run(readings, RunOptions::new(config))?;

    assert_eq!(output.value, json!({"day": "Tuesday", "celsius": 21.0}));
    println!("{}", output.text());
    println!("{} steps, {}", output.steps, output.cost());
    Ok(())
}
