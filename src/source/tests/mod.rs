//! Sources over real directories.

mod calls;
mod changes;
mod growth;
mod listings;
mod lists;
mod scans;
mod searches;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::*;
use crate::model::{Event, Session};

/// A session directory, and the model of what was told of it.
struct Watched {
    dir: tempfile::TempDir,
    session: Session,
    source: Source,
}

const STATE: &str = r#"{"version":2,"queries":[{"query":"q","final":1,"log_file":"logs/a.jsonl","run_id":"r"}]}"#;

fn line(run: &str, step: u64) -> String {
    format!(
        "{{\"run_id\":\"{run}\",\"event_type\":\"execution_result\",\"step\":{step},\"code\":\"x = {step}\",\"output\":\"Found {run}\\nAGI\",\"usage\":{{\"total_tokens\":10}}}}\n"
    )
}

fn options() -> OpenOptions {
    OpenOptions {
        use_cache: false,
        tree: None,
    }
}

impl Watched {
    fn new(state: &str, logs: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("logs")).unwrap();
        fs::write(dir.path().join("state.json"), state).unwrap();
        for (name, text) in logs {
            fs::write(dir.path().join("logs").join(name), text).unwrap();
        }
        let Opened::Session { events, source } = open(dir.path(), &options()).unwrap() else {
            panic!("a session");
        };
        let mut watched = Self {
            dir,
            session: Session::default(),
            source,
        };
        watched.take(events);
        let mut scanned = Vec::new();
        watched
            .source
            .scan(&Stop::default(), &mut |events| scanned.extend(events));
        watched.take(scanned);
        watched
    }

    fn take(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.session.apply(event));
        self.session.settle();
    }

    /// Takes what changed; whether anything did.
    fn refresh(&mut self) -> bool {
        let events = self.source.refresh(&Stop::default());
        let changed = !events.is_empty();
        self.take(events);
        changed
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn append(&self, path: &str, text: &str) {
        let mut file = fs::File::options()
            .append(true)
            .create(true)
            .open(self.path(path))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn steps(&self) -> Vec<u64> {
        self.session
            .queries
            .iter()
            .map(|query| query.run.totals.steps)
            .collect()
    }

    fn problems(&self) -> Vec<&str> {
        self.session
            .problems
            .iter()
            .map(|problem| problem.what.as_str())
            .collect()
    }
}

fn replace(path: &Path, text: &str) {
    let temporary = path.with_extension("new");
    fs::write(&temporary, text).unwrap();
    fs::rename(temporary, path).unwrap();
}
