//! A server on loopback that answers whole requests with whole answers, and keeps what it was asked.

use super::server::read_request;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

/// What a request is answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn text(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").text(body.to_string())
    }

    fn bytes(&self) -> String {
        let mut head = format!(
            "HTTP/1.1 {} Told\r\ncontent-length: {}\r\n",
            self.status,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        format!("{head}connection: close\r\n\r\n{}", self.body)
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    head: String,
    pub(crate) body: String,
}

impl Received {
    fn new(request: &str) -> Self {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        Self {
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Method and path, as in `GET /v1/models`.
    pub(crate) fn asks(&self) -> &str {
        self.head.lines().next().unwrap().trim_end_matches(" HTTP/1.1")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields
            .into_iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

pub(crate) struct Answers {
    uri: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Answers {
    /// Answers every request by `answer`, which is told how many there were before.
    pub(crate) async fn start(answer: impl Fn(usize, &Received) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(request) = read_request(&mut stream).await else {
                    continue;
                };
                let request = Received::new(&request);
                let before = kept.lock().unwrap().len();
                let bytes = answer(before, &request).bytes();
                kept.lock().unwrap().push(request);
                // A client that has read enough goes away in the middle.
                let _ = stream.write_all(bytes.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { uri, received }
    }

    /// The same answer to everything.
    pub(crate) async fn always(answer: Answer) -> Self {
        Self::start(move |_, _| answer.clone()).await
    }

    /// Its address, without a path.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// The requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}
