//! The names after a step, each with what the step did to it.

use crate::model::{Change, MemoryKind, NameAt, NamesAfter, changes};
use crate::text::{SafeText, fit};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// A name in the list, or what a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// It is no name, but says what did not come out as recorded.
    pub(super) is_mismatch: bool,
    pub(super) name: String,
    pub(super) text: String,
    change: Option<Change>,
    kind: MemoryKind,
    type_name: String,
    committed: bool,
    /// What it was before the step, when that was something else.
    before: Option<String>,
}

/// The rows of a step: what it touched first, then the rest.
pub(super) fn rows(points: &[NamesAfter], step: u64) -> Vec<Row> {
    let names = |step: u64| {
        points
            .iter()
            .find(|point| point.step == step)
            .and_then(|point| point.names.as_ref().ok())
    };
    let Some(after) = names(step) else {
        return Vec::new();
    };
    let Some(before) = step.checked_sub(1).and_then(names) else {
        return after.iter().map(|name| Row::of(name, None, None)).collect();
    };
    let was = |name: &str| before.iter().find(|old| old.name == name).map(|old| old.text.clone());
    let row = |(change, name): (Change, &NameAt)| {
        let before = (change == Change::Changed).then(|| was(&name.name)).flatten();
        Row::of(name, Some(change), before)
    };
    let mut rows: Vec<_> = changes(before, after).into_iter().map(row).collect();
    rows.sort_by_key(|row| row.change == Some(Change::Same));
    rows
}

/// How many names a step added, changed and dropped, in words.
pub(super) fn summary(rows: &[Row]) -> String {
    let count = |change: Change| rows.iter().filter(|row| row.change == Some(change)).count();
    let parts = [
        (count(Change::Added), "added"),
        (count(Change::Changed), "changed"),
        (count(Change::Gone), "gone"),
    ];
    let told: Vec<_> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match told.is_empty() {
        true if rows.iter().any(|row| row.change.is_some()) => "nothing changed".into(),
        true => String::new(),
        false => told.join(" · "),
    }
}

impl Row {
    fn of(name: &NameAt, change: Option<Change>, before: Option<String>) -> Self {
        Self {
            is_mismatch: false,
            name: name.name.clone(),
            text: name.text.clone(),
            change,
            kind: name.kind,
            type_name: name.type_name.clone(),
            committed: name.committed,
            before,
        }
    }

    /// What did not come out as recorded.
    pub(super) fn mismatch(what: &str, explained: String) -> Self {
        Self {
            is_mismatch: true,
            name: what.to_owned(),
            text: explained,
            change: None,
            kind: MemoryKind::Variable,
            type_name: String::new(),
            committed: false,
            before: None,
        }
    }

    fn draw_mismatch(&self, width: usize, ctx: &Ctx<'_>) -> Styled {
        let style = ctx.style(Role::Failure);
        let name = SafeText::line(&self.name);
        Styled::words(" ", style)
            .then(SafeText::literal(ctx.glyphs().differs), style)
            .then(SafeText::literal("   "), style)
            .then(SafeText::line(&fit(name.as_str(), width.saturating_sub(5))), style)
    }

    /// A row of the list.
    pub(super) fn draw(&self, width: usize, ctx: &Ctx<'_>) -> Styled {
        if self.is_mismatch {
            return self.draw_mismatch(width, ctx);
        }
        let (mark, role) = match self.change {
            Some(Change::Added) => ("+", Role::Success),
            Some(Change::Changed) => ("~", Role::Warning),
            Some(Change::Gone) => ("-", Role::Failure),
            Some(Change::Same) | None => (" ", Role::Dim),
        };
        let kind = match (self.kind, self.committed) {
            (MemoryKind::Variable, true) => ctx.glyphs().star,
            (MemoryKind::Variable, false) => " ",
            (MemoryKind::Function, _) => ctx.glyphs().function,
            (MemoryKind::Dropped, _) => ctx.glyphs().failed,
        };
        let name_role = if matches!(self.change, Some(Change::Same)) {
            Role::Dim
        } else {
            Role::Text
        };
        let name = SafeText::line(&self.name);
        let type_name = SafeText::line(&self.type_name);
        let column = (width * 3 / 5).max(6);
        Styled::words(" ", ctx.style(Role::Text))
            .then(SafeText::literal(mark), ctx.style(role))
            .then(SafeText::literal(" "), ctx.style(Role::Text))
            .then(SafeText::literal(kind), ctx.style(Role::Accent))
            .then(SafeText::literal(" "), ctx.style(Role::Text))
            .then(SafeText::line(&fit(name.as_str(), column)), ctx.style(name_role))
            .then(SafeText::literal(" "), ctx.style(Role::Text))
            .then(
                SafeText::line(&fit(type_name.as_str(), width.saturating_sub(column + 6))),
                ctx.style(Role::Dim),
            )
    }

    /// All that is known of it.
    pub(super) fn in_full(&self) -> SafeText {
        let mut text = self.text.clone();
        if let Some(before) = &self.before {
            text = format!("{text}\n\nbefore this step:\n{before}");
        }
        SafeText::block(&text)
    }
}
