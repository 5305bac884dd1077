//! The rows of the banner that say where a session comes from, and what branched off it.

use super::banner::heading;
use crate::model::{BranchKind, BranchPoint, Session};
use crate::text::{Glyphs, SafeText, count};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// Branches that are named; the others are counted.
const NAMED: usize = 3;

/// `fork of   podcasts at Q2 step 3`, and the branches made from this session, newest first.
pub(super) fn rows(session: &Session, ctx: &Ctx<'_>) -> Vec<Styled> {
    let lineage = &session.lineage;
    let parent = lineage.parent.as_ref().map(|parent| {
        let words = match parent.kind {
            BranchKind::Fork => "fork of",
            BranchKind::WhatIf => "what-if of",
        };
        heading(words, ctx).then(SafeText::line(&point(session, parent)), ctx.style(Role::Text))
    });
    let branches = (!lineage.branches.is_empty())
        .then(|| heading("branches", ctx).then(SafeText::line(&listed(session, ctx)), ctx.style(Role::Text)));
    parent.into_iter().chain(branches).collect()
}

/// The same where there are few columns.
pub(super) fn short_rows(session: &Session, ctx: &Ctx<'_>) -> Vec<Styled> {
    let lineage = &session.lineage;
    let mut rows = Vec::new();
    let mut say = |words: String| rows.push(Styled::of(SafeText::line(&words), ctx.style(Role::Dim)));
    if let Some(parent) = &lineage.parent {
        say(format!("fork of {}", point(session, parent)));
    }
    if !lineage.branches.is_empty() {
        say(format!("branches: {}", listed(session, ctx)));
    }
    rows
}

fn listed(session: &Session, ctx: &Ctx<'_>) -> String {
    let branches = &session.lineage.branches;
    let named = branches.iter().rev().take(NAMED);
    let mut words: Vec<String> = named.map(|branch| point(session, branch)).collect();
    let more = branches.len().saturating_sub(NAMED);
    if more > 0 {
        words.push(format!("{} more", count(more as u128)));
    }
    words.join(&format!(" {} ", Glyphs::of(ctx.options.ascii).separator))
}

/// `podcasts at Q2 step 3`: the run as the parent calls it, else as this session does.
fn point(session: &Session, point: &BranchPoint) -> String {
    let is_root = |run_id: &String| {
        let of = |query: &&crate::model::Query| query.run.root().is_some_and(|root| root.run_id == *run_id);
        session.queries.iter().find(of).map(|query| query.label.to_string())
    };
    let run = point.label.clone().or_else(|| point.run_id.as_ref().and_then(is_root));
    match run {
        Some(label) => format!("{} at {label} step {}", point.session, point.step),
        None => format!("{} at step {}", point.session, point.step),
    }
}
