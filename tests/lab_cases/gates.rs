//! Who may call what: approvers that ask and remember, and tools that appear when something was observed.

use crate::desk::{Counter, builder, scripted};
use async_trait::async_trait;
use fast_rlm::observe::{Observation, SignalMatch, ToolGroup};
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::{AskPerson, NoSink, Person, Question, Tool};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says "always" to the first tool it is asked about, and no to every other.
#[derive(Default)]
struct Trusting(AtomicUsize);

#[async_trait]
impl Person for Trusting {
    async fn ask(&self, _question: &Question) -> Option<String> {
        let first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
        Some(if first { "always" } else { "no" }.into())
    }
}

/// A tool that finds things, and lets others appear.
#[derive(Debug)]
struct Finder;

#[async_trait]
impl Tool for Finder {
    fn describe(&self) -> HostTool {
        HostTool {
            name: "find".into(),
            ..Counter::default().describe()
        }
    }

    async fn call(&self, _args: &[Value], _kwargs: &Value) -> Result<Value, HostError> {
        Ok("a wreck".into())
    }

    fn observations(&self, result: &Value) -> Vec<Observation> {
        let wreck = result.as_str().is_some_and(|text| text.contains("wreck"));
        wreck.then(|| Observation::signal("wreck")).into_iter().collect()
    }
}

#[tokio::test]
async fn a_person_is_asked_about_each_tool_once_where_they_say_always() {
    let dir = tempfile::tempdir().unwrap();
    let person = Arc::new(Trusting::default());
    let counter = Counter::default();
    let steps = [
        "a = tool(1)\nb = tool(2)\ntry:\n    find(1)\nexcept PermissionError as e:\n    c = str(e)",
        "FINAL(c)",
    ];
    let client = builder(dir.path())
        .tool(counter.clone())
        .tool(Finder)
        .approver(AskPerson::new(person.clone()));
    let client = client.build(scripted(&steps)).unwrap();
    assert_eq!(client.run("go").await.unwrap().text(), "a person refused find");
    assert_eq!((counter.count(), person.0.load(Ordering::SeqCst)), (2, 2));
    let report = client.session().unwrap().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful() && person.0.load(Ordering::SeqCst) == 2, "{report:#?}");
}

#[tokio::test]
async fn a_group_of_tools_appears_with_its_signal_and_stays_for_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let group = || ToolGroup::new("diving", &["tool"], SignalMatch::named("wreck"));
    let build = |steps: &[&str]| {
        let builder = builder(dir.path())
            .tool(Counter::default())
            .tool(Finder)
            .groups([group()]);
        builder.build(scripted(steps)).unwrap()
    };
    let hidden = "try:\n    tool(1)\nexcept RuntimeError as e:\n    early = str(e)";
    let client = build(&[hidden, "find(1)", "late = tool(2)", "FINAL([early, late['x']])"]);
    let output = client.run("go").await.unwrap();
    assert_eq!(output.value, json!(["tool is not available yet", 2]));
    let session = client.session().unwrap();
    let history = session.history().unwrap();
    assert!(!history[0].text.contains("tool(x)") && history[0].text.contains("find(x)"));
    assert!(
        history[4].text.contains("New tools") && history[4].text.contains("tool(x)"),
        "{}",
        history[4].text
    );
    let report = session.replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
    drop(client);
    let again = build(&["FINAL(tool(3)['x'])"]).open_session(&session.id()).unwrap();
    assert_eq!(again.send("on").await.unwrap().value, json!(3));
}

#[tokio::test]
async fn what_nests_too_deep_ends_no_query() {
    let dir = tempfile::tempdir().unwrap();
    let tools = "def deep():\n    x = 1\n    for _ in range(300): x = [x]\n    return x\ndef takes(x): return 7\n";
    let config = fast_rlm::Config::new("m").tool_source("t.py", tools);
    let steps = [
        "x = deep()\nn = takes(x)\ntry:\n    await llm_query({'a': x})\nexcept ValueError as e:\n    n += 1",
        "FINAL(n)",
    ];
    let client = builder(dir.path()).config(config).build(scripted(&steps)).unwrap();
    assert_eq!(client.run("go").await.unwrap().value, json!(8));
}
