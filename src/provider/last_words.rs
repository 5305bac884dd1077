//! What a program wrote to standard error last: it says why one failed that was started for others to use.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;

/// The end of a program's standard error, read for as long as it writes.
#[derive(Clone)]
pub(crate) struct LastWords {
    tail: Arc<Mutex<Vec<u8>>>,
    ended: watch::Receiver<bool>,
}

impl LastWords {
    /// Listens, and keeps at most the last `most` bytes.
    pub(crate) fn listen(mut errors: ChildStderr, most: usize) -> Self {
        let tail: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (ends, ended) = watch::channel(false);
        let kept = tail.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut buffer).await {
                let mut tail = kept.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let surplus = tail.len().saturating_sub(most);
                tail.drain(..surplus);
            }
            ends.send_replace(true);
        });
        Self { tail, ended }
    }

    /// Waits until it writes no more.
    pub(crate) async fn end(&mut self) {
        let _ = self.ended.wait_for(|ended| *ended).await;
    }

    /// What it wrote last, so far.
    pub(crate) fn heard(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }
}
