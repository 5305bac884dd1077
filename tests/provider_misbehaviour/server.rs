//! A server on loopback that sends exactly the bytes it is told, when it is told, and ends connections as it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// One thing that the server does on a connection. After the last one it closes it.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Sends this again and again until the client goes away.
    Flood(Vec<u8>),
    Pause(Duration),
    /// Does nothing more until the client goes away.
    Hang,
    /// Ends the connection with a reset.
    Reset,
}

pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// A response head without a length: the body ends where the connection does.
pub(crate) fn head(content_type: &str) -> Act {
    send(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n"
    ))
}

pub(crate) fn events() -> Act {
    head("text/event-stream")
}

pub(crate) fn data(json: &str) -> Act {
    send(format!("data: {json}\n\n"))
}

pub(crate) fn text(piece: &str) -> Act {
    data(&serde_json::json!({"choices": [{"index": 0, "delta": {"content": piece}}]}).to_string())
}

pub(crate) fn stop() -> Act {
    data(r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#)
}

/// A whole reply that says `ok`.
pub(crate) fn ok() -> Vec<Act> {
    vec![events(), text("ok"), stop(), data("[DONE]")]
}

pub(crate) struct RawServer {
    pub(crate) base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
    gone: watch::Receiver<usize>,
}

impl RawServer {
    /// Plays one script a connection, in order; further connections are closed at once.
    pub(crate) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (gone_tx, gone) = watch::channel(0);
        let seen = requests.clone();
        tokio::spawn(async move {
            for script in scripts {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (seen, gone) = (seen.clone(), gone_tx.clone());
                tokio::spawn(async move {
                    play(stream, script, &seen).await;
                    gone.send_modify(|count| *count += 1);
                });
            }
            while let Ok((stream, _)) = listener.accept().await {
                drop(stream);
            }
        });
        Self {
            base_url,
            requests,
            gone,
        }
    }

    /// The requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until a request has come.
    pub(crate) async fn asked(&self) {
        while self.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until `count` connections have ended.
    pub(crate) async fn ended(&mut self, count: usize) {
        self.gone.wait_for(|gone| *gone >= count).await.unwrap();
    }
}

async fn play(mut stream: TcpStream, script: Vec<Act>, requests: &Mutex<Vec<String>>) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    requests.lock().unwrap().push(request);
    for act in script {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Flood(bytes) => while stream.write_all(&bytes).await.is_ok() {},
            Act::Pause(time) => tokio::time::sleep(time).await,
            Act::Hang => {
                let _ = stream.read(&mut [0; 16]).await;
                return;
            }
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
}

/// Reads one request whole, so that closing does not reset the connection.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
