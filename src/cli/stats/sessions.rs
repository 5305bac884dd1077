//! The sessions of a directory, a line each.

use std::io::{self, Write};
use std::path::Path;

use crate::cli::progress::ProgressLine;
use crate::cli::terminal::Look;
use crate::model::Time;
use crate::source::{OpenOptions, Paid, Progress, SessionSummary, SessionTotals, Stop, totals_once};
use crate::text::{SafeText, cell_width, count, cut, date_time, plural};

use super::notation;
use super::sheet::{Sheet, one_line};

/// Columns that a name may take.
const NAME: usize = 40;
/// Columns whose values stand to the right.
const TO_THE_RIGHT: [bool; 6] = [false, true, true, false, true, false];

/// A session with what its runs come to; `None` when it cannot be opened.
pub(in crate::cli) struct SessionRow {
    pub(in crate::cli) summary: SessionSummary,
    pub(in crate::cli) totals: Option<SessionTotals>,
}

impl SessionRow {
    /// As its transcripts have it, else as its files do.
    pub(in crate::cli) fn last_activity(&self) -> Option<Time> {
        let measured = self.totals.as_ref().and_then(|totals| totals.last_activity);
        measured.or(self.summary.last_activity)
    }
}

/// Reads what the runs of all sessions come to.
pub(in crate::cli) fn measure(mut sessions: Vec<SessionSummary>, options: &OpenOptions) -> Vec<SessionRow> {
    let mut line = ProgressLine::new();
    let (stop, total) = (Stop::default(), sessions.len() as u64);
    let mut paid = Paid::of(&sessions);
    // What a branch took over counts where it was made, also where the branch came to nothing.
    sessions.sort_by_key(|one| one.parent.is_some());
    let rows = sessions.into_iter().zip(0..).map(|(summary, done)| {
        line.show(Progress {
            bytes_read: done,
            bytes_total: total,
            logs_read: done,
            logs_total: total,
        });
        let mut summary = summary;
        let totals = totals_once(&summary.path, options, &mut paid, &stop).unwrap_or_else(|error| {
            summary.health.spoil(error.to_string());
            None
        });
        SessionRow { summary, totals }
    });
    let mut rows: Vec<SessionRow> = rows.collect();
    rows.sort_by(|a, b| {
        b.last_activity()
            .cmp(&a.last_activity())
            .then_with(|| a.summary.path.cmp(&b.summary.path))
    });
    rows
}

pub(in crate::cli) fn write_sessions(
    out: &mut dyn Write,
    dir: &Path,
    rows: &[SessionRow],
    look: Look,
) -> io::Result<()> {
    let mut sheet = Sheet::new(out, look);
    sheet.field("Directory", SafeText::line(&dir.to_string_lossy()).as_str())?;
    sheet.field("Sessions", &count(rows.len() as u128))?;
    sheet.blank()?;
    let header = ["SESSION", "QUERIES", "NO FINAL", "LAST ACTIVITY", "TOKENS", "COST"].map(String::from);
    let cells: Vec<[String; 6]> = std::iter::once(header)
        .chain(rows.iter().map(|row| cells(row, look)))
        .collect();
    let widths: Vec<usize> = (0..TO_THE_RIGHT.len())
        .map(|column| {
            cells
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell_width(cell))
                .max()
                .unwrap_or(0)
        })
        .collect();
    for (number, row) in cells.iter().enumerate() {
        let columns = row.iter().zip(&widths).zip(TO_THE_RIGHT);
        let padded: Vec<String> = columns.map(|((cell, width), right)| pad(cell, *width, right)).collect();
        sheet.row(&padded, number == 0)?;
    }
    sheet.blank()?;
    totals(&mut sheet, rows)
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(cell_width(cell)));
    if right {
        format!("{space}{cell}")
    } else {
        format!("{cell}{space}")
    }
}

fn cells(row: &SessionRow, look: Look) -> [String; 6] {
    let SessionRow { summary, totals } = row;
    let name = one_line(&summary.name, NAME);
    let activity = summary
        .last_activity
        .map_or("unknown".into(), |at| date_time(at, look.utc));
    let Some(totals) = totals else {
        let why = summary.health.trouble().unwrap_or("it cannot be opened");
        let why = SafeText::line(why).as_str().to_owned();
        let room = look.columns.max(80);
        let why = cut(&why, room).0.to_owned();
        return [name, "?".into(), "?".into(), activity, "?".into(), why];
    };
    let lost = if totals.lost_runs == 0 {
        String::new()
    } else {
        count(totals.lost_runs.into())
    };
    let both = {
        let mut both = totals.completed;
        both.merge(&totals.lost);
        both
    };
    let pending = match (&summary.waits, &summary.pending) {
        (Some(_), _) => " (waits for an answer)",
        (None, Some(_)) => " (pending)",
        (None, None) => "",
    };
    let tokens = match both.tokens_known() {
        true => count(both.usage.total.into()),
        false => "unknown".into(),
    };
    [
        name,
        count(totals.queries.into()),
        lost,
        activity,
        tokens,
        format!("{}{pending}", both.cost),
    ]
}

fn totals(sheet: &mut Sheet<'_>, rows: &[SessionRow]) -> io::Result<()> {
    let mut all = SessionTotals::default();
    for totals in rows.iter().filter_map(|row| row.totals.as_ref()) {
        all.queries += totals.queries;
        all.lost_runs += totals.lost_runs;
        all.spent.merge(&totals.spent);
    }
    let queries = plural(all.queries.into(), "query", "queries");
    sheet.field(
        "Total",
        &format!("{queries}: {}", notation::totals(&all.spent.completed)),
    )?;
    if all.lost_runs > 0 {
        let runs = plural(all.lost_runs.into(), "run", "runs");
        sheet.field(
            "",
            &format!("+ {runs} without FINAL: {}", notation::totals(&all.spent.lost)),
        )?;
    }
    let unread = rows.iter().filter(|row| row.totals.is_none()).count() as u128;
    if unread > 0 {
        let sessions = plural(unread, "session", "sessions");
        sheet.field("", &format!("+ {sessions} that cannot be read: unknown"))?;
    }
    Ok(())
}
