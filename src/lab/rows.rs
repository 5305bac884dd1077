//! Rows of a log, decoded by several threads where there are many: the database is read by one, and what a long session's
//! payloads say takes longer to decode than to read.

use crate::model::Time;
use crate::store::{EventRow, Kind, Select, Store, StoreError};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Rows that are decoded together.
const BATCH: usize = 256;
/// More threads wait for the database anyhow.
const MOST_THREADS: usize = 4;

/// Batches that wait to be decoded, before reading waits: a log may be larger than memory.
const MOST_WAITING: usize = 16;

/// Where a row stands, and of what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its place in the session.
    pub(super) stream_seq: u64,
    /// Its kind.
    kind: Kind,
    /// When it happened.
    pub(super) time: Time,
    /// Its turn, 0-based.
    pub(super) turn: Option<u32>,
    /// Its step, 0-based.
    pub(super) step: Option<u32>,
}

impl Place {
    fn of(row: &EventRow<'_>) -> Self {
        Self {
            stream_seq: row.stream_seq,
            kind: row.kind,
            time: row.time,
            turn: row.turn,
            step: row.step,
        }
    }

    fn row<'p>(&self, payload: &'p str) -> EventRow<'p> {
        EventRow {
            stream_seq: self.stream_seq,
            kind: self.kind,
            time: self.time,
            turn: self.turn,
            step: self.step,
            payload,
        }
    }
}

type Batch = Vec<(Place, String)>;
type Decoded<T> = Vec<(Place, T)>;

/// Decodes what `select` picks, and gives it in order; what `decode` makes nothing of is left out.
pub(super) fn decoded<T: Send>(
    store: &Store,
    session: &str,
    select: &Select,
    decode: impl Fn(&EventRow<'_>) -> Option<T> + Sync,
) -> Result<Decoded<T>, StoreError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let done = Mutex::new(Vec::new());
    let (batches, waiting) = sync_channel::<(usize, Batch)>(MOST_WAITING);
    let waiting = Mutex::new(waiting);
    let rest = thread::scope(|scope| {
        let (mut number, mut batch, mut workers) = (0, Batch::new(), 0);
        store.events.scan(session, select, &mut |row| {
            batch.push((Place::of(&row), row.payload.to_owned()));
            if batch.len() == BATCH {
                if workers < threads {
                    workers += 1;
                    scope.spawn(|| work(&waiting, &decode, &done));
                }
                let _to_workers = batches.send((number, std::mem::take(&mut batch)));
                number += 1;
            }
            true
        })?;
        drop(batches);
        // It does its part of what waits, too.
        work(&waiting, &decode, &done);
        Ok::<_, StoreError>((number, decode_batch(&batch, &decode)))
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.push(rest);
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().flat_map(|(_, decoded)| decoded).collect())
}

fn work<T: Send>(
    waiting: &Mutex<Receiver<(usize, Batch)>>,
    decode: &(impl Fn(&EventRow<'_>) -> Option<T> + Sync),
    done: &Mutex<Vec<(usize, Decoded<T>)>>,
) {
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
    while let Some((number, batch)) = next() {
        let decoded = decode_batch(&batch, decode);
        done.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((number, decoded));
    }
}

fn decode_batch<T>(batch: &Batch, decode: &impl Fn(&EventRow<'_>) -> Option<T>) -> Decoded<T> {
    let one = |(place, payload): &(Place, String)| Some((*place, decode(&place.row(payload))?));
    batch.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::payload::StepEnded;
    use crate::store::{Fact, NewEvent, NewSession, Storage};

    #[test]
    fn many_rows_come_in_order_and_all_of_them() {
        let store = Storage::memory().open().unwrap();
        let id = store.events.create_session(&NewSession::minted(1)).unwrap().id;
        let token = store.events.raise_token(&id).unwrap();
        for rows in [0_u32, 1, 255, 1, 1_000] {
            let before = store.events.session(&id).unwrap().events;
            let events: Vec<NewEvent> = (0..rows)
                .map(|row| {
                    let ended = StepEnded {
                        output: format!("row {row}"),
                        ..StepEnded::default()
                    };
                    NewEvent::of_step(u32::try_from(before).unwrap(), row, 1, ended.into())
                })
                .collect();
            store.events.append(&id, token, &events).unwrap();
            let all = store.events.session(&id).unwrap().events;
            let output = |row: &EventRow<'_>| match row.fact() {
                // Every third is of no use to anybody.
                Some(Fact::StepEnded(ended)) if !row.stream_seq.is_multiple_of(3) => Some(ended.output),
                _ => None,
            };
            let found = decoded(&store, &id, &Select::all(), output).unwrap();
            let places: Vec<u64> = found.iter().map(|(place, _)| place.stream_seq).collect();
            let wanted: Vec<u64> = (0..all).filter(|seq| !seq.is_multiple_of(3)).collect();
            assert_eq!(places, wanted);
            assert!(
                found
                    .iter()
                    .all(|(place, output)| *output == format!("row {}", place.step.unwrap()))
            );
        }
    }
}
