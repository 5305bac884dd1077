//! The session behind the screens: read whole in the background, then followed while it grows.

use super::inputs::{Incoming, Sender};
use crate::source::{Source, Stop};
use crate::tui::content::highlight;

/// Tells the events of one session from those of another that was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeedId(u64);

/// Reads a session on a thread of its own until it is dropped.
pub(super) struct Feed {
    id: FeedId,
    source: Source,
    stop: Stop,
}

impl Feed {
    /// Begins to read; events are sent in batches.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(super) fn start(before: FeedId, source: Source, sender: Sender) -> std::io::Result<Self> {
        let id = FeedId(before.0 + 1);
        let feed = Self {
            id,
            source,
            stop: Stop::default(),
        };
        let (source, stop) = (feed.source.clone(), feed.stop.clone());
        let read = move || {
            let mut send = |events| {
                let _ = sender.send(Incoming::Events(id, events));
            };
            source.scan(&stop, &mut send);
            highlight::prepare();
            source.follow(&stop, &mut send);
        };
        std::thread::Builder::new().name("feed".into()).spawn(read)?;
        Ok(feed)
    }

    pub(super) fn id(&self) -> FeedId {
        self.id
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
