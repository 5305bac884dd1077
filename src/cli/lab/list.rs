//! `fast-rlm sessions`: what there is, what waits, what was cut. Looking changes nothing.

use super::args::{SessionsArgs, StoreCommand};
use super::ends::Ends;
use super::target::{look_into, place};
use super::{Failure, print, print_json, store};
use crate::cli::query::Exit;
use crate::cli::terminal::width;
use crate::disk::lock;
use crate::engine::{SessionLog, interruption, now, waiting_in};
use crate::lab::unfinished_imports;
use crate::source::{OpenOptions, SessionSummary, Stop, list_stored, name_of, session_totals};
use crate::store::{EVENTS_FILE, Fact, Kind, Select, SessionRow, Storage, Store, StoreError, StoredEvent};
use crate::text::{SafeText, cut, date_time, plural};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A row of the list.
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    path: String,
    /// Unix milliseconds.
    last_activity: Option<i64>,
    /// All that were asked.
    queries: u64,
    /// Those with a FINAL.
    completed: u64,
    last_query: Option<String>,
    parent: Option<String>,
    interrupted: bool,
    running: bool,
    waits: bool,
    /// How the last query ended, where that is recorded.
    outcome: Option<&'static str>,
    /// What of it cannot be read.
    damaged: Option<String>,
    /// Its name in the store.
    #[serde(skip)]
    stored: String,
    #[serde(skip)]
    texts: Vec<String>,
    #[serde(skip)]
    empty: bool,
}

pub(super) fn sessions(args: &SessionsArgs) -> Result<Exit, Failure> {
    match &args.command {
        Some(StoreCommand::Gc { dir, free }) => return store::gc(dir, *free),
        Some(StoreCommand::Rebuild { session, dir }) => return store::rebuild(session, dir),
        None => {}
    }
    look_into(&args.dir)?;
    if !args.dir.is_dir() {
        return Err(Failure::Usage(format!(
            "there is no directory {}: give the one that holds the sessions",
            args.dir.display()
        )));
    }
    let since = args.since.as_deref().map(instant).transpose()?;
    let mut rows = rows(&args.dir)?;
    if args.prune {
        let (empty, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.empty);
        if !empty.is_empty() {
            let store = Storage::dir(&args.dir).open()?;
            for row in &empty {
                if store::prune(&store, &args.dir, &row.stored)? {
                    print(&format!("removed {}", row.id))?;
                }
            }
        }
        rows = kept;
    }
    rows.retain(|row| row.is_wanted(args.query.as_deref(), since));
    if args.json {
        print_json(&rows)?;
    } else {
        let room = width();
        let wide = rows
            .iter()
            .map(|row| row.asked().chars().count())
            .max()
            .unwrap_or_default();
        rows.iter().try_for_each(|row| print(&row.line(room, wide)))?;
    }
    Ok(told_damage(&rows))
}

/// Says what could not be read: it keeps nobody from the others.
fn told_damage(rows: &[Row]) -> Exit {
    let mut exit = Exit::Done;
    for (row, damage) in rows.iter().filter_map(|row| Some((row, row.damaged.as_ref()?))) {
        let line = format!("fast-rlm: session {}: {damage}", row.id);
        let _ = writeln!(io::stderr(), "{}", SafeText::line(&line));
        exit = Exit::Failed;
    }
    exit
}

impl Row {
    fn is_wanted(&self, query: Option<&str>, since: Option<i64>) -> bool {
        let text = query.map(str::to_lowercase);
        let asked = |text: String| self.texts.iter().any(|own| own.to_lowercase().contains(&text));
        text.is_none_or(asked) && since.is_none_or(|since| self.last_activity.is_some_and(|at| at >= since))
    }

    /// How many queries have a FINAL, and how many have none.
    fn asked(&self) -> String {
        let completed = plural(u128::from(self.completed), "query", "queries");
        match self.queries.saturating_sub(self.completed) {
            0 => completed,
            lost => format!("{completed} + {lost} without FINAL"),
        }
    }

    fn line(&self, room: Option<usize>, wide: usize) -> String {
        let at = self.last_activity.map_or("-".into(), |at| date_time(at, false));
        let state = match self.outcome {
            _ if self.damaged.is_some() => "damaged",
            _ if self.waits => "waits for an answer",
            _ if self.running => "running",
            _ if self.interrupted => "interrupted",
            Some("error") => "failed",
            Some("limit") => "stopped by a limit",
            Some(ended @ ("cancelled" | "halted")) => ended,
            _ => "",
        };
        let mark = match &self.parent {
            Some(parent) if state.is_empty() => format!("branch of {parent}"),
            _ => state.to_owned(),
        };
        let last = self.last_query.as_deref().unwrap_or_default();
        let last: String = last.chars().take(60).collect();
        let line = format!(
            "{:<16} {at:<19} {:>wide$}  {mark:<20} {last}",
            self.id,
            self.asked(),
            wide = wide.max(11),
        );
        let line = SafeText::line(line.trim_end());
        match room {
            Some(room) => cut(line.as_str(), room).0.to_owned(),
            None => line.as_str().to_owned(),
        }
    }
}

/// A session before anything of its log is read.
enum Found {
    /// It has a log, and files unless nothing was asked in it yet.
    Recorded(Log, Option<SessionSummary>),
    /// Another program's: it has files, and no log.
    Foreign(SessionSummary),
}

/// The log of a session: in the store of a directory.
struct Log {
    dir: PathBuf,
    store: Store,
    row: SessionRow,
}

impl Found {
    fn last_activity(&self) -> Option<i64> {
        match self {
            Self::Recorded(log, _) => Some(log.row.active),
            Self::Foreign(files) => files.last_activity,
        }
    }

    fn is_branch(&self) -> bool {
        match self {
            Self::Recorded(log, _) => log.row.origin.is_branch(),
            Self::Foreign(files) => files.parent.is_some(),
        }
    }

    fn into_path(self) -> PathBuf {
        match self {
            Self::Recorded(log, _) => place(&log.dir, &log.row),
            Self::Foreign(files) => files.path,
        }
    }
}

/// Sessions of the directory, with those of its store that have no files yet, but for what is not whole: it is
/// imported. The one that was active last is the first.
fn found(dir: &Path) -> Result<Vec<Found>, Failure> {
    let store = Store::open_read_only(dir)?;
    let (own, below): (Vec<_>, Vec<_>) = list_stored(dir, &Stop::default())
        .into_iter()
        .filter(|summary| summary.health.is_session())
        .partition(|summary| summary.path == dir);
    let mut own = own.into_iter().next();
    let mut files: HashMap<_, _> = below
        .into_iter()
        .map(|summary| (summary.name.clone(), summary))
        .collect();
    let unfinished = unfinished_imports(dir);
    let mut found = Vec::new();
    for row in store.events.sessions()? {
        if !unfinished.contains(&row.id) {
            let files = match row.in_root {
                true => own.take(),
                false => files.remove(&row.id),
            };
            let (dir, store) = (dir.to_owned(), store.clone());
            found.push(Found::Recorded(Log { dir, store, row }, files));
        }
    }
    for files in files.into_values() {
        found.push(match own_log(&files)? {
            Some(log) => Found::Recorded(log, Some(files)),
            None => Found::Foreign(files),
        });
    }
    found.extend(own.map(Found::Foreign));
    found.sort_by_key(|found| std::cmp::Reverse(found.last_activity()));
    Ok(found)
}

fn rows(dir: &Path) -> Result<Vec<Row>, Failure> {
    let row = |found: Found| match found {
        Found::Recorded(log, files) => recorded(&log, files),
        Found::Foreign(files) => Ok(foreign(files)),
    };
    found(dir)?.into_iter().map(row).collect()
}

fn recorded(log: &Log, files: Option<SessionSummary>) -> Result<Row, Failure> {
    let Log { dir, store, row } = log;
    let turns = store
        .events
        .read_all(&row.id, &Select::all().only(&[Kind::TurnStarted, Kind::TurnEnded]))?
        .events;
    let texts: Vec<String> = turns.iter().filter_map(query_of).collect();
    let ends = Ends::of(&turns);
    let log = SessionLog {
        store: store.clone(),
        session: row.id.clone(),
    };
    // One that keeps its log in its own directory is known by that: there, every session is the first.
    let place = place(dir, row);
    let named = || row.in_root.then(|| name_of(&place));
    let name = files.as_ref().map(|files| files.name.clone()).or_else(named);
    let mut damaged = None;
    let waits = readable(waiting_in(&log), &mut damaged)?.is_some();
    let has_no_end = readable(interruption(store, &row.id), &mut damaged)?.is_some();
    let (running, interrupted) = unfinished(has_no_end, &place);
    let completed = files.as_ref().map_or(ends.answered, |files| files.queries);
    // What another program asked last has no end in the log.
    let pending = files.as_ref().is_some_and(|files| files.pending.is_some());
    let foreign = u64::from(pending && ends.last.is_some() && ends.last != Some("parked"));
    Ok(Row {
        path: place.to_string_lossy().into_owned(),
        last_activity: Some(row.active),
        queries: completed + (texts.len() as u64).saturating_sub(ends.answered) + foreign,
        completed,
        last_query: texts.last().cloned().or_else(|| files.as_ref()?.last_query.clone()),
        parent: row.parent.clone(),
        interrupted: interrupted || foreign > 0,
        running,
        waits,
        outcome: ends.last.filter(|_| foreign == 0),
        damaged,
        stored: row.id.clone(),
        empty: turns.is_empty() && files.is_none(),
        texts,
        id: name.unwrap_or_else(|| row.id.clone()),
    })
}

/// What was read; of what is damaged nothing, and why.
fn readable<T>(read: Result<Option<T>, StoreError>, damaged: &mut Option<String>) -> Result<Option<T>, Failure> {
    match read {
        Err(error @ StoreError::Damaged { .. }) => {
            *damaged = Some(error.to_string());
            Ok(None)
        }
        read => Ok(read?),
    }
}

/// Whether a query without an end runs, or was cut: a writer that is alive goes on with it.
fn unfinished(has_no_end: bool, dir: &Path) -> (bool, bool) {
    let is_held = has_no_end && lock::holder(dir).is_some();
    (is_held, has_no_end && !is_held)
}

fn query_of(event: &StoredEvent) -> Option<String> {
    match &event.fact {
        Fact::TurnStarted(started) => Some(match &started.query {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        _ => None,
    }
}

/// Queries that state.json knows: one without an answer was asked, too, as the log counts.
fn asked(summary: &SessionSummary) -> u64 {
    summary.queries + u64::from(summary.pending.is_some())
}

/// The session that was active last, branches aside.
pub(super) fn latest(dir: &Path) -> Result<Option<PathBuf>, Failure> {
    let last = found(dir)?.into_iter().find(|found| !found.is_branch());
    Ok(last.map(Found::into_path))
}

/// The log of a session that keeps it in its own directory, as one does that was asked without an id.
fn own_log(summary: &SessionSummary) -> Result<Option<Log>, Failure> {
    if !summary.path.join(EVENTS_FILE).is_file() {
        return Ok(None);
    }
    // One that cannot be read keeps nobody from the others.
    let Ok(store) = Store::open_read_only(&summary.path) else {
        return Ok(None);
    };
    let row = store.events.sessions()?.into_iter().find(|row| row.in_root);
    let dir = summary.path.clone();
    Ok(row.map(|row| Log { dir, store, row }))
}

/// A session of another program: it has files, and no log.
fn foreign(summary: SessionSummary) -> Row {
    let (running, interrupted) = unfinished(summary.pending.is_some() && summary.waits.is_none(), &summary.path);
    // A copy's files are newer than what they tell of.
    let recorded = session_totals(&summary.path, &OpenOptions::default(), &Stop::default());
    let last_activity = recorded
        .ok()
        .flatten()
        .and_then(|totals| totals.last_activity)
        .or(summary.last_activity);
    Row {
        queries: asked(&summary),
        completed: summary.queries,
        outcome: None,
        stored: summary.name.clone(),
        id: summary.name,
        path: summary.path.to_string_lossy().into_owned(),
        last_activity,
        texts: [summary.last_query.clone(), summary.pending.clone()]
            .into_iter()
            .flatten()
            .collect(),
        interrupted,
        running,
        last_query: summary.last_query,
        parent: summary.parent,
        waits: summary.waits.is_some(),
        damaged: None,
        empty: false,
    }
}

/// `7d` before now, or the start of a day.
fn instant(text: &str) -> Result<i64, Failure> {
    let wrong = || {
        Failure::Usage(format!(
            "--since {text:?}: neither a time like 12h or 7d nor a date like 2026-11-29"
        ))
    };
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        let zone = jiff::tz::TimeZone::system();
        let start = zone.to_timestamp(date.at(0, 0, 0, 0)).map_err(|_| wrong())?;
        return Ok(start.as_millisecond());
    }
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number: i64 = text.trim_end_matches(unit).parse().map_err(|_| wrong())?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        'w' => 7 * 24 * 60,
        _ => return Err(wrong()),
    };
    Ok(now().saturating_sub(number.saturating_mul(minutes * 60_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spans_or_days() {
        let then = instant("2h").unwrap();
        assert!((7_200_000..7_260_000).contains(&(now() - then)));
        assert!(instant("2026-11-29").unwrap() > 1_790_000_000_000);
        for wrong in ["", "7", "d", "7y", "x7d", "2026-13-01"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }
}
