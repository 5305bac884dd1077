//! One step logged twice is one; different steps of one number are both there.

use super::*;

fn generated(number: u64, code: &str) -> StepLine {
    StepLine {
        executed: false,
        ..executed(number, code)
    }
}

fn steps(lines: &[StepLine]) -> Session {
    let mut log = Log::new(0);
    for (time, line) in (0..).zip(lines) {
        log.step("r", line.clone(), time);
    }
    log.session()
}

#[test]
fn a_step_without_a_number_stands_after_the_one_before() {
    let unnumbered = |line: StepLine| StepLine { number: None, ..line };
    let lines = [
        probe("t"),
        unnumbered(generated(1, "a")),
        unnumbered(executed(1, "a")),
        unnumbered(executed(1, "b")),
        executed(3, "c"),
    ];
    let session = steps(&lines);
    let numbers: Vec<u64> = root(&session).steps.iter().map(|step| step.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
}

fn root(session: &Session) -> &Agent {
    session.queries[0].run.root().unwrap()
}

#[test]
fn a_file_behind_itself_counts_once() {
    let once = [probe("t"), executed(1, "a"), generated(2, "b")];
    let twice = [&once[..], &once[..]].concat();
    let session = steps(&twice);
    assert_eq!(
        (
            root(&session).steps.len(),
            root(&session).own().steps,
            root(&session).own().usage.total
        ),
        (3, 2, 2)
    );
    assert_eq!(structure_problems(&session), 0);
}

#[test]
fn the_two_kinds_of_line_make_one_step() {
    let timed = during(1, "a", 5, 6);
    let without = StepLine {
        usage: None,
        cost: Cost::Unknown,
        failed: true,
        ..timed
    };
    for lines in [[generated(1, "a"), without.clone()], [without, generated(1, "a")]] {
        let session = steps(&lines);
        let step = &root(&session).steps[0];
        assert_eq!(root(&session).steps.len(), 1);
        assert!(
            step.executed && step.failed && step.usage_known,
            "output of one, usage of the other"
        );
        assert_eq!((step.cost, step.timings.exec_start), (Cost::Known(1), Some(5)));
        let body = lines.iter().position(|line| line.executed).unwrap() as u64;
        assert_eq!(step.body.map(|at| at.line), Some(body + 1));
        assert_eq!(step.twin.map(|at| at.line), Some(2 - body));
    }
}

#[test]
fn both_kinds_with_usage_cost_once() {
    let cheaper = StepLine {
        cost: Cost::Known(7),
        ..generated(1, "a")
    };
    let session = steps(&[cheaper, executed(1, "a")]);
    assert_eq!((root(&session).own().steps, root(&session).own().cost.nano), (1, 1));
}

#[test]
fn different_content_is_shown_and_counted_twice() {
    let session = steps(&[executed(3, "a"), executed(3, "b"), executed(3, "c"), executed(1, "z")]);
    let labels: Vec<String> = root(&session).steps.iter().map(Step::label).collect();
    assert_eq!(labels, ["step 1", "step 3", "step 3 (again)", "step 3 (again 2)"]);
    assert_eq!((root(&session).own().steps, structure_problems(&session)), (4, 2));
}

#[test]
fn another_usage_is_another_step() {
    let session = steps(&[
        executed(1, "a"),
        StepLine {
            cost: Cost::Known(2),
            ..executed(1, "a")
        },
    ]);
    assert_eq!((root(&session).own().steps, root(&session).own().cost.nano), (2, 3));
}

#[test]
fn the_probe_is_shown_but_free() {
    let session = steps(&[probe("what to do"), executed(1, "a")]);
    let root = root(&session);
    assert_eq!(
        (root.steps[0].label().as_str(), root.steps[0].cost),
        ("probe", Cost::Known(0))
    );
    assert_eq!(
        (root.own().steps, root.own().cost.unknown, root.task.as_str()),
        (1, 0, "what to do")
    );
    assert_eq!(root.probe, root.steps[0].body);
}

#[test]
fn unknown_costs_and_saturated_tokens() {
    let unknown = StepLine {
        usage: None,
        cost: Cost::Unknown,
        ..executed(1, "a")
    };
    let huge = StepLine {
        usage: Some(Usage {
            total: u64::MAX,
            ..Usage::default()
        }),
        ..executed(2, "b")
    };
    let session = steps(&[
        unknown,
        huge.clone(),
        StepLine {
            number: Some(3),
            ..huge
        },
    ]);
    assert_eq!(root(&session).own().cost.to_string(), "$0.000000002 + 1 unknown");
    assert_eq!(root(&session).own().usage.total, u64::MAX);
    assert!(!root(&session).steps[0].usage_known);
}
