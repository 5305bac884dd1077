//! An export as the screen asks for it, run to its end with news of its progress.

use super::{Bodies, ExportError, Format, Options, Progress, Saved, Scope, save};
use crate::model::Session;
use crate::text::secret::Secrets;
use crate::tui::effect::Stop;
use crate::tui::screens::QueryKey;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Progress is told at most this often.
const EVERY: Duration = Duration::from_millis(50);

/// What a person asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The run; `None` for the whole session.
    pub query: Option<QueryKey>,
    /// The format.
    pub format: Format,
    /// As recorded.
    pub raw: bool,
}

/// What the program knows besides.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where the file goes.
    pub dir: PathBuf,
    /// Times in UTC.
    pub utc: bool,
    /// Secrets that are known by value.
    pub secrets: Secrets,
}

/// How a job stands.
#[derive(Debug)]
pub enum News {
    /// So far.
    Progress(Progress),
    /// It ended.
    Done(Result<Saved, ExportError>),
}

/// Runs a job; `emit` gets progress now and then, and its end. A stopped one leaves no file.
pub fn run(
    job: Job,
    setting: &Setting,
    session: &Session,
    bodies: &mut dyn Bodies,
    stop: &Stop,
    emit: &mut dyn FnMut(News),
) {
    let scope = match job.query {
        None => Ok(Scope::Session),
        Some(query) => query
            .index(session)
            .map(Scope::Run)
            .ok_or(ExportError::Gone(query.label)),
    };
    let mut last: Option<Instant> = None;
    let done = scope.and_then(|scope| {
        let options = Options {
            format: job.format,
            scope,
            raw: job.raw,
            utc: setting.utc,
            secrets: setting.secrets.clone(),
        };
        save(session, bodies, &options, &setting.dir, &mut |progress| {
            if stop.is_stopped() {
                return ControlFlow::Break(());
            }
            if last.is_none_or(|last| last.elapsed() >= EVERY) {
                last = Some(Instant::now());
                emit(News::Progress(progress));
            }
            ControlFlow::Continue(())
        })
    });
    emit(News::Done(done));
}
