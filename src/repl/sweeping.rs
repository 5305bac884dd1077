//! Takes a sweep out of an instance. Which values the owner already has is known to the kernel (`sweep.py`).

use super::api::{Dropped, Limits, Sweep, SweepLost, SweptFunction, SweptPickle, SweptVariable};
use super::error::ReplError;
use super::instance::{Instance, encode};
use super::link::Event;
use super::wire::{Command, Done, FunctionEntry, Note, Reply, SoFar, SweepReply, SweptEntry};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The most that one sweep may hold, in bytes.
const SWEEP_LIMIT: usize = 1 << 30;

/// What the kernel sent during one sweep.
#[derive(Default)]
struct Sent {
    values: HashMap<String, (SweptEntry, Arc<[u8]>)>,
    bytes: usize,
    /// What it is doing.
    saving: Option<Note>,
    /// Functions and imports, once they are swept.
    so_far: Option<SoFar>,
}

impl Sent {
    fn take(&mut self, message: &[u8], limit: usize) -> Result<(), ReplError> {
        let nonsense = |why: &str| ReplError::Protocol(why.into());
        let end = memchr::memchr(b'\n', message).ok_or_else(|| nonsense("a value without a name"))?;
        let (entry, rest) = message
            .split_at_checked(end)
            .ok_or_else(|| nonsense("a value without a name"))?;
        let entry: SweptEntry = serde_json::from_slice(entry).map_err(|error| nonsense(&error.to_string()))?;
        let pickle = rest.get(1..).unwrap_or_default();
        self.bytes += pickle.len();
        if pickle.len() > limit || self.bytes > SWEEP_LIMIT {
            return Err(nonsense("more data than a sweep may hold"));
        }
        self.values.insert(entry.name.clone(), (entry, pickle.into()));
        Ok(())
    }

    fn note(&mut self, data: &[u8]) {
        match serde_json::from_slice::<SoFar>(data) {
            Ok(so_far) => self.so_far = Some(so_far),
            Err(_) => self.saving = serde_json::from_slice(data).ok(),
        }
    }

    /// What a sweep came to that ended for this reason; an error where nothing can be told apart.
    fn cut(self, why: String, start: Instant) -> Result<Sweep, ReplError> {
        let doing = "saving variables".to_owned();
        let Some((saving, so_far)) = self.saving.zip(self.so_far) else {
            return Err(ReplError::Lost { doing, why });
        };
        let sent = self.values.into_values();
        let variables = sent.map(|(entry, pickle)| described(entry, SweptPickle::Changed(pickle)));
        Ok(Sweep {
            variables: variables.collect::<Result<_, _>>()?,
            functions: functions(so_far.functions),
            imports: so_far.imports,
            duration: start.elapsed(),
            lost: Some(SweepLost { name: saving.name, why }),
            ..Sweep::default()
        })
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
    let mut sent = Sent::default();
    let waiting = wait(&mut instance, number, limits, &mut sent);
    let waited = tokio::time::timeout(limits.housekeeping_timeout, waiting).await;
    let reply = waited.unwrap_or_else(|_| {
        Err(Ending::Lost(format!(
            "it took more than {} s",
            limits.housekeeping_timeout.as_secs()
        )))
    });
    match reply {
        Ok(reply) => (assemble(reply, sent, start), Some(instance)),
        Err(Ending::Error(error)) => (Err(error), None),
        Err(Ending::Lost(why)) => {
            let ended = instance.end().await;
            let why = if why.is_empty() { ended } else { why };
            (sent.cut(why, start), None)
        }
    }
}

/// How a sweep did not come to its end.
enum Ending {
    Error(ReplError),
    /// The instance ended (the reason is its own) or is to be ended for the reason given.
    Lost(String),
}

async fn wait(instance: &mut Instance, number: u64, limits: &Limits, sent: &mut Sent) -> Result<SweepReply, Ending> {
    while let Some(event) = instance.event().await {
        match event {
            Event::Note(data) => sent.note(&data),
            Event::Value(data) => sent.take(&data, limits.pickle_bytes).map_err(Ending::Error)?,
            Event::Final(_) => {}
            Event::Done(data) => {
                let done: Done<SweepReply> = serde_json::from_slice(&data)
                    .map_err(|error| Ending::Error(ReplError::Protocol(error.to_string())))?;
                match done.reply {
                    _ if done.number != number => {}
                    Reply::Good(reply) => return Ok(reply),
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
    let dropped = reply.dropped.into_iter();
    Ok(Sweep {
        variables,
        functions: functions(reply.functions),
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
        lost: None,
    })
}

fn functions(entries: Vec<FunctionEntry>) -> Vec<SweptFunction> {
    let swept = |entry: FunctionEntry| SweptFunction {
        name: entry.name,
        source: entry.source,
    };
    entries.into_iter().map(swept).collect()
}

fn swept(entry: SweptEntry, sent: &mut Sent) -> Result<SweptVariable, ReplError> {
    let pickle = match entry.sent {
        true => SweptPickle::Changed(sent.values.remove(&entry.name).ok_or_else(|| missing(&entry.name))?.1),
        false => SweptPickle::Unchanged,
    };
    described(entry, pickle)
}

fn missing(name: &str) -> ReplError {
    ReplError::Protocol(format!("the value of {name} did not arrive"))
}

fn described(entry: SweptEntry, pickle: SweptPickle) -> Result<SweptVariable, ReplError> {
    let digest = parse_digest(&entry.digest).ok_or_else(|| missing(&entry.name))?;
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

    /// As the kernel sends the value of `x`.
    fn message(pickle: &str) -> Vec<u8> {
        let entry = r#"{"name":"x","sent":true,"digest":"DIGEST","type":"int","preview":"1","comment":null,"note":null,"committed":false}"#;
        format!("{}\n{pickle}", entry.replace("DIGEST", &"0a".repeat(32))).into_bytes()
    }

    #[test]
    fn a_value_that_was_sent_is_changed_and_another_is_not() {
        let digest = "0a".repeat(32);
        let changed = swept(entry(true, &digest), &mut sent(&message("pickle"))).unwrap();
        assert_eq!(changed.pickle, SweptPickle::Changed(b"pickle"[..].into()));
        assert_eq!(changed.digest, [10; 32]);
        let same = swept(entry(false, &digest), &mut Sent::default()).unwrap();
        assert_eq!(same.pickle, SweptPickle::Unchanged);
    }

    #[test]
    fn a_sweep_that_was_cut_has_what_was_sent_before() {
        let mut cut = sent(&message("pickle"));
        cut.note(br#"{"kind":"variable","name":"x"}"#);
        cut.note(br#"{"functions":[{"name":"f","source":"def f(): pass"}],"imports":["import re"]}"#);
        cut.note(br#"{"kind":"variable","name":"deep"}"#);
        let sweep = cut.cut("the stack is full".into(), Instant::now()).unwrap();
        assert_eq!(sweep.variables[0].pickle, SweptPickle::Changed(b"pickle"[..].into()));
        assert_eq!((sweep.functions[0].name.as_str(), sweep.imports.len()), ("f", 1));
        let lost = sweep.lost.unwrap().to_string();
        assert!(lost.contains("`deep`") && lost.ends_with("the stack is full"), "{lost}");
        assert!(Sent::default().cut("early".into(), Instant::now()).is_err());
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
            Sent::default().take(&message("0123456789"), 9).is_err(),
            "larger than the limit"
        );
    }
}
