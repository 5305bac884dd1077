//! Both transports: the handshake, lists in pages, tools, resources, questions of the server's own.

use crate::{Served, piped, servers};
use fast_rlm::mcp::{Counts, Listed, McpError, ServerSpec, Servers};
use serde_json::{Map, Value, json};

fn given(fields: Value) -> Map<String, Value> {
    fields.as_object().cloned().unwrap()
}

async fn speaks(servers: &Servers) {
    let counts = servers.counts(&servers.names()).await;
    let expected = Counts {
        tools: 14,
        resources: 1,
        templates: 1,
    };
    assert_eq!(counts, [("test".to_owned(), Ok(expected))]);
    let tool = servers.tool("test", "add").await.unwrap();
    assert_eq!(tool["inputSchema"]["type"], json!("object"));
    let missing = servers.tool("test", "subtract").await.unwrap_err().to_string();
    assert!(missing.contains("subtract") && missing.contains("echo"), "{missing}");

    let call = async |tool: &str, fields| servers.call("test", tool, &given(fields)).await;
    assert_eq!(call("echo", json!({"text": "é"})).await, Ok(json!("é")));
    assert_eq!(call("add", json!({"a": 2, "b": 3})).await, Ok(json!({"sum": 5})));
    assert_eq!(call("parts", json!({})).await.unwrap()[1]["text"], json!("hi"));
    let failed = call("fail", json!({"path": "/tmp"})).await.unwrap_err().to_string();
    assert!(failed.contains("the disk is full: /tmp"), "{failed}");
    let unknown = call("nope", json!({})).await.unwrap_err();
    assert!(matches!(unknown, McpError::Refused { code: -32602, .. }), "{unknown}");

    assert_eq!(servers.read("test", "note:one").await, Ok(json!("the first note")));
    assert!(
        servers
            .read("test", "note:two")
            .await
            .unwrap_err()
            .to_string()
            .contains("note:two")
    );
    let templates = servers.list("test", Listed::Templates).await.unwrap();
    assert_eq!(templates[0]["uriTemplate"], json!("note:{name}"));

    let asked = call("ask", json!({})).await.unwrap().to_string();
    assert!(asked.contains("does not offer sampling/createMessage"), "{asked}");
    let pinged = call("ask", json!({"method": "ping"})).await;
    assert_eq!(pinged, Ok(json!("{}")), "a ping is answered");
}

#[tokio::test]
async fn over_pipes() {
    let servers = servers(piped());
    speaks(&servers).await;
    servers.close().await;
}

#[tokio::test]
async fn over_http() {
    let served = Served::start(&[]);
    let servers = servers(served.spec());
    speaks(&servers).await;
    servers.close().await;
}

#[tokio::test]
async fn many_calls_are_in_flight_at_once() {
    let servers = servers(piped());
    let given = given(json!({"text": "x"}));
    let calls = (0..200).map(|_| servers.call("test", "echo", &given));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| *answer == Ok(json!("x"))));
    servers.close().await;
}

#[tokio::test]
async fn what_a_server_does_not_offer_is_not_asked_for() {
    let servers = servers(piped().with("MCP_TEST_TOOLS_ONLY", "1"));
    assert_eq!(servers.list("test", Listed::Resources).await, Ok(vec![]));
    servers.close().await;
}

#[tokio::test]
async fn a_forgotten_session_is_begun_anew() {
    let served = Served::start(&[]);
    let servers = servers(served.spec());
    let call = async |tool: &str| servers.call("test", tool, &given(json!({"text": "x"}))).await;
    assert_eq!(call("forget").await, Ok(json!("forgotten")));
    assert_eq!(call("echo").await, Ok(json!("x")));
    servers.close().await;
}

#[tokio::test]
async fn a_missing_credential_is_told_and_how_to_give_it() {
    let served = Served::start(&[("MCP_TEST_AUTHORIZATION", "Bearer right-and-long")]);
    let told = servers(served.spec())
        .tool("test", "echo")
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("401") && told.contains("\"headers\""), "{told}");
    let with = servers(served.spec().with("Authorization", "Bearer right-and-long"));
    assert!(with.tool("test", "echo").await.is_ok());
}

#[tokio::test]
async fn what_cannot_be_started_is_named() {
    let told = async |spec: ServerSpec| servers(spec).tool("it", "x").await.unwrap_err().to_string();
    let missing = told(ServerSpec::stdio("it", "no-such-program-here", &[])).await;
    assert!(missing.contains("no-such-program-here is not installed"), "{missing}");
    let ended = told(ServerSpec::stdio("it", "sh", &["-c", "echo no licence >&2; exit 7"])).await;
    assert!(ended.contains("it ended") && ended.contains("no licence"), "{ended}");
    let nobody = told(ServerSpec::http("it", "http://127.0.0.1:9/mcp")).await;
    assert!(nobody.contains("could not be started"), "{nobody}");
    let version = servers(piped().with("MCP_TEST_VERSION", "1999-01-01"));
    let told = version.tool("test", "echo").await.unwrap_err().to_string();
    assert!(told.contains("1999-01-01"), "{told}");
}
