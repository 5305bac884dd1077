//! The facts of a single transcript.

use std::io::{self, Write};

use crate::cli::terminal::Look;
use crate::model::timeline::length;
use crate::model::{Query, Run, Session};
use crate::text::{SafeText, count, date_time, duration};

use super::notation;
use super::sheet::Sheet;

pub(super) fn write(out: &mut dyn Write, session: &Session, look: Look) -> io::Result<()> {
    let mut sheet = Sheet::new(out, look);
    sheet.data("Run", &session.facts.name)?;
    sheet.field("Directory", SafeText::line(&session.facts.dir).as_str())?;
    for query in &session.queries {
        run(&mut sheet, query, look)?;
    }
    match notation::problems(session) {
        Some(problems) => sheet.field(
            "Problems",
            &format!("{problems} (each with its place: --json, or ! in --tui)"),
        ),
        None => Ok(()),
    }
}

fn run(sheet: &mut Sheet<'_>, query: &Query, look: Look) -> io::Result<()> {
    let run = &query.run;
    if !query.text.trim().is_empty() {
        sheet.data("Query", &query.text)?;
    }
    sheet.data("FINAL", &notation::result(query))?;
    let unreadable = match run.unreadable {
        0 => String::new(),
        n => format!(" (+ {} unreadable)", count(n.into())),
    };
    sheet.field("Entries", &format!("{}{unreadable}", count(run.lines.into())))?;
    sheet.field("Agents", &count(run.totals.agents.into()))?;
    sheet.field("Roots", &count(run.roots.len() as u128))?;
    sheet.field("Max depth", &count(run.max_depth.into()))?;
    sheet.field("Steps", &notation::steps(run))?;
    sheet.field("Tokens", &notation::tokens(&run.totals))?;
    sheet.field("Cost", &run.totals.cost.to_string())?;
    sheet.field("Time", &time(run, look))
}

/// `2026-11-29 12:47:50 to 12:48:23 (33.1 s)`: how long it was worked on, and how long not where that is more.
fn time(run: &Run, look: Look) -> String {
    let Some((start, end)) = run.span else {
        return "unknown".into();
    };
    let (from, to) = (date_time(start, look.utc), date_time(end, look.utc));
    let same_day = from.split(' ').next() == to.split(' ').next();
    let to = if same_day {
        to.split(' ').next_back().unwrap_or_default()
    } else {
        to.as_str()
    };
    let took = duration(run.worked);
    let idle = length(start, end).saturating_sub(run.worked);
    // Only what could be asked about: a resumed run rests for long.
    let rest = if idle > run.worked {
        format!(", idle for {}", duration(idle))
    } else {
        String::new()
    };
    let zone = if look.utc { " UTC" } else { "" };
    format!("{from} to {to}{zone} ({took}{rest})")
}
