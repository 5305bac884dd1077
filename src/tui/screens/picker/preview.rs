//! What is known of the selected session, in full.

use super::entry::Entry;
use crate::source::Health;
use crate::text::{SafeText, date_time, plural};
use crate::tui::content::{Document, Rendered};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;

/// A document about a session; `forks` are those that were made from it.
pub(super) fn document(entry: &Entry, forks: &[&str], ctx: &Ctx<'_>) -> Rendered {
    let summary = &entry.summary;
    let mut document = Document::default();
    document.line(&[(&summary.path.to_string_lossy(), Role::Dim)]);
    match &summary.health {
        Health::Good => {}
        Health::Damaged(why) => document.line(&[("damaged: ", Role::Failure), (why, Role::Text)]),
        Health::Closed(why) => document.line(&[("closed: ", Role::Failure), (why, Role::Text)]),
    }
    if let Some(parent) = &summary.parent {
        document.line(&[("forked from ", Role::Dim), (parent, Role::Accent)]);
    }
    if !forks.is_empty() {
        document.line(&[("forks ", Role::Dim), (&forks.join(", "), Role::Accent)]);
    }
    if let Some(at) = entry.last_activity() {
        // How long ago that is stands in the list, where it goes on.
        let when = date_time(at, ctx.options.utc);
        document.line(&[("last activity ", Role::Dim), (&when, Role::Text)]);
    }
    figures(entry, &mut document);
    question(
        "waits for an answer",
        summary.waits.as_deref(),
        Role::Warning,
        &mut document,
    );
    question("pending", summary.pending.as_deref(), Role::Warning, &mut document);
    question("last query", entry.last_query(), Role::Title, &mut document);
    document.finish()
}

fn figures(entry: &Entry, document: &mut Document) {
    if let Some(end) = entry.last_end() {
        document.line(&[("its last query ", Role::Dim), (end.words(), Role::Failure)]);
    }
    let mut queries = plural(u128::from(entry.summary.queries), "query", "queries");
    if let lost @ 1.. = entry.lost() {
        queries += &format!(" + {} without FINAL", plural(u128::from(lost), "run", "runs"));
    }
    let Some(totals) = entry.totals() else {
        return document.facts(&[(&queries, Role::Text)]);
    };
    let steps = plural(u128::from(totals.steps), "step", "steps");
    let tokens = totals.tokens();
    document.facts(&[
        (&queries, Role::Text),
        (&steps, Role::Text),
        (&tokens, Role::Text),
        (&totals.cost.to_string(), Role::Text),
    ]);
}

/// A query under its heading, with its own lines.
fn question(heading: &str, text: Option<&str>, role: Role, document: &mut Document) {
    if let Some(text) = text {
        document.line(&[]);
        document.line(&[(heading, role)]);
        document.append(&Rendered::plain(SafeText::block(text)));
    }
}
