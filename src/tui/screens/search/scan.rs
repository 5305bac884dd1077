//! The search itself: held texts at once, bodies by several threads, hits in batches as they come.

use super::hit::{Hit, Part};
use super::plan::{Plan, Stored};
use super::prefilter::Prefilter;
use crate::model::BodyRef;
use crate::tui::effect::Stop;
use crate::tui::pattern::Pattern;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Bodies that a thread takes at once.
const TAKE: usize = 32;
/// Batches come at most this often, but for the first.
const EVERY: Duration = Duration::from_millis(40);
/// Hits that are kept; a list of more helps nobody.
pub(super) const MOST: usize = 10_000;

/// Some hits, and how far the search is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// New hits, in no order.
    pub hits: Vec<Hit>,
    /// Bytes looked through so far.
    pub bytes: u64,
    /// Bytes there are.
    pub all: u64,
    /// Bodies that could not be read so far.
    pub unreadable: u64,
    /// No more will come.
    pub done: bool,
}

/// Where bodies come from. One reader serves one thread.
pub trait Reader {
    /// The line at `at`, as it stands in the file; `false` when it cannot be read.
    fn line(&mut self, at: BodyRef, into: &mut Vec<u8>) -> bool;

    /// Code, output and reasoning of a line.
    fn decode(&mut self, line: &[u8]) -> [(Part, String); 3];
}

/// Looks through `plan`, and hands out what it finds. Returns when all was looked through, [`MOST`] hits were found,
/// or `stop` says so; the last batch is `done` unless it was stopped.
pub fn scan<R: Reader>(
    plan: &Plan,
    pattern: &Pattern,
    reader: impl Fn() -> R + Sync,
    stop: &Stop,
    emit: &mut dyn FnMut(Batch),
) {
    let all = plan.bytes();
    let held: Vec<_> = plan
        .held
        .iter()
        .filter_map(|held| Hit::find(pattern, &held.text, held.spot.clone(), held.part, &held.title))
        .take(MOST)
        .collect();
    let mut found = held.len();
    emit(Batch {
        hits: held,
        all,
        ..Batch::default()
    });
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8);
    let mut gathered = Gathered::new(all);
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..threads {
            let (send, next, reader) = (send.clone(), &next, &reader);
            scope.spawn(move || look(plan, pattern, reader(), next, stop, &send));
        }
        drop(send);
        while let Ok(look) = receive.recv() {
            found += look.hits.len();
            gathered.add(look);
            if found >= MOST {
                next.store(plan.stored.len(), Ordering::Relaxed);
            }
            if gathered.is_due() && !stop.is_stopped() {
                emit(gathered.take());
            }
        }
    });
    if !stop.is_stopped() {
        emit(Batch {
            done: true,
            ..gathered.take()
        });
    }
}

/// What a thread found in the bodies that it took.
#[derive(Default)]
struct Look {
    hits: Vec<Hit>,
    bytes: u64,
    unreadable: u64,
}

/// One thread: takes bodies until there are none.
fn look(plan: &Plan, pattern: &Pattern, mut reader: impl Reader, next: &AtomicUsize, stop: &Stop, send: &Sender<Look>) {
    let prefilter = Prefilter::new(pattern);
    let mut line = Vec::new();
    while !stop.is_stopped() {
        let start = next.fetch_add(TAKE, Ordering::Relaxed).min(plan.stored.len());
        let end = (start + TAKE).min(plan.stored.len());
        let Some(mine) = plan.stored.get(start..end).filter(|mine| !mine.is_empty()) else {
            return;
        };
        let mut found = Look::default();
        for stored in mine {
            found.bytes += stored.at.len;
            line.clear();
            if !reader.line(stored.at, &mut line) {
                found.unreadable += 1;
            } else if prefilter.admits(&line) {
                found.hits.extend(hits(pattern, stored, reader.decode(&line)));
            }
        }
        if send.send(found).is_err() {
            return;
        }
    }
}

fn hits(pattern: &Pattern, stored: &Stored, texts: [(Part, String); 3]) -> impl Iterator<Item = Hit> {
    let find = |(part, text): (Part, String)| Hit::find(pattern, &text, stored.spot.clone(), part, &stored.title);
    texts.into_iter().filter_map(find)
}

/// What the threads found since the last batch.
struct Gathered {
    batch: Batch,
    last: Option<Instant>,
}

impl Gathered {
    fn new(all: u64) -> Self {
        Self {
            batch: Batch {
                all,
                ..Batch::default()
            },
            last: None,
        }
    }

    fn add(&mut self, look: Look) {
        self.batch.hits.extend(look.hits);
        self.batch.bytes += look.bytes;
        self.batch.unreadable += look.unreadable;
    }

    /// The first hits go out at once.
    fn is_due(&self) -> bool {
        match self.last {
            None => !self.batch.hits.is_empty(),
            Some(last) => last.elapsed() >= EVERY,
        }
    }

    /// Everything so far goes out; the counts stay, since they say how far the search is.
    fn take(&mut self) -> Batch {
        self.last = Some(Instant::now());
        let hits = std::mem::take(&mut self.batch.hits);
        Batch {
            hits,
            ..self.batch.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hit::Spot;
    use super::super::plan::Held;
    use super::*;
    use crate::model::LogId;

    /// Lines that are known by number: the odd ones speak of a goat, every tenth is damaged.
    struct Lines;

    impl Reader for Lines {
        fn line(&mut self, at: BodyRef, into: &mut Vec<u8>) -> bool {
            into.extend(format!("line {} {}", at.line, if at.line % 2 == 1 { "Goat" } else { "cat" }).bytes());
            !at.line.is_multiple_of(10)
        }

        fn decode(&mut self, line: &[u8]) -> [(Part, String); 3] {
            let text = String::from_utf8(line.to_vec()).unwrap();
            [
                (Part::Code, text),
                (Part::Output, String::new()),
                (Part::Reasoning, String::new()),
            ]
        }
    }

    fn plan(lines: u64) -> Plan {
        let spot = Spot::Memory { name: "herd".into() };
        let stored = |line| Stored {
            spot: spot.clone(),
            title: format!("step {line}"),
            at: BodyRef {
                log: LogId(0),
                line,
                offset: 0,
                len: 100,
            },
        };
        Plan {
            held: vec![Held {
                spot: spot.clone(),
                part: Part::Memory,
                title: String::new(),
                text: "a goat".into(),
            }],
            stored: (1..=lines).map(stored).collect(),
        }
    }

    fn run(lines: u64, stop: &Stop, mut seen: impl FnMut(&Batch)) -> Vec<Batch> {
        let mut batches = Vec::new();
        let pattern = Pattern::new("goat").unwrap();
        scan(&plan(lines), &pattern, || Lines, stop, &mut |batch| {
            seen(&batch);
            batches.push(batch);
        });
        batches
    }

    #[test]
    fn every_text_is_looked_through_once_and_the_last_batch_says_so() {
        let batches = run(1_000, &Stop::default(), |_| {});
        let hits: Vec<_> = batches.iter().flat_map(|batch| &batch.hits).collect();
        assert_eq!(hits.len(), 501);
        assert_eq!(batches.first().unwrap().hits.first().unwrap().part, Part::Memory);
        let last = batches.last().unwrap();
        assert_eq!(
            (last.done, last.bytes, last.all, last.unreadable),
            (true, 100_000, 100_000, 100)
        );
        assert_eq!(batches.iter().filter(|batch| batch.done).count(), 1);
    }

    #[test]
    fn a_stopped_search_ends_without_saying_that_it_is_done() {
        let stop = Stop::default();
        let batches = run(100_000, &stop, |_| stop.stop());
        assert_eq!((batches.len(), batches[0].done), (1, false));
    }

    #[test]
    fn a_flood_of_hits_ends_the_search() {
        let batches = run(200_000, &Stop::default(), |_| {});
        let hits: usize = batches.iter().map(|batch| batch.hits.len()).sum();
        assert!((MOST..MOST + 2_000).contains(&hits), "{hits}");
        assert!(batches.last().unwrap().bytes < 20_000_000);
    }
}
