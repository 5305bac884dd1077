//! The session behind the screens: read whole in the background, then followed while it grows.

use super::inputs::{Incoming, Sender};
use crate::source::{Source, Stop};
use crate::tui::content::highlight;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// What was read is shown within this time; whatever else there is to do waits for it, and for no longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells the events of one session from those of another that was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeedId(u64);

/// Reads a session on a thread of its own until it is dropped.
pub(super) struct Feed {
    id: FeedId,
    source: Source,
    stop: Stop,
    shown: SyncSender<()>,
}

impl Feed {
    /// Begins to read; events are sent in batches.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(super) fn start(before: FeedId, source: Source, sender: Sender) -> std::io::Result<Self> {
        let id = FeedId(before.0 + 1);
        let (shown, is_shown) = sync_channel(1);
        let feed = Self {
            id,
            source,
            stop: Stop::default(),
            shown,
        };
        let (source, stop) = (feed.source.clone(), feed.stop.clone());
        let read = move || {
            // Nobody listens any more when the program ends.
            let send = |incoming| drop(sender.send(incoming));
            source.scan(&stop, &mut |events| send(Incoming::Read(id, events)));
            send(Incoming::AllRead(id));
            // The cores are the screen's until the totals stand there.
            let _ = is_shown.recv_timeout(PATIENCE);
            highlight::prepare();
            source.follow(&stop, &mut |events| send(Incoming::Events(id, events)));
        };
        std::thread::Builder::new().name("feed".into()).spawn(read)?;
        Ok(feed)
    }

    pub(super) fn id(&self) -> FeedId {
        self.id
    }

    /// All that was read is on the screen.
    pub(super) fn shown(&self) {
        // Nobody waits for it any more, or has been told.
        let _ = self.shown.try_send(());
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
