//! Takes a sweep out of an instance. Which values the owner already has is known to the kernel (`sweep.py`).

use super::api::{Dropped, Limits, Sweep, SweptFunction, SweptPickle, SweptVariable};
use super::error::ReplError;
use super::instance::{Instance, encode};
use super::link::Event;
use super::wire::{Command, Done, Note, Reply, SweepReply, SweptEntry};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The most that one sweep may hold, in bytes.
const SWEEP_LIMIT: usize = 1 << 30;

/// Values that the kernel sent during one sweep.
#[derive(Default)]
struct Sent {
    values: HashMap<String, Arc<[u8]>>,
    bytes: usize,
}

impl Sent {
    fn take(&mut self, message: &[u8], limit: usize) -> Result<(), ReplError> {
        let nonsense = |why: &str| ReplError::Protocol(why.into());
        let end = memchr::memchr(b'\n', message).ok_or_else(|| nonsense("a value without a name"))?;
        let (name, rest) = message
            .split_at_checked(end)
            .ok_or_else(|| nonsense("a value without a name"))?;
        let pickle = rest.get(1..).unwrap_or_default();
        self.bytes += pickle.len();
        if pickle.len() > limit || self.bytes > SWEEP_LIMIT {
            return Err(nonsense("more data than a sweep may hold"));
        }
        let name = std::str::from_utf8(name).map_err(|error| nonsense(&error.to_string()))?;
        self.values.insert(name.to_owned(), pickle.into());
        Ok(())
    }
}

/// One sweep. Gives the instance back if it is still there.
pub(super) async fn sweep(mut instance: Instance, limits: &Limits) -> (Result<Sweep, ReplError>, Option<Instance>) {
    let start = Instant::now();
    let pickle_bytes = limits.pickle_bytes;
    let number = match instance.send(|number| encode(&Command::Sweep { number, pickle_bytes })) {
        Ok(number) => number,
        Err(error) => return (Err(error), None),
    };
    let mut saving: Option<Note> = None;
    let waiting = wait(&mut instance, number, limits, &mut saving);
    let waited = tokio::time::timeout(limits.housekeeping_timeout, waiting).await;
    let reply = waited.unwrap_or_else(|_| {
        Err(Ending::Lost(format!(
            "it took more than {} s",
            limits.housekeeping_timeout.as_secs()
        )))
    });
    match reply {
        Ok((reply, sent)) => {
            let sweep = assemble(reply, sent, start);
            (sweep, Some(instance))
        }
        Err(Ending::Error(error)) => (Err(error), None),
        Err(Ending::Lost(why)) => {
            let ended = instance.end().await;
            let doing = saving.map_or_else(
                || "saving variables".into(),
                |note| format!("saving the variable `{}`", note.name),
            );
            let why = if why.is_empty() { ended } else { why };
            (Err(ReplError::Lost { doing, why }), None)
        }
    }
}

/// How a sweep did not come to its end.
enum Ending {
    Error(ReplError),
    /// The instance ended (the reason is its own) or is to be ended for the reason given.
    Lost(String),
}

async fn wait(
    instance: &mut Instance,
    number: u64,
    limits: &Limits,
    saving: &mut Option<Note>,
) -> Result<(SweepReply, Sent), Ending> {
    let mut sent = Sent::default();
    while let Some(event) = instance.event().await {
        match event {
            Event::Note(data) => *saving = serde_json::from_slice(&data).ok(),
            Event::Value(data) => sent.take(&data, limits.pickle_bytes).map_err(Ending::Error)?,
            Event::Final(_) => {}
            Event::Done(data) => {
                let done: Done<SweepReply> = serde_json::from_slice(&data)
                    .map_err(|error| Ending::Error(ReplError::Protocol(error.to_string())))?;
                match done.reply {
                    _ if done.number != number => {}
                    Reply::Good(reply) => return Ok((reply, sent)),
                    Reply::Broken { broken } => return Err(Ending::Error(ReplError::Protocol(broken))),
                }
            }
        }
    }
    Err(Ending::Lost(String::new()))
}

fn assemble(reply: SweepReply, mut sent: Sent, start: Instant) -> Result<Sweep, ReplError> {
    let variables = reply
        .variables
        .into_iter()
        .map(|entry| swept(entry, &mut sent))
        .collect::<Result<_, _>>()?;
    let functions = reply.functions.into_iter();
    let dropped = reply.dropped.into_iter();
    Ok(Sweep {
        variables,
        functions: functions
            .map(|entry| SweptFunction {
                name: entry.name,
                source: entry.source,
            })
            .collect(),
        dropped: dropped
            .map(|entry| Dropped {
                name: entry.name,
                reason: entry.reason,
                size: entry.size,
                type_name: entry.type_name,
            })
            .collect(),
        imports: reply.imports,
        duration: start.elapsed(),
    })
}

fn swept(entry: SweptEntry, sent: &mut Sent) -> Result<SweptVariable, ReplError> {
    let missing = || ReplError::Protocol(format!("the value of {} did not arrive", entry.name));
    let digest = parse_digest(&entry.digest).ok_or_else(missing)?;
    let pickle = match entry.sent {
        true => SweptPickle::Changed(sent.values.remove(&entry.name).ok_or_else(missing)?),
        false => SweptPickle::Unchanged,
    };
    Ok(SweptVariable {
        name: entry.name,
        pickle,
        digest,
        type_name: entry.type_name,
        preview: entry.preview,
        comment: entry.comment,
        note: entry.note,
        committed: entry.committed,
    })
}

fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let digits = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    digits.collect::<Option<Vec<_>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sent: bool, digest: &str) -> SweptEntry {
        SweptEntry {
            name: "x".into(),
            sent,
            digest: digest.into(),
            type_name: "int".into(),
            preview: "1".into(),
            comment: None,
            note: None,
            committed: false,
        }
    }

    fn sent(message: &[u8]) -> Sent {
        let mut sent = Sent::default();
        sent.take(message, 100).unwrap();
        sent
    }

    #[test]
    fn a_value_that_was_sent_is_changed_and_another_is_not() {
        let digest = "0a".repeat(32);
        let changed = swept(entry(true, &digest), &mut sent(b"x\npickle")).unwrap();
        assert_eq!(changed.pickle, SweptPickle::Changed(b"pickle"[..].into()));
        assert_eq!(changed.digest, [10; 32]);
        let same = swept(entry(false, &digest), &mut Sent::default()).unwrap();
        assert_eq!(same.pickle, SweptPickle::Unchanged);
    }

    #[test]
    fn a_kernel_that_lies_about_a_value_is_an_error() {
        assert!(
            swept(entry(true, &"0a".repeat(32)), &mut Sent::default()).is_err(),
            "sent, but not there"
        );
        for digest in ["", "0a", "zz", &"é".repeat(32)] {
            assert!(swept(entry(false, digest), &mut Sent::default()).is_err(), "{digest}");
        }
        assert!(Sent::default().take(b"no name", 100).is_err());
        assert!(
            Sent::default().take(b"x\n0123456789", 9).is_err(),
            "larger than the limit"
        );
    }
}
