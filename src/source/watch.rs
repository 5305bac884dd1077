//! Waiting until something changes in directories: told by the system where it can, else by looking every second.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::disk::descriptors::need_threads;

use super::Stop;

/// Between looks, where the system tells nothing.
const POLL: Duration = Duration::from_secs(1);
/// Changes come in bursts: so much is waited for the rest of one.
const BURST: Duration = Duration::from_millis(30);
/// Threads that must be there for a watcher: its own, and some that others may take meanwhile.
const THREADS: usize = 4;
/// How long a stop may go unnoticed.
const HEARTBEAT: Duration = Duration::from_millis(200);

/// Watches directories.
#[derive(Debug)]
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    told: Receiver<()>,
    tell: Sender<()>,
    watched: HashSet<PathBuf>,
    /// A directory that cannot be watched: look every second.
    blind: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self::on(channel())
    }

    /// Told by this channel, whose sender others have, too.
    pub(super) fn on((tell, told): (Sender<()>, Receiver<()>)) -> Self {
        let watcher = by_system(tell.clone());
        Self {
            blind: watcher.is_none(),
            watcher,
            told,
            tell,
            watched: HashSet::new(),
        }
    }

    /// Wakes [`Watch::wait`] as a change does.
    pub(super) fn teller(&self) -> Sender<()> {
        self.tell.clone()
    }

    /// The system does not tell of all changes: it is looked every second.
    pub(super) fn is_blind(&self) -> bool {
        self.blind
    }

    /// Watches these directories from now on. Those that vanished and came back are watched again. Whether there
    /// are some that were not watched before.
    pub(super) fn watch(&mut self, directories: HashSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let mut any_new = false;
        for gone in self.watched.difference(&directories) {
            // It may have been removed with its directory.
            let _ = watcher.unwatch(gone);
        }
        self.watched.retain(|watched| directories.contains(watched));
        self.blind = false;
        for directory in directories {
            if !directory.is_dir() {
                self.watched.remove(&directory);
                self.blind = true;
            } else if is_remote(&directory) {
                self.blind = true;
            } else if !self.watched.contains(&directory) {
                match watcher.watch(&directory, RecursiveMode::NonRecursive) {
                    Ok(()) => any_new |= self.watched.insert(directory),
                    Err(_) => self.blind = true,
                }
            }
        }
        any_new
    }

    /// Waits until something may have changed, `limit` has passed, or `stop`; false after `stop`. Between a change and
    /// the return, `rest` passes at least.
    pub(super) fn wait(&mut self, stop: &Stop, limit: Option<Duration>, rest: Duration) -> bool {
        let limit = if self.blind {
            Some(limit.unwrap_or(POLL).min(POLL))
        } else {
            limit
        };
        let start = Instant::now();
        loop {
            if stop.is_stopped() {
                return false;
            }
            let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
            if left == Some(Duration::ZERO) {
                return true;
            }
            match self.told.recv_timeout(left.unwrap_or(HEARTBEAT).min(HEARTBEAT)) {
                Ok(()) => {
                    std::thread::sleep(rest.clamp(BURST, POLL));
                    while self.told.try_recv().is_ok() {}
                    return !stop.is_stopped();
                }
                // It is never disconnected: a sender is held here.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

/// What the system tells of changes, if it can: it takes a thread, and without one the library would panic.
fn by_system(tell: Sender<()>) -> Option<RecommendedWatcher> {
    need_threads(THREADS).ok()?;
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let reading = event.is_ok_and(|event| event.kind.is_access());
        if !reading {
            // Whoever watched is gone: nobody is to be told.
            let _ = tell.send(());
        }
    });
    watcher.ok()
}

/// The system tells nothing of what others change on network and user-space file systems.
#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    /// NFS, SMB, SMB2, CIFS, FUSE, 9P, Ceph, AFS.
    const REMOTE: [u32; 8] = [
        0x6969,
        0x517B,
        0xFE53_4D42,
        0xFF53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x00C3_6400,
        0x5346_414F,
    ];
    let kind = rustix::fs::statfs(path).map(|seen| seen.f_type as u32);
    kind.is_ok_and(|kind| REMOTE.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_path: &Path) -> bool {
    false
}
