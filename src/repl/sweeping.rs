//! Takes a sweep out of an instance, and tells which values are the ones that the owner already has.

use super::api::{Dropped, Limits, Pickle, RestoreSet, Sweep, SweptFunction, SweptPickle, SweptVariable};
use super::error::ReplError;
use super::instance::{Instance, encode};
use super::link::Event;
use super::wire::{Command, Done, Note, Reply, SweepReply, SweptEntry};
use base64::Engine as _;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The most that one sweep may hold, in bytes.
const SWEEP_LIMIT: usize = 1 << 30;

/// Digests of the values that the owner has.
#[derive(Default)]
pub(super) struct Known {
    digests: HashMap<String, [u8; 32]>,
    /// The values of the last restore, until the first sweep has taken their digests.
    restored: Option<Arc<RestoreSet>>,
}

impl Known {
    pub(super) fn after_restore(restore: Arc<RestoreSet>) -> Self {
        Self {
            digests: HashMap::new(),
            restored: Some(restore),
        }
    }

    /// Takes the digests of restored values, once.
    fn settle(&mut self) {
        let Some(restored) = self.restored.take() else { return };
        for variable in &restored.variables {
            let digest = match &variable.pickle {
                Pickle::Bytes(bytes) => Some(digest(bytes)),
                Pickle::Base64(text) => {
                    let decoded = base64::engine::general_purpose::STANDARD.decode(text.as_bytes());
                    decoded.ok().map(|bytes| digest(&bytes))
                }
            };
            if let Some(digest) = digest {
                self.digests.insert(variable.name.clone(), digest);
            }
        }
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

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
pub(super) async fn sweep(
    mut instance: Instance,
    limits: &Limits,
    known: &mut Known,
) -> (Result<Sweep, ReplError>, Option<Instance>) {
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
            let sweep = assemble(reply, sent, known, start);
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

fn assemble(reply: SweepReply, mut sent: Sent, known: &mut Known, start: Instant) -> Result<Sweep, ReplError> {
    known.settle();
    let mut digests = HashMap::with_capacity(reply.variables.len());
    let mut variables = Vec::with_capacity(reply.variables.len());
    for entry in reply.variables {
        let variable = swept(entry, &mut sent, known)?;
        digests.insert(variable.name.clone(), variable.digest);
        variables.push(variable);
    }
    known.digests = digests;
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

fn swept(entry: SweptEntry, sent: &mut Sent, known: &Known) -> Result<SweptVariable, ReplError> {
    let before = known.digests.get(&entry.name).copied();
    let missing = || ReplError::Protocol(format!("the value of {} did not arrive", entry.name));
    let (pickle, digest) = if entry.sent {
        let bytes = sent.values.remove(&entry.name).ok_or_else(missing)?;
        let digest = digest(&bytes);
        let same = before == Some(digest);
        (
            if same {
                SweptPickle::Unchanged
            } else {
                SweptPickle::Changed(bytes)
            },
            digest,
        )
    } else {
        (SweptPickle::Unchanged, before.ok_or_else(missing)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, sent: bool) -> SweptEntry {
        SweptEntry {
            name: name.into(),
            sent,
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
    fn a_value_with_the_digest_that_is_known_is_unchanged() {
        let mut known = Known::default();
        known.digests.insert("x".into(), digest(b"pickle"));
        let same = swept(entry("x", true), &mut sent(b"x\npickle"), &known).unwrap();
        assert_eq!(same.pickle, SweptPickle::Unchanged);
        let other = swept(entry("x", true), &mut sent(b"x\nother"), &known).unwrap();
        assert_eq!(other.pickle, SweptPickle::Changed(b"other"[..].into()));
        assert_eq!(other.digest, digest(b"other"));
    }

    #[test]
    fn a_kernel_that_lies_about_a_value_is_an_error() {
        let mut none = Sent::default();
        assert!(
            swept(entry("x", false), &mut none, &Known::default()).is_err(),
            "unchanged, but never seen"
        );
        assert!(
            swept(entry("x", true), &mut none, &Known::default()).is_err(),
            "sent, but not there"
        );
        assert!(Sent::default().take(b"no name", 100).is_err());
        assert!(
            Sent::default().take(b"x\n0123456789", 9).is_err(),
            "larger than the limit"
        );
    }
}
