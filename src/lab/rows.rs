//! Rows of a log, decoded by several threads where there are many: the database is read by one, and what a long
//! session's payloads say takes longer to decode than to read.

use crate::model::Time;
use crate::store::{EventRow, Kind, Select, Store, StoreError};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Rows that are decoded together: so many that waking who decodes them costs little.
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

type Decoded<T> = Vec<(Place, T)>;

/// Rows that are decoded together, their payloads in one text: a payload of its own for each would be made by one
/// thread and freed by another, and both would wait for the allocator.
#[derive(Default)]
struct Batch {
    /// Each row with where its payload ends.
    rows: Vec<(Place, usize)>,
    payloads: String,
}

impl Batch {
    fn push(&mut self, row: &EventRow<'_>) {
        self.payloads.push_str(row.payload);
        self.rows.push((Place::of(row), self.payloads.len()));
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.payloads.clear();
    }

    fn decode<T>(&self, decode: &impl Fn(&EventRow<'_>) -> Option<T>) -> Decoded<T> {
        let mut begin = 0;
        let one = |(place, end): &(Place, usize)| {
            let payload = self.payloads.get(std::mem::replace(&mut begin, *end)..*end)?;
            Some((*place, decode(&place.row(payload))?))
        };
        let mut decoded = Vec::with_capacity(self.rows.len());
        decoded.extend(self.rows.iter().filter_map(one));
        decoded
    }
}

/// What the reading thread and those that decode share.
struct Shared<T> {
    waiting: Mutex<Receiver<(usize, Batch)>>,
    done: Mutex<Vec<(usize, Decoded<T>)>>,
    /// Decoded ones, to be filled again.
    spare: Mutex<Vec<Batch>>,
}

/// Decodes what `select` picks, and gives it in order; what `decode` makes nothing of is left out.
pub(super) fn decoded<T, F>(
    store: &Store,
    session: &str,
    select: &Select,
    decode: F,
) -> Result<impl Iterator<Item = (Place, T)> + use<T, F>, StoreError>
where
    T: Send,
    F: Fn(&EventRow<'_>) -> Option<T> + Sync,
{
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let (batches, waiting) = sync_channel(MOST_WAITING);
    let shared = Shared {
        waiting: Mutex::new(waiting),
        done: Mutex::default(),
        spare: Mutex::default(),
    };
    let rest = thread::scope(|scope| {
        let (mut number, mut batch, mut workers) = (0, Batch::default(), 0);
        store.events.scan(session, select, &mut |row| {
            batch.push(&row);
            if batch.rows.len() == BATCH {
                if workers < threads {
                    let work = || shared.work(&decode);
                    let started = thread::Builder::new().spawn_scoped(scope, work);
                    workers += usize::from(started.is_ok());
                }
                let next = locked(&shared.spare).pop().unwrap_or_default();
                let mut full = std::mem::replace(&mut batch, next);
                if workers > 0 {
                    let _to_workers = batches.send((number, full));
                } else {
                    // The system gives no more threads.
                    locked(&shared.done).push((number, full.decode(&decode)));
                    full.clear();
                    locked(&shared.spare).push(full);
                }
                number += 1;
            }
            true
        })?;
        drop(batches);
        // It does its part of what waits, too.
        shared.work(&decode);
        Ok::<_, StoreError>((number, batch.decode(&decode)))
    })?;
    let mut done = shared.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.push(rest);
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().flat_map(|(_, decoded)| decoded))
}

impl<T> Shared<T> {
    fn work(&self, decode: &impl Fn(&EventRow<'_>) -> Option<T>) {
        let next = || locked(&self.waiting).recv().ok();
        while let Some((number, mut batch)) = next() {
            let decoded = batch.decode(decode);
            locked(&self.done).push((number, decoded));
            batch.clear();
            locked(&self.spare).push(batch);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            let found: Vec<_> = decoded(&store, &id, &Select::all(), output).unwrap().collect();
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
