//! Servers as a model meets them: counts in the probe, functions in the REPL, grants by name, the gate, replay, secrets.

use crate::running::session::Session;
use crate::running::{Program, Ran, script};
use crate::{Served, piped, program};
use async_trait::async_trait;
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Approver, Client, Config, Decision, GateCall, NoSink, Storage};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

const TOKEN: &str = "tok-4711-\"quoted\"";

/// Writes a configuration of one server, and asks a query of steps with it.
fn query(dir: &Path, rules: &[Value]) -> Program {
    let config = json!({"mcpServers": {"test": {"command": "python3", "args": [program()], "env": {"API_TOKEN": "${THE_TOKEN}"}}}});
    std::fs::write(dir.join("mcp.json"), config.to_string()).unwrap();
    let script = script::write(dir, "rules.json", &json!({"rules": rules}));
    let query = Program::asks(dir, "the prompt")
        .scripted(&script)
        .env("THE_TOKEN", TOKEN);
    query
        .option("--mcp", "mcp.json")
        .session(&dir.join("session"))
        .arg("--json")
}

fn answer(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()["final"].clone()
}

const ROOT: &str = r#"
async def attempt(call):
    try:
        return await call
    except Exception as e:
        return f"{type(e).__name__}: {e}"
got = {
    "tools": [tool["name"] for tool in await mcp_list_tools()][:2],
    "schema": (await mcp_tool_schema("test", "add"))["inputSchema"]["type"],
    "sum": await mcp_call("test", "add", {"a": 2, "b": 3}),
    "named": await mcp_call(server="test", tool="echo", arguments={"text": "é"}),
    "resources": await mcp_list_resources("test"),
    "templates": len(await mcp_list_resource_templates()),
    "read": await mcp_read_resource("test", "note:one"),
    "failed": await attempt(mcp_call("test", "fail", {"path": "/x"})),
    "nowhere": await attempt(mcp_call("other", "echo")),
    "no tool": await attempt(mcp_tool_schema("test", "nope")),
    "wrong": await attempt(mcp_call("test", "echo", "text")),
}
"#;

#[test]
fn a_model_lists_calls_and_reads_and_gets_exceptions() {
    let dir = tempfile::tempdir().unwrap();
    let told = json!({"depth": 0, "first": ["MCP servers (1)", "test: 14 tools, 1 resources, 1 resource templates"]});
    let ran = query(dir.path(), &[script::rule(told, &[ROOT, "FINAL(got)"])]).run();
    let got = answer(&ran);
    assert_eq!(got["tools"], json!(["add", "ask"]));
    assert_eq!((&got["schema"], &got["sum"]), (&json!("object"), &json!({"sum": 5})));
    assert_eq!((&got["named"], &got["read"]), (&json!("é"), &json!("the first note")));
    assert_eq!(got["resources"][0]["server"], json!("test"));
    assert_eq!(got["templates"], json!(1));
    let said = |key: &str| got[key].as_str().unwrap().to_owned();
    assert!(
        said("failed").starts_with("RuntimeError") && said("failed").contains("the disk is full: /x"),
        "{got}"
    );
    assert!(
        said("nowhere").contains("yours are test") && said("no tool").contains("nope"),
        "{got}"
    );
    assert!(said("wrong").starts_with("TypeError"), "{got}");

    let replayed = Program::new(dir.path())
        .arg("replay")
        .arg("session")
        .arg("--json")
        .run()
        .json();
    assert_eq!(replayed["faithful"], json!(true), "{replayed}");
    assert_eq!(
        replayed["report"]["cells_total"],
        json!(11),
        "every call is a cell: {replayed}"
    );
}

/// As sessions of the Python package have them in their functions.
const EARLIER: &str = r#"
import asyncio, pickle
def refused(call):
    try:
        return call()
    except ValueError as e:
        return str(e)
listed = mcp_list_tools()
both = await asyncio.gather(mcp_list_tools("test"), mcp_list_resources())
try:
    mcp_list_resources("other")
except ValueError as e:
    nowhere = str(e)
got = {
    "tools": [tool["name"] for tool in listed][:2],
    "awaited": listed == await mcp_list_tools() == both[0],
    "kinds": [type(await listed).__name__, type(pickle.loads(pickle.dumps(listed))).__name__],
    "templates": len(mcp_list_resource_templates(server="test")),
    "resources": len(both[1]),
    "nowhere": nowhere,
    "sum": await mcp_call("test", "add", a=2, b=3),
    "schema": [mcp_tool_schema("test.add"), mcp_tool_schema(name="add"), await mcp_tool_schema("add")],
    "no tool": refused(lambda: mcp_tool_schema("test.nope")),
    "texts": await mcp_call("test", "texts"),
    "read": [await mcp_read_resource("note:one"), await mcp_read_resource("note:one", server="test")],
}
"#;

#[test]
fn the_forms_of_earlier_sessions_work_too_and_replay() {
    let dir = tempfile::tempdir().unwrap();
    let ran = query(dir.path(), &[script::rule(json!({}), &[EARLIER, "FINAL(got)"])]).run();
    let got = answer(&ran);
    assert_eq!(got["tools"], json!(["add", "ask"]));
    assert_eq!(
        (&got["awaited"], &got["kinds"]),
        (&json!(true), &json!(["list", "list"]))
    );
    assert_eq!((&got["templates"], &got["resources"]), (&json!(1), &json!(1)));
    assert!(got["nowhere"].as_str().unwrap().contains("yours are test"), "{got}");
    assert_eq!(got["sum"], json!({"sum": 5}));
    let schema = &got["schema"][0];
    assert_eq!(schema["type"], json!("object"));
    assert_eq!(got["schema"], json!([schema, schema, schema]));
    assert!(got["no tool"].as_str().unwrap().contains("'server.tool'"), "{got}");
    assert_eq!(got["texts"], json!("one\ntwo"));
    assert_eq!(got["read"], json!(["the first note", "the first note"]));
    let state = Session::at(&dir.path().join("session")).state();
    assert!(!state["dropped"].to_string().contains("listed"), "{state}");

    let replay = Program::new(dir.path()).arg("replay").arg("session").arg("--json");
    assert_eq!(replay.run().json()["faithful"], json!(true));
}

#[test]
fn sub_agents_get_the_servers_that_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = r#"
async def attempt(**given):
    try:
        return await llm_query("hi", **given)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
got = [await attempt(), await attempt(mcp=["test"]), await attempt(mcp=["nope"]), await attempt(mcp=[])]
"#;
    let child = "FINAL(await mcp_call('test', 'echo', {'text': 'child'}) if 'mcp_call' in globals() else 'no servers')";
    let rules = [
        script::rule(json!({"depth": 0}), &[root, "FINAL(got)"]),
        script::rule(json!({"depth": 1}), &[child]),
    ];
    let got = answer(&query(dir.path(), &rules).run());
    assert_eq!((&got[0], &got[1]), (&json!("no servers"), &json!("child")));
    assert!(got[2].as_str().unwrap().contains("no MCP server \"nope\""), "{got}");
    assert_eq!(got[3], json!("no servers"));
    let replayed = Program::new(dir.path())
        .arg("replay")
        .arg("session")
        .arg("--json")
        .run()
        .json();
    assert_eq!(
        replayed["faithful"],
        json!(true),
        "sub-agents have them again: {replayed}"
    );

    std::fs::write(dir.path().join("rlm_config.yaml"), "inherit_mcp: true\n").unwrap();
    let got = answer(&query(dir.path(), &rules).run());
    assert_eq!(
        (&got[0], &got[3]),
        (&json!("child"), &json!("no servers")),
        "an empty list grants nothing"
    );
}

#[test]
fn credentials_are_in_no_file_and_no_output() {
    let dir = tempfile::tempdir().unwrap();
    let code = "import json\nenv = json.loads(await mcp_call('test', 'environment'))\ntoken = env['API_TOKEN']\nprint(token)\nfull = len(token)\ntry:\n    await mcp_call('test', 'fail', {'path': token})\nexcept RuntimeError as e:\n    print(e)";
    let rules = [script::rule(json!({}), &[code, "FINAL([token, full, sorted(env)])"])];
    let ran = query(dir.path(), &rules)
        .option("--verbosity", "full")
        .env("OPENAI_API_KEY", "key-of-the-model")
        .run();
    let got = answer(&ran);
    assert_eq!(got[1], json!(TOKEN.len()), "the server had it");
    assert!(
        !got[2].to_string().contains("OPENAI_API_KEY"),
        "keys of models are none of its business: {got}"
    );
    assert!(
        !ran.err.contains("tok-4711") && !ran.out.contains("tok-4711"),
        "{ran:?}"
    );
    let session = dir.path().join("session");
    for entry in walk(&session) {
        let bytes = std::fs::read(&entry).unwrap();
        assert!(!bytes.windows(8).any(|part| part == b"tok-4711"), "{}", entry.display());
    }
    let dropped = &Session::at(&session).state()["dropped"];
    assert_eq!(dropped["token"], json!("holds a secret"));
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] })
        .collect()
}

#[test]
fn a_server_that_does_not_start_is_told_and_the_query_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let rules = [script::rule(
        json!({"first": ["test: the MCP server test could not be started"]}),
        &[
            "try:\n    await mcp_list_tools('test')\nexcept RuntimeError as e:\n    told = str(e)",
            "FINAL(told)",
        ],
    )];
    let ran = query(dir.path(), &rules);
    let config = json!({"mcpServers": {"test": {"command": "sh", "args": ["-c", "echo no licence >&2"]}}});
    std::fs::write(dir.path().join("mcp.json"), config.to_string()).unwrap();
    // In a pipe, too, and nothing else there.
    let ran = ran.run();
    assert!(answer(&ran).as_str().unwrap().contains("no licence"));
    assert!(
        ran.err.contains("no licence") && ran.err.lines().count() == 1,
        "{ran:?}"
    );
}

#[test]
fn a_configuration_that_cannot_be_used_is_a_usage_error() {
    let dir = tempfile::tempdir().unwrap();
    query(dir.path(), &[])
        .env("THE_TOKEN", "")
        .run()
        .refused(2, &["test", "THE_TOKEN is not set"]);
    let query = query(dir.path(), &[]);
    std::fs::write(dir.path().join("mcp.json"), "{").unwrap();
    query.run().refused(2, &["mcp.json", "JSON"]);
}

/// Refuses a tool, and remembers what it was asked.
#[derive(Debug)]
struct NoAdding(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Approver for NoAdding {
    async fn decide(&self, call: &GateCall) -> Decision {
        self.0.lock().unwrap().push(call.name.clone());
        match call.name.as_str() {
            "mcp:test/add" => Decision::Deny("no adding here".into()),
            _ => Decision::Allow,
        }
    }
}

#[tokio::test]
async fn every_call_passes_the_gate_and_a_denial_replays() {
    let served = Served::start(&[]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let code = "replies:\n  - code: |\n      got = [await mcp_call('test', 'echo', {'text': 'a'})]\n      try:\n          await mcp_call('web', 'add', {'a': 1, 'b': 2})\n          await mcp_call('test', 'add', {'a': 1, 'b': 2})\n      except PermissionError as e:\n          got.append(str(e))\n  - code: FINAL(got)\n";
    let scripted = Scripted::from_yaml(code, &Settings::default()).unwrap();
    let mut web = served.spec();
    web.name = "web".into();
    let config = Config::default()
        .mcp_server(piped())
        .mcp_server(web)
        .approver(NoAdding(asked.clone()));
    let dir = tempfile::tempdir().unwrap();
    let builder = Client::builder().config(config).storage(Storage::dir(dir.path()));
    let client = builder.build(Arc::new(scripted)).unwrap();
    let output = client.run("go").await.unwrap();
    assert_eq!(output.value, json!(["a", "no adding here"]));
    assert_eq!(*asked.lock().unwrap(), ["mcp:test/echo", "mcp:web/add", "mcp:test/add"]);
    let report = client.session().unwrap().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful() && report.cells_total == 3, "{report:?}");
}
