//! Tools: functions of a file given to the run, and functions of the host.

use crate::desk::Desk;
use fast_rlm::repl::{HostTool, InstanceState, StartOptions, ToolInfo, ToolModule};
use serde_json::json;

const FILE: &str = r#"
import re
FACTOR = 2
_calls = []

def double(x, *, by=FACTOR):
    """Doubles a number."""
    _calls.append(x)
    return x * by

async def slow(text: str) -> str:
    """Takes its time.

    Really."""
    return text.upper()

def fails(): raise ValueError("no such row")
def returns_set(): return {1, 2}
def denied(): return "never"
def recorded(): return "not from the record"
def _private(): pass
class Thing: pass
"#;

fn module(source: &str, only: Option<&[&str]>) -> ToolModule {
    let only = only.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    ToolModule {
        file: "tools.py".into(),
        source: source.into(),
        only,
    }
}

async fn desk(tools: Vec<ToolModule>) -> (Desk, crate::desk::Report) {
    Desk::start(StartOptions {
        tools,
        ..StartOptions::default()
    })
    .await
}

#[tokio::test]
async fn public_functions_of_the_file_are_listed_without_their_source() {
    let (_, report) = desk(vec![module(FILE, None)]).await;
    assert_eq!(report.tool_errors, []);
    let names: Vec<_> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["double", "slow", "fails", "returns_set", "denied", "recorded"]);
    assert_eq!(
        report.tools[0],
        ToolInfo {
            name: "double".into(),
            signature: "(x, *, by=2)".into(),
            doc: Some("Doubles a number.".into()),
            is_async: false
        }
    );
    assert_eq!(report.tools[1].doc.as_deref(), Some("Takes its time.\n\nReally."));
    assert!(report.tools[1].is_async);
}

#[tokio::test]
async fn each_call_passes_the_host_before_and_after() {
    let (mut desk, _) = desk(vec![module(FILE, None)]).await;
    assert_eq!(
        desk.print("print(double(21), double(2, by=5), await slow('a'), returns_set())")
            .await,
        "42 10 A {1, 2}\n"
    );
    let calls = desk.host.calls.lock().unwrap().clone();
    let names: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["tool_begin", "tool_end"].repeat(4));
    assert_eq!(calls[0].args, json!({ "name": "double", "args": [21], "kwargs": {} }));
    assert_eq!(calls[1].args["value"], json!(42));
    assert_eq!(calls[2].args["kwargs"], json!({ "by": 5 }));
    assert_eq!(calls[7].args["value"], json!([1, 2]));
    assert!(calls[7].args["pickle"].is_string(), "the exact value, for replays");
    let failed = desk.run("fails()").await;
    assert!(failed.text().contains("ValueError: no such row"), "{}", failed.text());
    assert!(!failed.text().contains("<rlm"), "{}", failed.text());
    assert_eq!(
        desk.host.last().args["error"],
        json!({ "type": "ValueError", "message": "no such row" })
    );
}

#[tokio::test]
async fn the_host_can_refuse_a_call_or_serve_it_from_a_record() {
    let (mut desk, _) = desk(vec![module(FILE, None)]).await;
    assert_eq!(
        desk.print("try:\n    denied()\nexcept PermissionError as e:\n    print(e)")
            .await,
        "denied by the approver\n"
    );
    assert_eq!(desk.print("print(recorded())").await, "from the record\n");
}

#[tokio::test]
async fn tools_are_handed_over_by_name_and_are_no_memory() {
    let (mut desk, report) = desk(vec![module(FILE, Some(&["double", "absent"]))]).await;
    assert_eq!(report.tools.len(), 1);
    assert_eq!(
        report.tool_errors,
        [("tools.py".to_owned(), "it defines no function 'absent'".to_owned())]
    );
    assert!(desk.run("slow").await.failed());
    desk.print("double = 5\nx = 1").await;
    assert!(
        desk.run("print(double(2))").await.output.text.ends_with("4\n"),
        "put back"
    );
    let swept = desk.repl.sweep().await.unwrap();
    assert_eq!(
        swept.variables.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(),
        ["x", "double_saved"]
    );
    assert!(swept.functions.is_empty());
}

#[tokio::test]
async fn a_bad_tool_file_is_reported_and_the_repl_starts() {
    for (source, reason) in [
        ("def broken(:", "SyntaxError"),
        ("1/0", "ZeroDivisionError"),
        ("def FINAL(): pass", "is taken"),
        ("def print(): pass", "is taken"),
        ("raise SystemExit", "SystemExit"),
    ] {
        let (mut desk, report) = desk(vec![module(source, None)]).await;
        assert!(
            report.tool_errors[0].1.contains(reason),
            "{source}: {:?}",
            report.tool_errors
        );
        assert_eq!(desk.print("print(1)").await, "1\n");
    }
}

#[tokio::test]
async fn tools_of_the_host_are_called_there() {
    let tool = |name: &str, is_async| HostTool {
        name: name.into(),
        signature: "(city)".into(),
        doc: "The weather.".into(),
        is_async,
    };
    let host_tools = vec![tool("weather", false), tool("forecast", true)];
    let (mut desk, report) = Desk::start(StartOptions {
        host_tools,
        ..StartOptions::default()
    })
    .await;
    assert_eq!(report.tools[0].signature, "(city)");
    assert_eq!(
        desk.print("print(weather('Oslo')['args'][0], (await forecast(city='Rome'))['kwargs']['city'])")
            .await,
        "Oslo Rome\n"
    );
}

#[tokio::test]
async fn a_blocking_tool_call_that_is_cancelled_keeps_the_state() {
    let host_tools = vec![HostTool {
        name: "nap".into(),
        signature: "()".into(),
        doc: String::new(),
        is_async: false,
    }];
    let (mut desk, _) = Desk::start(StartOptions {
        host_tools,
        ..StartOptions::default()
    })
    .await;
    let canceller = desk.repl.canceller();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        canceller.cancel();
    });
    let outcome = desk.run("x = 1\nimport time\ntime.sleep(60)").await;
    assert_eq!(outcome.instance, InstanceState::Alive, "{}", outcome.text());
    assert_eq!(desk.print("print(x, nap()['name'])").await, "1 nap\n");
}
