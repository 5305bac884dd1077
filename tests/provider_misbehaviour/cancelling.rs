//! Cancelling ends a call wherever it is, and its connection, so that nothing keeps billing.

use crate::server::{Act, RawServer, events, ok, text};
use crate::{request, settings};
use fast_rlm::provider::{CallError, Cancel, Discard, ErrorKind, OpenAi, Pacing, Provider, Reply};
use std::time::Duration;
use tokio::task::JoinHandle;

fn start(server: &RawServer, pacing: Pacing, cancel: &Cancel) -> JoinHandle<Result<Reply, CallError>> {
    let mut settings = settings(&server.base_url);
    settings.pacing = pacing;
    let (provider, cancel) = (OpenAi::new(&settings).unwrap(), cancel.clone());
    tokio::spawn(async move { provider.call(&request(), &mut Discard, &cancel).await })
}

#[tokio::test]
async fn a_call_is_cancelled_before_during_and_between_answers() {
    let busy = || crate::server::send("HTTP/1.1 429 Busy\r\ncontent-length: 0\r\n\r\n");
    let slow = Pacing {
        first: Duration::from_secs(60),
        longest: Duration::from_secs(60),
    };
    for script in [
        vec![Act::Hang],
        vec![events(), Act::Hang],
        vec![events(), text("one"), Act::Hang],
        vec![busy(), Act::Hang],
    ] {
        let mut server = RawServer::start(vec![script]).await;
        let cancel = Cancel::new();
        let call = start(&server, slow, &cancel);
        server.asked().await;
        cancel.cancel();
        let error = call.await.unwrap().unwrap_err();
        assert!(error.is_cancelled() && error.attempts == 1, "{error:?}");
        // The server notices: the connection is closed.
        server.ended(1).await;
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_asks_nobody() {
    let server = RawServer::start(vec![ok()]).await;
    let cancel = Cancel::new();
    cancel.cancel();
    let error = start(&server, Pacing::default(), &cancel).await.unwrap().unwrap_err();
    assert_eq!((&*error.kind, error.attempts), (&ErrorKind::Cancelled, 0));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let mut server = RawServer::start(vec![vec![events(), text("one"), Act::Hang]]).await;
    let call = start(&server, Pacing::default(), &Cancel::new());
    server.asked().await;
    call.abort();
    server.ended(1).await;
}

#[tokio::test]
async fn one_switch_stops_many_calls_and_keeps_what_they_said() {
    let mut server = RawServer::start(vec![vec![events(), text("one"), Act::Hang]; 8]).await;
    let cancel = Cancel::new();
    let provider = std::sync::Arc::new(OpenAi::new(&settings(&server.base_url)).unwrap());
    let (spoke, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (provider, cancel, spoke) = (provider.clone(), cancel.clone(), spoke.clone());
            tokio::spawn(async move {
                let mut sink = |_: fast_rlm::provider::Delta<'_>| spoke.send(()).unwrap();
                provider.call(&request(), &mut sink, &cancel).await
            })
        })
        .collect();
    for _ in 0..8 {
        heard.recv().await.unwrap();
    }
    cancel.cancel();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert!(error.is_cancelled());
        assert_eq!(error.partial.text, "one");
    }
    server.ended(8).await;
}
