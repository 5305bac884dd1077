//! Recording the demo session: the story's queries, asked one after the other in one session of the real engine.
//!
//! Shared by the program that records and by the test that compares.

mod dated;
mod log;
mod story;

use fast_rlm::engine::{RunEvent, What};
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::store::StoreRows;
use fast_rlm::{Config, Session};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, mpsc};
use story::Query;

/// What can go wrong: a story that does not parse, a query that does not end as it should.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;
/// A session's files, by path within its directory.
pub(crate) type Files = BTreeMap<String, String>;

/// How long the scripted model takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As long as the scripts say.
    AsWritten,
    /// No time.
    #[allow(dead_code, reason = "for the test")]
    AtOnce,
}

/// Asks every query of the story and returns the session's files, dated as the story says.
pub(crate) fn record(pace: Pace) -> Result<Files, Error> {
    let dir = tempfile::tempdir()?;
    let queries = story::queries()?;
    let mut files = Files::new();
    for query in &queries {
        let session = Session::open(dir.path(), None)?.config(config(query, pace)?);
        files = if query.killed {
            until_killed(session, query)?
        } else {
            ask(&session, query)?;
            read(dir.path())?
        };
    }
    let starts: Vec<_> = queries.iter().map(Query::starts).collect::<Result<_, _>>()?;
    dated::shift(files, &starts)
}

fn config(query: &Query, pace: Pace) -> Result<Config, Error> {
    let settings = Settings {
        script_delays: pace == Pace::AsWritten,
        ..Settings::default()
    };
    let config = Config::default().provider(Arc::new(Scripted::from_yaml(query.script()?, &settings)?));
    Ok(match query.max_calls {
        Some(calls) => config.max_calls_per_subagent(calls),
        None => config,
    })
}

fn ask(session: &Session, query: &Query) -> Result<(), Error> {
    match session.query(query.text.as_str()) {
        Ok(_) if query.max_calls.is_none() => Ok(()),
        Err(fast_rlm::Error::Run(_)) if query.max_calls.is_some() => Ok(()),
        Ok(output) => Err(format!("a limit should have stopped {:?}: {}", query.script, output.text()).into()),
        Err(error) => Err(format!("{}: {error}", query.script).into()),
    }
}

/// The session's files as they are while one sub-agent has ended and the other one waits for its second reply: a kill
/// leaves what is on the disk at its instant, no more.
fn until_killed(session: Session, query: &Query) -> Result<Files, Error> {
    let dir = session.dir().to_owned();
    let (told, events) = mpsc::channel();
    let session = session.watch(move |event: RunEvent| {
        let awaited = matches!(event.what, What::Ended { .. } | What::CallStarted { step: 2 });
        if awaited && event.agent.depth == 1 {
            // Nobody listens only after the files were read.
            let _ = told.send(());
        }
    });
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| session.query(query.text.as_str()));
        let reached = events.recv().and_then(|()| events.recv());
        let files = read(&dir);
        session.cancel();
        drop(asked.join());
        reached?;
        files
    })
}

/// state.json, the transcripts and the event log of the session in `dir`.
fn read(dir: &Path) -> Result<Files, Error> {
    let mut files = Files::from([(
        "state.json".to_owned(),
        std::fs::read_to_string(dir.join("state.json"))?,
    )]);
    for entry in std::fs::read_dir(dir.join("logs"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.insert(format!("logs/{name}"), std::fs::read_to_string(&path)?);
    }
    let rows = StoreRows::read(dir)?;
    files.insert("events.sql".to_owned(), rows.events);
    files.insert("flow.sql".to_owned(), rows.flow);
    Ok(files)
}
