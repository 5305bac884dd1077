//! Comparing runs.

use super::*;
use proptest::prelude::*;

fn step(code: &str) -> DiffStep {
    DiffStep {
        name: format!("step of {code}"),
        code: code.into(),
        ..DiffStep::default()
    }
}

fn steps(codes: &[&str]) -> Vec<DiffStep> {
    codes.iter().map(|code| step(code)).collect()
}

#[test]
fn an_inserted_step_does_not_shift_the_rest() {
    let (a, b) = (steps(&["a", "b", "c"]), steps(&["a", "x", "b", "c"]));
    let diff = RunDiff::of(&a, &b);
    assert_eq!(diff.rows[1], DiffRow::Plan { a: None, b: Some(1) });
    assert_eq!(diff.differing(), 1);
    assert!(
        diff.verdict(&a, &b)
            .starts_with("only the right has step of x; 1 of 4 rows differ")
    );
}

#[test]
fn a_changed_step_stands_beside_what_replaced_it() {
    let diff = RunDiff::of(&steps(&["a", "b", "c"]), &steps(&["a", "x", "y", "c"]));
    let plans: Vec<_> = diff
        .rows
        .iter()
        .filter(|row| matches!(row, DiffRow::Plan { .. }))
        .collect();
    let (both, alone) = (
        DiffRow::Plan { a: Some(1), b: Some(1) },
        DiffRow::Plan { a: None, b: Some(2) },
    );
    assert_eq!(plans, [&both, &alone]);
}

#[test]
fn comments_and_layout_do_not_count() {
    let diff = RunDiff::of(&steps(&["x = f( 1 )"]), &steps(&["# first\nx = f(1)"]));
    assert!(diff.is_identical());
    assert_eq!(
        diff.rows,
        [DiffRow::Same {
            a: 0,
            b: 0,
            comment_only: true
        }]
    );
}

#[test]
fn what_differs_first_is_named() {
    let call = |result: &str| DiffCall {
        call: "llm_query".into(),
        input: "{}".into(),
        result: result.into(),
    };
    let made = |calls: Vec<DiffCall>, output: &str, failed| DiffStep {
        calls,
        output: output.into(),
        failed,
        ..step("y = await llm_query(x)")
    };
    let first = |a: DiffStep, b: DiffStep| match RunDiff::of(&[a], &[b]).rows.as_slice() {
        [DiffRow::Output { first, .. }] => Some(first.clone()),
        _ => None,
    };
    let one = Difference::Call {
        number: 0,
        call: "llm_query".into(),
    };
    assert_eq!(
        first(made(vec![call("1")], "1", false), made(vec![call("2")], "2", true)),
        Some(one.clone())
    );
    assert_eq!(
        first(made(vec![], "1", false), made(vec![call("2")], "1", false)),
        Some(one)
    );
    assert_eq!(
        first(made(vec![], "1", false), made(vec![], "2", true)),
        Some(Difference::Output)
    );
    assert_eq!(
        first(made(vec![], "", false), made(vec![], "", true)),
        Some(Difference::Failed)
    );
    let valued = |value: &str| DiffStep {
        value: Some(value.into()),
        ..step("FINAL(x)")
    };
    assert_eq!(first(valued("1"), valued("2")), Some(Difference::Value));
    assert_eq!(first(valued("1"), valued("1")), None);
}

#[test]
fn verdicts_of_agreement() {
    let two = steps(&["a", "b"]);
    assert_eq!(RunDiff::of(&two, &two).verdict(&two, &two), "identical in all 2 steps");
    assert_eq!(RunDiff::of(&[], &[]).verdict(&[], &[]), "identical: neither has a step");
}

proptest! {
    #[test]
    fn every_step_stands_in_one_row_in_order(
        a in proptest::collection::vec("[a-d]", 0..12),
        b in proptest::collection::vec("[a-d]", 0..12),
    ) {
        let make = |codes: &[String]| codes.iter().map(|code| step(code)).collect::<Vec<_>>();
        let (a, b) = (make(&a), make(&b));
        let diff = RunDiff::of(&a, &b);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for row in &diff.rows {
            let (one, other) = match row {
                DiffRow::Same { a, b, .. } | DiffRow::Output { a, b, .. } => (Some(*a), Some(*b)),
                DiffRow::Plan { a, b } => (*a, *b),
            };
            left.extend(one);
            right.extend(other);
        }
        prop_assert_eq!(left, (0..a.len()).collect::<Vec<_>>());
        prop_assert_eq!(right, (0..b.len()).collect::<Vec<_>>());
        prop_assert_eq!(diff.is_identical(), a.iter().map(|s| &s.code).eq(b.iter().map(|s| &s.code)));
    }
}
