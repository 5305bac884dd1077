//! The rows of a comparison: which steps stand side by side, and how they compare.

use super::facing::Facing;
use crate::model::{DiffMark, DiffRow, DiffStep, Difference};
use crate::source::Comparison;
use crate::text::{SafeText, cell_width, fit};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// Cells of the mark between the two names.
const MARK: usize = 3;

/// The steps of a row, left and right.
pub(super) fn sides<'a>(comparison: &'a Comparison, row: &DiffRow) -> (Option<&'a DiffStep>, Option<&'a DiffStep>) {
    let (left, right) = match row {
        DiffRow::Same { a, b, .. } | DiffRow::Output { a, b, .. } => (Some(*a), Some(*b)),
        DiffRow::Plan { a, b } => (*a, *b),
    };
    let step = |steps: &'a [DiffStep], index: Option<usize>| index.and_then(|index| steps.get(index));
    (step(&comparison.left.steps, left), step(&comparison.right.steps, right))
}

/// How a row compares, in a few words.
pub(super) fn words(row: &DiffRow) -> String {
    match row {
        DiffRow::Same { comment_only: true, .. } => "same, but for comments".into(),
        DiffRow::Same { .. } => "same".into(),
        DiffRow::Plan { a: Some(_), b: Some(_) } => "other code".into(),
        DiffRow::Plan { a: Some(_), .. } => "left only".into(),
        DiffRow::Plan { .. } => "right only".into(),
        DiffRow::Output { first, .. } => match first {
            Difference::Call { number, call } => format!("{call} (call {}) differs", number + 1),
            other => other.named(),
        },
    }
}

/// The mark of a row and its role: told by shape and colour.
fn mark(row: &DiffRow) -> (&'static str, Role) {
    let mark = row.mark();
    let role = match mark {
        DiffMark::Same => Role::Success,
        DiffMark::Plan | DiffMark::Left | DiffMark::Right => Role::Failure,
        DiffMark::Result => Role::Warning,
    };
    (mark.as_str(), role)
}

/// A row of the list.
pub(super) fn row(comparison: &Comparison, row: &DiffRow, width: usize, ctx: &Ctx<'_>) -> Styled {
    let (left, right) = sides(comparison, row);
    let name = |step: Option<&DiffStep>| step.map_or_else(SafeText::default, |step| SafeText::line(&step.name));
    let widest = |steps: &[DiffStep]| steps.iter().map(|step| cell_width(&step.name)).max().unwrap_or(0);
    let column = widest(&comparison.left.steps)
        .max(widest(&comparison.right.steps))
        .clamp(4, width / 4 + 4);
    let (mark, role) = mark(row);
    let text = ctx.style(Role::Text);
    Styled::words(" ", text)
        .then(SafeText::line(&fit(name(left).as_str(), column)), text)
        .then(SafeText::literal(" "), text)
        .then(SafeText::literal(mark), ctx.style(role))
        .then(SafeText::literal(" "), text)
        .then(SafeText::line(&fit(name(right).as_str(), column)), text)
        .then(SafeText::literal("  "), text)
        .then(
            SafeText::line(&fit(&words(row), width.saturating_sub(2 * column + MARK + 3))),
            ctx.style(if role == Role::Success { Role::Dim } else { role }),
        )
}

/// The two texts of a row, face to face: code, leaf calls where they differ, output, FINAL.
pub(super) fn texts(comparison: &Comparison, row: &DiffRow) -> Facing {
    let (left, right) = sides(comparison, row);
    let mut facing = Facing::default();
    let mut section = |heading: &str, of: &dyn Fn(&DiffStep) -> Option<String>| {
        let texts = [left, right].map(|step| step.and_then(of));
        let [one, other] = texts;
        if one.is_some() || other.is_some() {
            facing.heading(heading);
            let safe = |text: Option<String>| text.map(|text| SafeText::block(&text));
            let (one, other) = (safe(one), safe(other));
            facing.section(one.as_ref().map(SafeText::as_str), other.as_ref().map(SafeText::as_str));
        }
    };
    let filled = |text: &str| (!text.trim().is_empty()).then(|| text.to_owned());
    section("code", &|step| filled(&step.code));
    section("calls", &calls);
    section("output", &|step| filled(&step.output));
    section("FINAL", &|step| step.value.clone());
    facing
}

/// The leaf calls of a step, a line each.
fn calls(step: &DiffStep) -> Option<String> {
    let lines: Vec<_> = step
        .calls
        .iter()
        .map(|call| format!("{}({})\n  = {}", call.call, call.input, call.result))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
