//! Moves messages between a worker and what its owner shares with it (`Link`): commands and answers in, printed text,
//! calls and events out. Whatever a worker sends is bounded; one that sends nonsense is ended.

use super::frames::{self, ANSWER, BYTES, CALL, CANCEL, COMMAND, DROPPED, IDLE, PRINTED, READ, REPLY, frame};
use super::probe::Interpreter;
use super::process::{self, Activity, Process};
use crate::disk::descriptors::need_some;
use crate::repl::blobs::Blob;
use crate::repl::instance::Stop;
use crate::repl::kernel::worker_source;
use crate::repl::link::{Event, Link};
use crate::repl::memory::{MemoryPool, MemoryUse, PoolShare};
use crate::repl::wire::{self, failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::{interval, timeout};

/// Frames that may wait for a worker that does not read.
const OUTGOING: usize = 16;
/// Calls that may be in flight, and the kilobytes that they may need together.
const CALLS: usize = 4_096;
const CALL_ROOM: u32 = 512 << 10;
/// Bytes of a value of JSON, beside its text.
const VALUE: usize = 96;
/// Threads that it may have.
const THREADS: u32 = 1_024;
/// The longest piece of a blob.
const PIECE: usize = 4 << 20;
/// How long it may take to end when its output has.
const ENDS: Duration = Duration::from_millis(500);
/// How often its memory, files, threads and time are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What a worker is run with.
pub(super) struct Pump {
    pub(super) interpreter: Arc<Interpreter>,
    pub(super) memory_bytes: u64,
    pub(super) pickle_bytes: usize,
    pub(super) pool: Arc<MemoryPool>,
    pub(super) link: Arc<Link>,
    pub(super) memory: Arc<MemoryUse>,
}

/// A call as a worker sends it.
#[derive(Deserialize)]
struct Called {
    id: u64,
    name: String,
    args: Value,
}

/// The way to a worker.
type Outgoing = mpsc::Sender<Vec<u8>>;

impl Pump {
    /// Serves until the worker ends; says why it did.
    pub(super) fn run(self, stop: &Stop) -> String {
        let build = || tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match need_some().and_then(|()| build()) {
            Ok(runtime) => runtime,
            Err(error) => return format!("it could not start: {error}"),
        };
        runtime.block_on(async {
            let (mut process, input, output) = match process::start(&self.interpreter) {
                Ok(started) => started,
                Err(error) => return format!("{}: {error}", self.interpreter.executable.display()),
            };
            let why = tokio::select! {
                why = self.serve(input, output) => why,
                why = self.watch(&process, stop) => Some(why),
                () = stop.now.notified() => Some("it was stopped".to_owned()),
            };
            if why.is_none()
                && let Ok(how) = timeout(ENDS, process.ended()).await
            {
                return how;
            }
            process.kill().await;
            why.unwrap_or_else(|| "it closed the way to its host".into())
        })
    }

    /// Moves messages until the worker's output ends, or makes no sense: then the reason.
    async fn serve(&self, input: ChildStdin, output: ChildStdout) -> Option<String> {
        let source = worker_source(self.memory_bytes, std::process::id());
        let (outgoing, frames) = mpsc::channel(OUTGOING);
        let rest = Notify::new();
        self.link.meter.set_busy(true);
        let taking = Taking {
            link: &self.link,
            outgoing: &outgoing,
            rest: &rest,
            calls: Arc::new(Semaphore::new(CALLS)),
            room: Arc::new(Semaphore::new(CALL_ROOM as usize)),
            pickle_bytes: self.pickle_bytes,
            blob: None,
        };
        tokio::select! {
            why = taking.all(output) => why,
            () = write(input, source, frames) => None,
            () = commands(&self.link, &outgoing, &rest) => None,
            () = cancels(&self.link, &outgoing) => None,
        }
    }

    /// Looks at what it uses. Ends when the worker is to end, though nobody has got to say so; says why.
    async fn watch(&self, process: &Process, stop: &Stop) -> String {
        let mut looks = interval(LOOK);
        let (mut before, mut waited) = (None::<Activity>, false);
        let mut share = PoolShare::of(self.pool.clone());
        loop {
            looks.tick().await;
            let (now, waits) = (process.activity().or(before), self.link.meter.is_waiting());
            if let (true, true, Some(now), Some(before)) = (waits, waited, now, before) {
                // It says that it waits, and executes: threads of its own, or a lie.
                self.link.meter.add(now.executed.saturating_sub(before.executed));
            }
            (before, waited) = (now, waits);
            if let Some(why) = self.excess(process, now, &mut share) {
                return why;
            }
            if stop.is_due(self.link.meter.elapsed()) {
                return "it was stopped".into();
            }
        }
    }

    /// Why it has too much of something.
    fn excess(&self, process: &Process, now: Option<Activity>, share: &mut PoolShare) -> Option<String> {
        if let Some(bytes) = process.memory() {
            self.memory.see(bytes);
            if share.outgrows(bytes) {
                self.memory.deny();
                return Some("all workers together had more memory than they may have".into());
            }
        }
        if now.is_some_and(|now| now.threads > THREADS) {
            return Some(format!("it had more than {THREADS} threads"));
        }
        process.excess()
    }
}

async fn write(mut input: ChildStdin, source: String, mut frames: mpsc::Receiver<Vec<u8>>) {
    let first = format!("{}\n{source}", source.len());
    let mut next = Some(first.into_bytes());
    while let Some(bytes) = next {
        if input.write_all(&bytes).await.is_err() {
            // Its end is told by its output.
            return std::future::pending().await;
        }
        next = frames.recv().await;
    }
}

async fn commands(link: &Link, outgoing: &Outgoing, rest: &Notify) {
    loop {
        if let Ok(command) = link.next_command().await {
            let _ = outgoing.send(frame(COMMAND, &[command.as_bytes()])).await;
        }
        rest.notified().await;
    }
}

async fn cancels(link: &Link, outgoing: &Outgoing) {
    loop {
        let number = link.cancel_wanted().await.to_string();
        let _ = outgoing.send(frame(CANCEL, &[number.as_bytes()])).await;
    }
}

/// The worker's messages.
struct Taking<'a> {
    link: &'a Arc<Link>,
    outgoing: &'a Outgoing,
    rest: &'a Notify,
    calls: Arc<Semaphore>,
    /// What calls in flight need, in kilobytes.
    room: Arc<Semaphore>,
    pickle_bytes: usize,
    blob: Option<Blob>,
}

impl Taking<'_> {
    async fn all(mut self, output: ChildStdout) -> Option<String> {
        let mut output = BufReader::with_capacity(64 << 10, output);
        loop {
            match frames::read(&mut output, self.pickle_bytes).await {
                Ok(None) => return None,
                Ok(Some((kind, data))) => {
                    if let Err(why) = self.one(kind, data).await {
                        return Some(why);
                    }
                }
                Err(why) => return Some(why),
            }
        }
    }

    async fn one(&mut self, kind: u8, data: Vec<u8>) -> Result<(), String> {
        match kind {
            PRINTED => self.link.output.push(&String::from_utf8_lossy(&data)),
            IDLE => self.link.meter.set_busy(data != b"1"),
            DROPPED => {
                if let Some(id) = std::str::from_utf8(&data).ok().and_then(|id| id.parse().ok()) {
                    self.link.wake(id);
                }
            }
            CALL => self.call(&data, ANSWER).await?,
            READ => self.read(&data).await?,
            kind => return self.event(u32::from(kind), data).await,
        }
        Ok(())
    }

    async fn event(&mut self, kind: u32, data: Vec<u8>) -> Result<(), String> {
        let event = match kind {
            wire::REQUEST => return self.call(&data, REPLY).await,
            wire::DONE => Event::Done(data),
            wire::FINAL => Event::Final(data),
            wire::NOTE => Event::Note(data),
            wire::VALUE => Event::Value(data),
            _ => return Err("what it sent is no message".into()),
        };
        if kind == wire::DONE {
            self.link.at_rest();
            self.rest.notify_one();
        }
        self.link.tell(event).await
    }

    /// A call; `kind` says how it is answered: to a future, or to a thread that is blocked.
    async fn call(&mut self, data: &[u8], kind: u8) -> Result<(), String> {
        let weight = weight(data);
        if weight > CALL_ROOM {
            return Err("a call of it was too large".into());
        }
        let called: Called = serde_json::from_slice(data).map_err(|error| format!("a malformed call: {error}"))?;
        if called.name == "blob" {
            let opened = self.open_blob(&called.args).map(|()| Value::Null);
            let _ = self.outgoing.send(answer(kind, called.id, opened)).await;
            return Ok(());
        }
        let room = self.room.clone().try_acquire_many_owned(weight);
        let (Ok(permit), Ok(room)) = (self.calls.clone().try_acquire_owned(), room) else {
            let many = Err(failure(
                "RuntimeError",
                "too many calls are in flight, or too large ones",
            ));
            let _ = self.outgoing.send(answer(kind, called.id, many)).await;
            return Ok(());
        };
        let (link, outgoing) = (self.link.clone(), self.outgoing.clone());
        tokio::spawn(async move {
            let _held = (permit, room);
            let made = async {
                tokio::select! {
                    result = link.host_call(&called.name, called.args) => result,
                    _ = link.cancel_wanted(), if kind == REPLY => Err(failure("Cancelled", "cancelled")),
                }
            };
            if let Some(result) = link.until_woken(called.id, made).await {
                let _ = outgoing.send(answer(kind, called.id, result)).await;
            }
        });
        Ok(())
    }

    fn open_blob(&mut self, args: &Value) -> Result<(), String> {
        let blobs = self.link.blobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let name = args.get("name").and_then(Value::as_str).unwrap_or_default();
        let blobs = blobs.ok_or_else(|| failure("RuntimeError", "nothing can be read now"))?;
        self.blob = Some(blobs.open(name).map_err(|reason| failure("ValueError", &reason))?);
        Ok(())
    }

    async fn read(&mut self, data: &[u8]) -> Result<(), String> {
        let (number, _) = data.split_first_chunk::<8>().ok_or("a malformed message")?;
        let piece = self.blob.as_mut().map(|blob| blob.read(PIECE)).transpose();
        let piece = piece.map_err(|error| error.to_string())?.unwrap_or_default();
        let _ = self.outgoing.send(frame(BYTES, &[number, &piece])).await;
        Ok(())
    }
}

/// Kilobytes that a call's JSON needs when it has been read: a text of short values needs much more than it is long.
fn weight(data: &[u8]) -> u32 {
    let (mut values, mut in_text, mut escaped) = (1_usize, false, false);
    for byte in data {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    let bytes = values.saturating_mul(VALUE).saturating_add(data.len());
    u32::try_from(bytes >> 10).unwrap_or(u32::MAX).saturating_add(1)
}

/// An answer in the form that its asker waits for.
fn answer(kind: u8, id: u64, result: Result<Value, String>) -> Vec<u8> {
    let mut told = match result {
        Ok(value) => json!({"ok": true, "value": value}),
        Err(error) => json!({"ok": false, "error": error}),
    };
    if kind == REPLY {
        return frame(REPLY, &[&id.to_le_bytes(), told.to_string().as_bytes()]);
    }
    if let Value::Object(fields) = &mut told {
        fields.insert("id".into(), id.into());
    }
    frame(kind, &[told.to_string().as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_weighs_what_its_values_need_and_not_what_a_text_looks_like() {
        let many = format!("[{}0]", "0,".repeat(100_000));
        assert!(weight(many.as_bytes()) > 9_000, "100,000 numbers");
        let text = format!("[\"{}\\\"{}\"]", ",[{".repeat(50_000), ",".repeat(50_000));
        assert!((190..200).contains(&weight(text.as_bytes())), "200,000 bytes of text");
    }
}
