//! Figures in columns, at any width.

use super::*;
use crate::model::AgentId;
use crate::tui::screens::overview::sample;
use proptest::prelude::*;

fn text(query: usize, step: Option<usize>, width: usize, exact: bool) -> String {
    let session = sample::lighthouses();
    let place = Place {
        agent: AgentId(0),
        step,
    };
    info(&session.queries[query], None, Some(place), width, exact)
        .finish()
        .0
        .to_string()
}

#[test]
fn whole_numbers_where_they_fit_else_compact_ones_else_rows() {
    insta::assert_snapshot!("wide", text(0, Some(1), 80, false));
    insta::assert_snapshot!("middle", text(0, Some(1), 56, false));
    insta::assert_snapshot!("narrow", text(0, Some(1), 30, false));
}

#[test]
fn unknown_usage_and_cost_are_said_so() {
    let step = text(0, Some(3), 80, false);
    assert!(step.contains("unknown"), "{step}");
    let missing = text(1, Some(0), 80, false);
    assert!(
        missing.contains("missing; steps are from code_log") && missing.contains("no such file"),
        "{missing}"
    );
}

#[test]
fn exact_costs_have_every_digit() {
    assert!(text(0, Some(1), 90, true).contains("$0.0042682"));
}

proptest! {
    #[test]
    fn lines_fit_from_a_narrow_pane_on(width in 38usize..120, step in proptest::option::of(0usize..6), exact: bool) {
        let info = text(0, step, width, exact);
        for line in info.lines().filter(|line| !line.starts_with("cost") && !line.starts_with("took")) {
            prop_assert!(cell_width(line) <= width, "{}\n{}", line, info);
        }
    }
}
