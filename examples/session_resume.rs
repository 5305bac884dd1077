//! `cargo run --example session_resume`: a follow-up query uses what an earlier one built, offline. A script plays the
//! model, so this needs no key.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Config, Session};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// What the model replies to each of the two queries. The second one never sees the log again: `keepers` is still there.
/// Its rule comes first, because a follow-up's first message tells of the earlier query too.
const MODEL: &str = r#"
rules:
  - when: {first: "What did Ada see"}
    replies:
      - code: FINAL(entries_of("Ada"))
  - when: {first: "Index this log"}
    replies:
      - code: |
          def entries_of(name):
              return keepers[name]

          keepers = {}  # who was on duty -> what they noted
          for line in context.splitlines()[1:]:
              keepers.setdefault(line.split(": ")[0], []).append(line.split(": ")[1])
          commit("keepers", note="one list a keeper, in the order of the log")
          FINAL(sorted(keepers))
"#;

const LOG: &str = "Index this log.\nAda: fog from four\nBo: lens cleaned\nAda: two sails in the north";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs = tempfile::tempdir()?;
    build(runs.path())?;
    // Nothing is held between queries: this could be another process, next week.
    follow_up(runs.path())
}

fn open(runs: &Path) -> Result<Session, Box<dyn std::error::Error>> {
    let model = Scripted::from_yaml(MODEL, &Settings::default())?;
    let config = Config::default().provider(Arc::new(model));
    Ok(Session::open(runs, "lighthouse")?.config(config))
}

fn build(runs: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let output = open(runs)?.query(LOG)?;
    assert_eq!(output.value, json!(["Ada", "Bo"]));
    println!("keepers: {}", output.value);
    Ok(())
}

fn follow_up(runs: &Path) -> Result<(), Box<dyn std::error::Error>> {
    // Looking needs no Python and no model.
    let session = Session::open(runs, "lighthouse")?;
    for (name, variable) in session.variables()? {
        let note = variable.note.unwrap_or_default();
        println!("{name}: {} = {} ({note})", variable.type_name, variable.preview);
    }
    for name in session.functions()?.keys() {
        println!("{name}(…)");
    }

    let output = open(runs)?.query("What did Ada see?")?;
    assert_eq!(output.value, json!(["fog from four", "two sails in the north"]));
    println!("Ada: {}", output.value);
    println!("{} queries so far", session.queries()?.len());
    Ok(())
}
