//! What servers do badly: each ends in an error that says so, and the next call works.

use crate::{Served, piped, servers};
use fast_rlm::mcp::{Listed, McpError, Servers};
use serde_json::{Value, json};
use std::time::Duration;

async fn call(servers: &Servers, tool: &str, n: u64) -> Result<Value, McpError> {
    let given = json!({"n": n, "text": "x"});
    servers.call("test", tool, given.as_object().unwrap()).await
}

async fn works(servers: &Servers) {
    assert_eq!(call(servers, "echo", 0).await, Ok(json!("x")), "the next call");
}

#[tokio::test]
async fn silence_ends_in_time_and_the_connection_stays() {
    let quick =
        |spec: fast_rlm::mcp::ServerSpec| servers(spec.within(Duration::from_secs(20), Duration::from_millis(300)));
    let piped = quick(piped());
    works(&piped).await;
    let told = call(&piped, "silent", 0).await.unwrap_err();
    assert!(
        told.is_timeout() && told.to_string().contains("tools/call within 0.3 s"),
        "{told}"
    );
    works(&piped).await;
    piped.close().await;

    let served = Served::start(&[]);
    let http = quick(served.spec());
    assert!(call(&http, "silent", 0).await.unwrap_err().is_timeout());
    works(&http).await;
    http.close().await;
}

#[tokio::test]
async fn what_is_no_message_is_quoted_when_the_answer_does_not_come() {
    let servers = servers(piped().within(Duration::from_secs(20), Duration::from_millis(500)));
    works(&servers).await;
    let told = call(&servers, "garbage", 0).await.unwrap_err().to_string();
    assert!(told.contains("Listening on port 80 {"), "{told}");
    servers.close().await;
}

#[tokio::test]
async fn a_huge_reply_is_refused_and_a_large_one_is_not() {
    let served = Served::start(&[]);
    for servers in [servers(piped()), servers(served.spec())] {
        let large = call(&servers, "huge", 10 << 20).await.unwrap();
        assert_eq!(large.as_str().unwrap().len(), 10 << 20);
        let told = call(&servers, "huge", 20 << 20).await.unwrap_err().to_string();
        assert!(told.contains("more than 16 MB"), "{told}");
        works(&servers).await;
        servers.close().await;
    }
}

#[tokio::test]
async fn a_list_of_huge_pages_is_refused() {
    let served = Served::start(&[("MCP_TEST_HUGE_LIST", "1")]);
    let servers = servers(served.spec());
    let told = servers.list("test", Listed::Tools).await.unwrap_err().to_string();
    assert!(told.contains("its list of tools is longer than 16 MB"), "{told}");
    works(&servers).await;
    servers.close().await;
}

#[tokio::test]
async fn a_server_that_dies_is_quoted_and_started_again() {
    let servers = servers(piped());
    let told = call(&servers, "die", 0).await.unwrap_err().to_string();
    assert!(
        told.contains("it ended") && told.contains("the last words of a server"),
        "{told}"
    );
    works(&servers).await;
    servers.close().await;
}

#[tokio::test]
async fn a_flood_of_notifications_is_waded_through() {
    let servers = servers(piped());
    assert_eq!(call(&servers, "flood", 50_000).await, Ok(json!("done")));
    servers.close().await;
}
