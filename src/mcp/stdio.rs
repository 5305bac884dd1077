//! Speaking to a program: a message a line, many requests in flight. Two tasks own the pipes; what the program writes is
//! bounded, and what it does not answer in time is given up and told so.

use super::connection::Manner;
use super::error::{McpError, quoted};
use super::process::{self, Pipes, Process, Words};
use super::spec::ServerSpec;
use super::wire::{self, Incoming, MESSAGE_LIMIT, RpcError};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Messages that may wait for a program that does not read.
const OUTGOING: usize = 64;

type Answer = Result<Value, RpcError>;

#[derive(Default)]
struct Waiting {
    by_id: HashMap<u64, oneshot::Sender<Answer>>,
    /// Why nothing will be answered any more.
    over: Option<String>,
    /// The last line that was no message: a program that prints what it should not.
    stray: Option<String>,
}

type Shared = Arc<Mutex<Waiting>>;

fn locked(shared: &Shared) -> MutexGuard<'_, Waiting> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection to a program.
pub(super) struct Stdio {
    server: String,
    next: AtomicU64,
    outgoing: mpsc::Sender<Vec<u8>>,
    waiting: Shared,
    words: Words,
    process: Mutex<Option<Process>>,
    tasks: [JoinHandle<()>; 2],
}

impl Stdio {
    /// Starts the program.
    pub(super) fn start(spec: &ServerSpec) -> Result<Self, McpError> {
        let (process, pipes) = process::start(&spec.transport).map_err(|reason| McpError::Start {
            server: spec.name.clone(),
            reason,
        })?;
        let Pipes { input, output, words } = pipes;
        let (outgoing, lines) = mpsc::channel(OUTGOING);
        let waiting = Shared::default();
        let reader = read(output, waiting.clone(), outgoing.downgrade());
        Ok(Self {
            server: spec.name.clone(),
            next: AtomicU64::new(1),
            outgoing,
            waiting,
            words,
            process: Mutex::new(Some(process)),
            tasks: [tokio::spawn(reader), tokio::spawn(write(input, lines))],
        })
    }

    /// One request, and its answer.
    pub(super) async fn request(&self, method: &str, params: Value, limit: Duration) -> Result<Value, McpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = wire::request(id, method, params);
        let answered = timeout(limit, self.exchange(id, &message)).await;
        match answered {
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(RpcError { code, message }))) => Err(McpError::Refused {
                server: self.server.clone(),
                code,
                message: quoted(&message),
            }),
            Ok(None) => Err(self.gone().await),
            Err(_) => Err(McpError::Timeout {
                server: self.server.clone(),
                what: method.to_owned(),
                limit,
                hint: self.hint(),
            }),
        }
    }

    /// Sends a request and waits; `None` when there is nobody any more.
    async fn exchange(&self, id: u64, message: &Value) -> Option<Answer> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut waiting = locked(&self.waiting);
            if waiting.over.is_some() {
                return None;
            }
            waiting.by_id.insert(id, sender);
        }
        let _given_up = GiveUp { id, of: self };
        self.outgoing.send(line(message)).await.ok()?;
        receiver.await.ok()
    }

    /// A message that wants no answer.
    pub(super) async fn notify(&self, method: &str, params: Value) {
        let _ = self.outgoing.send(line(&wire::notification(method, params))).await;
    }

    async fn gone(&self) -> McpError {
        let over = locked(&self.waiting).over.clone();
        let reason = self.words.after(&over.unwrap_or_else(|| "it ended".into())).await;
        McpError::Gone {
            server: self.server.clone(),
            reason,
        }
    }

    fn hint(&self) -> String {
        let stray = locked(&self.waiting).stray.clone();
        stray.map_or_else(String::new, |line| format!("; it wrote what is no message: {line}"))
    }

    /// Ends the program.
    pub(super) async fn close(&self, manner: Manner) {
        self.tasks.iter().for_each(JoinHandle::abort);
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (process, manner) {
            (Some(process), Manner::Polite) => process.end().await,
            (Some(process), Manner::AtOnce) => process.kill().await,
            (None, _) => {}
        }
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A request that nobody waits for any more, answered or not: if not, the program is told.
struct GiveUp<'a> {
    id: u64,
    of: &'a Stdio,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        if locked(&self.of.waiting).by_id.remove(&self.id).is_some() {
            let told = wire::notification("notifications/cancelled", json!({"requestId": self.id}));
            let _ = self.of.outgoing.try_send(line(&told));
        }
    }
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

async fn write(mut input: ChildStdin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(&line).await.is_err() {
            // Its end is told by its output.
            return;
        }
    }
}

async fn read(output: ChildStdout, waiting: Shared, outgoing: mpsc::WeakSender<Vec<u8>>) {
    let mut output = BufReader::with_capacity(64 << 10, output);
    let over = loop {
        match next_line(&mut output).await {
            Ok(Some(line)) => take(&line, &waiting, &outgoing),
            Ok(None) => break "it ended".to_owned(),
            Err(why) => break why,
        }
    };
    let mut waiting = locked(&waiting);
    waiting.over = Some(over);
    // Whoever waits finds that there is nobody.
    waiting.by_id.clear();
}

/// A line without its end, at most as long as a message may be.
async fn next_line(output: &mut BufReader<ChildStdout>) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    loop {
        let piece = output.fill_buf().await.map_err(|error| error.to_string())?;
        if piece.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(b'\n', piece);
        let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        if line.len() + taken.len() > MESSAGE_LIMIT {
            return Err(format!("it wrote a message of more than {} MB", MESSAGE_LIMIT >> 20));
        }
        line.extend_from_slice(taken);
        let used = taken.len() + usize::from(end.is_some());
        output.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn take(line: &[u8], waiting: &Shared, outgoing: &mpsc::WeakSender<Vec<u8>>) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let Some(messages) = wire::messages(line) else {
        let start = line.get(..200.min(line.len())).unwrap_or_default();
        locked(waiting).stray = Some(String::from_utf8_lossy(start).trim().to_owned());
        return;
    };
    for message in messages {
        match message {
            Incoming::Answer(id, answer) => {
                if let Some(asker) = locked(waiting).by_id.remove(&id) {
                    let _ = asker.send(answer);
                }
            }
            Incoming::Request(id, method) => {
                // One that asks faster than it reads is not answered: that would pile up here.
                if let (Some(outgoing), Some(answer)) = (outgoing.upgrade(), wire::answer_to(&id, &method)) {
                    let _ = outgoing.try_send(self::line(&answer));
                }
            }
            Incoming::Other => {}
        }
    }
}
