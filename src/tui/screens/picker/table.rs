//! The table of sessions.

use super::entry::{Entry, Known};
use super::ranking::Sort;
use crate::model::{CostSum, Time};
use crate::source::Health;
use crate::text::{SafeText, cell_width, compact_count, count, date_time, fit, fit_right, money, seconds};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::style::Style;

const QUERIES: usize = 8;
const ACTIVITY: usize = 14;
const TOKENS: usize = 7;
const COST: usize = 11;
/// Cells in which it makes sense to begin to say what a session was forked from.
const LINEAGE: usize = 6;
/// The name gets this at least, before other columns go.
const NAME: usize = 18;

/// Columns of a table of some width; 0 for one that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    name: usize,
    queries: usize,
    activity: usize,
    tokens: usize,
    cost: usize,
}

impl Columns {
    /// Cost, tokens, queries and activity go, in this order, so that the name has room; what the list is sorted by goes last.
    pub(super) fn of(width: usize, sort: Sort) -> Self {
        let mut columns = Self {
            name: 0,
            queries: QUERIES,
            activity: ACTIVITY,
            tokens: TOKENS,
            cost: COST,
        };
        let mut going = [Sort::Cost, Sort::Tokens, Sort::Queries, Sort::Activity];
        going.sort_by_key(|of| *of == sort);
        let mut going = going.into_iter();
        loop {
            columns.name = width.saturating_sub(columns.others());
            if columns.name >= NAME {
                return columns;
            }
            match going.next() {
                Some(Sort::Cost) => columns.cost = 0,
                Some(Sort::Tokens) => columns.tokens = 0,
                Some(Sort::Queries) => columns.queries = 0,
                Some(Sort::Activity) => columns.activity = 0,
                Some(Sort::Name) | None => return columns,
            }
        }
    }

    /// Mark, gaps and figures.
    fn others(&self) -> usize {
        let figures = [self.queries, self.activity, self.tokens, self.cost];
        4 + figures
            .iter()
            .map(|width| width + 2 * usize::from(*width > 0))
            .sum::<usize>()
    }

    pub(super) fn head(&self, sort: Sort, ctx: &Ctx<'_>) -> Styled {
        let style = |of: Sort| ctx.style(if of == sort { Role::Accent } else { Role::Dim });
        let arrow = |of: Sort, name: &str| {
            let arrow = if of == Sort::Name {
                ctx.glyphs().up
            } else {
                ctx.glyphs().down
            };
            if of == sort {
                format!("{name} {arrow}")
            } else {
                name.to_owned()
            }
        };
        let mut line = Styled::words("   ", ctx.style(Role::Dim));
        line.push(
            SafeText::line(&fit(&arrow(Sort::Name, "session"), self.name)),
            style(Sort::Name),
        );
        let figures = [
            (Sort::Queries, "queries", self.queries),
            (Sort::Activity, "last activity", self.activity),
            (Sort::Tokens, "tokens", self.tokens),
            (Sort::Cost, "cost", self.cost),
        ];
        for (of, name, width) in figures {
            let name = if of == sort {
                // Where the column is too narrow for the gap, the arrow stands right behind the word.
                let with_arrow = arrow(of, name.trim_start_matches("last "));
                match cell_width(&with_arrow) > width {
                    true => with_arrow.replace(' ', ""),
                    false => with_arrow,
                }
            } else {
                name.into()
            };
            push_cell(&mut line, &name, width, style(of));
        }
        line
    }

    /// The name and, as far as there is room, what it was forked from.
    fn name_cell(&self, entry: &Entry, ctx: &Ctx<'_>) -> Styled {
        let name = SafeText::line(&entry.summary.name);
        let taken = cell_width(name.as_str());
        let parent = entry.summary.parent.as_deref().unwrap_or_default();
        let from = SafeText::line(&format!(" {} {parent}", ctx.glyphs().left));
        let room = self.name.saturating_sub(taken);
        if parent.is_empty() || room < LINEAGE {
            return Styled::of(SafeText::line(&fit(name.as_str(), self.name)), ctx.style(Role::Text));
        }
        Styled::of(name, ctx.style(Role::Text)).then(SafeText::line(&fit(from.as_str(), room)), ctx.style(Role::Dim))
    }

    pub(super) fn row(&self, entry: &Entry, ctx: &Ctx<'_>) -> Styled {
        let (mark, role) = mark(entry, ctx);
        let mut line = Styled::words(" ", ctx.style(Role::Text));
        line.push(SafeText::literal(mark), ctx.style(role));
        line.push(SafeText::literal(" "), ctx.style(Role::Text));
        line.append(self.name_cell(entry, ctx));
        let (tokens, cost) = figures(entry);
        let ago = entry.last_activity().map_or_else(|| "?".to_owned(), |at| ago(at, ctx));
        push_cell(&mut line, &queries(entry), self.queries, ctx.style(Role::Text));
        push_cell(&mut line, &ago, self.activity, ctx.style(Role::Dim));
        push_cell(&mut line, &tokens, self.tokens, ctx.style(Role::Text));
        push_cell(&mut line, &cost, self.cost, ctx.style(Role::Text));
        line
    }
}

/// Completed queries and, behind a plus, runs without FINAL.
fn queries(entry: &Entry) -> String {
    let completed = count(u128::from(entry.summary.queries));
    match entry.lost() {
        0 => completed,
        lost => format!("{completed} + {}", count(u128::from(lost))),
    }
}

/// Something is pending, the last query ended badly, or the state is damaged.
pub(super) fn mark(entry: &Entry, ctx: &Ctx<'_>) -> (&'static str, Role) {
    if ctx.running.contains(&entry.summary.path) {
        return (ctx.glyphs().running, Role::Running);
    }
    match (&entry.summary.health, &entry.summary.pending) {
        (Health::Damaged(_) | Health::Closed(_), _) => (ctx.glyphs().failed, Role::Failure),
        (Health::Good, Some(_)) => (ctx.glyphs().running, Role::Warning),
        (Health::Good, None) if entry.last_end().is_some() => (ctx.glyphs().failed, Role::Warning),
        (Health::Good, None) => (" ", Role::Text),
    }
}

/// Tokens and cost, `…` while they are read.
pub(super) fn figures(entry: &Entry) -> (String, String) {
    match (entry.totals(), &entry.known) {
        (Some(totals), _) => {
            let tokens = match totals.tokens_known() {
                true => compact_count(u128::from(totals.usage.total)),
                false => "unknown".into(),
            };
            (tokens, cost(&totals.cost))
        }
        (None, Known::Nothing) => ("?".into(), "?".into()),
        (None, _) => ("…".into(), "…".into()),
    }
}

/// The usual notation where it fits the column, else `$0.41+?` when steps reported no cost.
fn cost(sum: &CostSum) -> String {
    let whole = sum.to_string();
    if whole.len() <= COST {
        whole
    } else {
        format!("{}+?", money(sum.nano))
    }
}

fn push_cell(line: &mut Styled, cell: &str, width: usize, style: Style) {
    if width > 0 {
        line.push(SafeText::line(&format!("  {}", fit_right(cell, width))), style);
    }
}

/// `3m 07s ago`; the date when it is longer than a month.
pub(super) fn ago(at: Time, ctx: &Ctx<'_>) -> String {
    const MONTH: u64 = 30 * 86_400_000;
    match u64::try_from(ctx.wall.saturating_sub(at)) {
        Ok(ms) if ms < 1_000 => "now".into(),
        Ok(ms) if ms < MONTH => format!("{} ago", seconds(ms / 1_000)),
        _ => date_time(at, ctx.options.utc).chars().take(10).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::World;
    use proptest::prelude::*;

    #[test]
    fn the_name_has_room_at_every_width() {
        assert_eq!(Columns::of(100, Sort::Activity).cost, COST);
        assert_eq!(
            Columns::of(40, Sort::Name),
            Columns {
                name: 20,
                queries: 0,
                activity: ACTIVITY,
                tokens: 0,
                cost: 0
            }
        );
    }

    #[test]
    fn what_the_list_is_sorted_by_is_the_last_column_to_go() {
        for width in 22..120 {
            let has = |sort| {
                let columns = Columns::of(width, sort);
                match sort {
                    Sort::Cost => columns.cost,
                    Sort::Tokens => columns.tokens,
                    Sort::Queries => columns.queries,
                    _ => columns.activity,
                }
            };
            for sort in [Sort::Cost, Sort::Tokens, Sort::Queries, Sort::Activity] {
                assert!(has(sort) > 0 || width < 4 + NAME + 2 + ACTIVITY, "{sort:?} {width}");
            }
        }
    }

    #[test]
    fn ages_are_short() {
        let world = World::new();
        let ctx = world.ctx();
        assert_eq!(ago(ctx.wall - 187_900, &ctx), "3m 07s ago");
        assert_eq!(ago(ctx.wall - 57_900, &ctx), "57 s ago");
        assert_eq!(
            ago(ctx.wall + 5_000, &ctx),
            date_time(ctx.wall + 5_000, true).chars().take(10).collect::<String>()
        );
        assert_eq!(ago(ctx.wall - 400, &ctx), "now");
    }

    proptest! {
        #[test]
        fn rows_are_as_wide_as_the_table(width in 4usize..140) {
            let world = World::new();
            let columns = Columns::of(width, Sort::Queries);
            let row = columns.row(&Entry::named("podcasts"), &world.ctx());
            prop_assert!(row.width() <= width.max(4));
            prop_assert_eq!(row.width(), columns.head(Sort::Queries, &world.ctx()).width());
        }
    }
}
