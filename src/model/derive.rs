//! Deriving the runs of many transcripts, each on its own: on all cores, where there is enough to do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::lines::LogLines;
use super::tree::derive_run;
use super::{LogId, Problem, Run};

/// Lines below which threads cost more than they save.
const MANY: usize = 10_000;

/// A transcript's run and what is wrong with it.
pub(super) type Derived = (LogId, Run, Vec<Problem>);

/// The runs of all these transcripts, in any order.
pub(super) fn derive_all(logs: &[(LogId, &LogLines)]) -> Vec<Derived> {
    let derive = |(id, lines): &(LogId, &LogLines)| {
        let (run, problems) = derive_run(*id, lines);
        (*id, run, problems)
    };
    let lines: usize = logs.iter().map(|(_, lines)| lines.lines().len()).sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(logs.len());
    if threads < 2 || lines < MANY {
        return logs.iter().map(derive).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || -> Vec<Derived> {
        std::iter::from_fn(|| logs.get(next.fetch_add(1, Ordering::Relaxed)))
            .map(derive)
            .collect()
    };
    thread::scope(|scope| {
        // Where the system gives no more threads, this one does it all.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(derived) => all.extend(derived),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}
