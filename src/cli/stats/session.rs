//! The facts of a session.

use std::io::{self, Write};

use crate::cli::terminal::Look;
use crate::model::{Label, MemoryKind, Outcome, Query, Session};
use crate::text::{SafeText, count, plural};

use super::notation;
use super::sheet::Sheet;

pub(super) fn write(out: &mut dyn Write, session: &Session, look: Look) -> io::Result<()> {
    let mut sheet = Sheet::new(out, look);
    head(&mut sheet, session)?;
    for query in &session.queries {
        sheet.blank()?;
        run(&mut sheet, query, session)?;
    }
    sheet.blank()?;
    totals(&mut sheet, session)
}

fn head(sheet: &mut Sheet<'_>, session: &Session) -> io::Result<()> {
    let facts = &session.facts;
    sheet.data("Session", &facts.name)?;
    sheet.field("Directory", SafeText::line(&facts.dir).as_str())?;
    let version = match (facts.version, facts.newer) {
        (Some(version), true) => format!("version {version}, newer than this program: what it understands is shown"),
        (Some(version), false) => format!("version {version}"),
        (None, _) => "version unknown".into(),
    };
    sheet.field("State", &version)?;
    sheet.field("Queries", &queries(session))?;
    sheet.field("Saved", &saved(session))?;
    if let Some(holder) = &facts.held_by {
        sheet.data("Written by", holder)?;
    }
    if let Some(problems) = notation::problems(session) {
        sheet.field(
            "Problems",
            &format!("{problems} (each with its place: --json, or ! in --tui)"),
        )?;
    }
    Ok(())
}

/// `4 completed, + 1 run without FINAL, + 1 pending`.
fn queries(session: &Session) -> String {
    let mut text = format!("{} completed", count(session.completed_count() as u128));
    let lost = session
        .queries
        .iter()
        .filter(|query| matches!(query.label, Label::Lost(_)))
        .count();
    if lost > 0 {
        text += &format!(", + {} without FINAL", plural(lost as u128, "run", "runs"));
    }
    let last = session.queries.last().map(|query| &query.outcome);
    match (&session.facts.pending, last) {
        (Some(_), Some(Outcome::Parked(_))) => text += ", + 1 that waits for an answer",
        (Some(_), _) => text += ", + 1 pending",
        (None, _) => {}
    }
    text
}

/// `36 variables (4 committed), 2 functions, 4 dropped`.
fn saved(session: &Session) -> String {
    let entries = &session.memory.entries;
    let number = |kind| entries.iter().filter(|entry| entry.kind == kind).count() as u128;
    let committed = entries.iter().filter(|entry| entry.committed).count() as u128;
    let mut text = plural(number(MemoryKind::Variable), "variable", "variables");
    if committed > 0 {
        text += &format!(" ({} committed)", count(committed));
    }
    let functions = plural(number(MemoryKind::Function), "function", "functions");
    text + &format!(", {functions}, {} dropped", count(number(MemoryKind::Dropped)))
}

fn run(sheet: &mut Sheet<'_>, query: &Query, session: &Session) -> io::Result<()> {
    let text = match query.text.trim().is_empty() {
        true => "(the query is not known)",
        false => &query.text,
    };
    sheet.heading(&query.label.to_string(), text)?;
    sheet.of_run();
    sheet.data("FINAL", &notation::result(query))?;
    sheet.field("Steps", &notation::steps(&query.run))?;
    let measured = query.run.lines > 0;
    match measured {
        true => {
            sheet.field("Tokens", &notation::tokens(&query.run.totals))?;
            sheet.field("Cost", &query.run.totals.cost.to_string())?;
        }
        false => {
            sheet.field("Tokens", &notation::unmeasured(query, session))?;
            sheet.field("Cost", "unknown")?;
        }
    }
    sheet.field("Log", &notation::log(query, session))?;
    sheet.of_whole();
    Ok(())
}

fn totals(sheet: &mut Sheet<'_>, session: &Session) -> io::Result<()> {
    let completed = plural(session.completed_count() as u128, "query", "queries");
    sheet.field(
        "Total",
        &format!("{completed}: {}", notation::totals(&session.completed)),
    )?;
    let lost = session.queries.len().saturating_sub(session.completed_count());
    if lost > 0 {
        let runs = plural(lost as u128, "run", "runs");
        sheet.field(
            "",
            &format!("+ {runs} without FINAL: {}", notation::totals(&session.lost)),
        )?;
    }
    Ok(())
}
