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
    /// Values that came together: what is said of each, then their pickles in the same order.
    fn take(&mut self, message: &[u8], limit: usize) -> Result<(), ReplError> {
        let nameless = || ReplError::Protocol("a value without a name".into());
        let end = memchr::memchr(b'\n', message).ok_or_else(nameless)?;
        let (entries, rest) = message.split_at_checked(end).ok_or_else(nameless)?;
        let entries: Vec<SweptEntry> =
            serde_json::from_slice(entries).map_err(|error| ReplError::Protocol(error.to_string()))?;
        let mut pickles = rest.get(1..).unwrap_or_default();
        for entry in entries {
            let (pickle, others) = pickles
                .split_at_checked(entry.bytes)
                .ok_or_else(|| missing(&entry.name))?;
            pickles = others;
            self.bytes += pickle.len();
            if pickle.len() > limit || self.bytes > SWEEP_LIMIT {
                return Err(ReplError::Protocol("more data than a sweep may hold".into()));
            }
            self.values.insert(entry.name.clone(), (entry, pickle.into()));
        }
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
        Ok(Sweep {
            variables: variables(self.values, Vec::new())?,
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

fn assemble(reply: SweepReply, sent: Sent, start: Instant) -> Result<Sweep, ReplError> {
    if sent.values.len() != reply.sent {
        let told = format!("{} values were sent, and {} arrived", reply.sent, sent.values.len());
        return Err(ReplError::Protocol(told));
    }
    let dropped = reply.dropped.into_iter();
    Ok(Sweep {
        variables: variables(sent.values, reply.same)?,
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

/// What was sent and what is as it was, in the order of the namespace.
fn variables(
    sent: HashMap<String, (SweptEntry, Arc<[u8]>)>,
    same: Vec<SweptEntry>,
) -> Result<Vec<SweptVariable>, ReplError> {
    let sent = sent.into_values();
    let sent = sent.map(|(entry, pickle)| (entry, SweptPickle::Changed(pickle)));
    let same = same.into_iter().map(|entry| (entry, SweptPickle::Unchanged));
    let mut all: Vec<_> = sent.chain(same).collect();
    all.sort_by_key(|(entry, _)| entry.place);
    all.into_iter()
        .map(|(entry, pickle)| described(entry, pickle))
        .collect()
}

fn functions(entries: Vec<FunctionEntry>) -> Vec<SweptFunction> {
    let swept = |entry: FunctionEntry| SweptFunction {
        name: entry.name,
        source: entry.source,
    };
    entries.into_iter().map(swept).collect()
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

    fn entry(name: &str, place: usize, bytes: usize) -> String {
        format!(
            r#"{{"name":"{name}","place":{place},"bytes":{bytes},"digest":"{}","type":"int","preview":"1","comment":null,"note":null,"committed":false}}"#,
            "0a".repeat(32)
        )
    }

    /// As the kernel sends values.
    fn message(values: &[(&str, usize, &str)]) -> Vec<u8> {
        let entries = values
            .iter()
            .map(|(name, place, pickle)| entry(name, *place, pickle.len()));
        let entries = entries.collect::<Vec<_>>().join(",");
        let pickles = values.iter().map(|(_, _, pickle)| *pickle).collect::<String>();
        format!("[{entries}]\n{pickles}").into_bytes()
    }

    fn sent(values: &[(&str, usize, &str)]) -> Sent {
        let mut sent = Sent::default();
        sent.take(&message(values), 100).unwrap();
        sent
    }

    fn reply(same: &str, sent: usize) -> SweepReply {
        let json = format!(r#"{{"same":[{same}],"sent":{sent},"functions":[],"dropped":[],"imports":[]}}"#);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn values_that_came_together_are_told_apart_and_in_the_order_of_the_namespace() {
        let mut sent = sent(&[("c", 2, "pickle"), ("a", 0, "")]);
        sent.take(&message(&[("d", 3, "line\nline")]), 100).unwrap();
        let swept = assemble(reply(&entry("b", 1, 0), 3), sent, Instant::now()).unwrap();
        let told: Vec<_> = swept
            .variables
            .iter()
            .map(|v| (v.name.as_str(), v.pickle.clone()))
            .collect();
        let changed = |pickle: &[u8]| SweptPickle::Changed(pickle.into());
        let wanted = [
            ("a", changed(b"")),
            ("b", SweptPickle::Unchanged),
            ("c", changed(b"pickle")),
            ("d", changed(b"line\nline")),
        ];
        assert_eq!(told, wanted);
        assert_eq!(swept.variables[0].digest, [10; 32]);
    }

    #[test]
    fn a_sweep_that_was_cut_has_what_was_sent_before() {
        let mut cut = sent(&[("x", 0, "pickle")]);
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
        let assembled = |same: &str, count| assemble(reply(same, count), Sent::default(), Instant::now());
        assert!(assembled("", 1).is_err(), "sent, but not there");
        for digest in ["", "0a", "zz", &"é".repeat(32)] {
            let same = entry("x", 0, 0).replace(&"0a".repeat(32), digest);
            assert!(assembled(&same, 0).is_err(), "{digest}");
        }
        assert!(Sent::default().take(b"no name", 100).is_err());
        let short = message(&[("x", 0, "0123456789")]);
        assert!(Sent::default().take(&short[..short.len() - 1], 100).is_err(), "cut");
        assert!(Sent::default().take(&short, 9).is_err(), "larger than the limit");
    }
}
