//! A directory of sessions.

use super::super::stats::SessionRow;
use super::run::{TotalFacts, iso};
use crate::source::Spent;
use serde::Serialize;
use std::path::Path;

/// The whole listing.
#[derive(Serialize)]
pub(super) struct Listing<'a> {
    format: &'static str,
    target: &'static str,
    directory: String,
    sessions: Vec<Row<'a>>,
    /// Of all of them, each step once.
    spent: SpentFacts,
    /// Sessions that cannot be read, and so are not in it.
    unread: usize,
}

impl<'a> Listing<'a> {
    pub(super) fn of(dir: &Path, rows: &'a [SessionRow]) -> Self {
        let mut spent = Spent::default();
        let known = rows.iter().filter_map(|row| row.totals.as_ref());
        known.for_each(|totals| spent.merge(&totals.spent));
        Self {
            spent: SpentFacts::of(&spent),
            unread: rows.iter().filter(|row| row.totals.is_none()).count(),
            format: super::FORMAT,
            target: "directory",
            directory: dir.to_string_lossy().into_owned(),
            sessions: rows.iter().map(Row::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    path: String,
    queries: u64,
    pending: Option<&'a str>,
    /// The question whose answer that waits for.
    waits: Option<&'a str>,
    last_query: Option<&'a str>,
    last_activity: Option<String>,
    forked_from: Option<&'a str>,
    /// Why its state.json cannot be read.
    damaged: Option<&'a str>,
    runs_without_final: Option<u64>,
    completed: Option<TotalFacts>,
    without_final: Option<TotalFacts>,
    /// What this session adds to a sum over sessions: without the steps that it took over from another one.
    spent: Option<SpentFacts>,
}

#[derive(Serialize)]
struct SpentFacts {
    completed: TotalFacts,
    without_final: TotalFacts,
}

impl SpentFacts {
    fn of(spent: &Spent) -> Self {
        Self {
            completed: TotalFacts::of(&spent.completed),
            without_final: TotalFacts::of(&spent.lost),
        }
    }
}

impl<'a> Row<'a> {
    fn of(row: &'a SessionRow) -> Self {
        let summary = &row.summary;
        Self {
            name: &summary.name,
            path: summary.path.to_string_lossy().into_owned(),
            queries: summary.queries,
            pending: summary.pending.as_deref(),
            waits: summary.waits.as_deref(),
            last_query: summary.last_query.as_deref(),
            last_activity: row.last_activity().map(iso),
            forked_from: summary.parent.as_deref(),
            damaged: summary.health.trouble(),
            runs_without_final: row.totals.as_ref().map(|totals| totals.lost_runs),
            completed: row.totals.as_ref().map(|totals| TotalFacts::of(&totals.completed)),
            without_final: row.totals.as_ref().map(|totals| TotalFacts::of(&totals.lost)),
            spent: row.totals.as_ref().map(|totals| SpentFacts::of(&totals.spent)),
        }
    }
}
