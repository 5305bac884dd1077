//! The left side: a row a name, and how many there are.

use crate::model::{MemoryEntry, MemoryKind};
use crate::text::{Glyphs, SafeText, fit, fit_right, plural};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Types are left out of narrower rows.
const WITH_TYPE: usize = 22;

/// How many names there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    variables: usize,
    functions: usize,
    dropped: usize,
}

impl Counts {
    pub(super) fn of(entries: &[MemoryEntry]) -> Self {
        let of = |kind| entries.iter().filter(|entry| entry.kind == kind).count();
        Self {
            variables: of(MemoryKind::Variable),
            functions: of(MemoryKind::Function),
            dropped: of(MemoryKind::Dropped),
        }
    }

    /// `36 variables, 2 functions, 4 dropped`.
    pub(super) fn words(&self) -> String {
        let variables = plural(self.variables as u128, "variable", "variables");
        let functions = plural(self.functions as u128, "function", "functions");
        format!("{variables}, {functions}, {} dropped", self.dropped)
    }

    /// The same as numbers with marks.
    pub(super) fn marks(&self, ctx: &Ctx<'_>) -> Styled {
        let glyphs = Glyphs::of(ctx.options.ascii);
        let text = format!(
            "{} {dot} {}{} {dot} {}{}",
            self.variables,
            self.functions,
            glyphs.function,
            self.dropped,
            glyphs.failed,
            dot = glyphs.separator,
        );
        Styled::of(SafeText::line(&text), ctx.style(Role::Dim))
    }
}

/// The mark of an entry and its role.
pub(super) fn mark(entry: &MemoryEntry, ctx: &Ctx<'_>) -> (&'static str, Role) {
    let glyphs = Glyphs::of(ctx.options.ascii);
    match entry.kind {
        MemoryKind::Function => (glyphs.function, Role::CodeFunction),
        MemoryKind::Dropped => (glyphs.failed, Role::Failure),
        MemoryKind::Variable if entry.committed => (glyphs.star, Role::Warning),
        MemoryKind::Variable if entry.comment.is_some() => ("#", Role::CodeComment),
        MemoryKind::Variable => (" ", Role::Text),
    }
}

/// A row of `width` cells: mark, name, type.
pub(super) fn row(entry: &MemoryEntry, width: usize, ctx: &Ctx<'_>) -> Styled {
    let (mark, mark_role) = mark(entry, ctx);
    let kind = SafeText::line(type_of(entry));
    let type_width = if width >= WITH_TYPE {
        (width / 3).min(crate::text::cell_width(kind.as_str()))
    } else {
        0
    };
    let gap = usize::from(type_width > 0);
    let name_width = width.saturating_sub(3 + gap + type_width);
    let name = fit(SafeText::line(&entry.name).as_str(), name_width);
    let name_role = if entry.kind == MemoryKind::Dropped {
        Role::Dim
    } else {
        Role::Text
    };
    Styled::words(" ", ctx.style(Role::Text))
        .then(SafeText::literal(mark), ctx.style(mark_role))
        .then(SafeText::line(&format!(" {name}")), ctx.style(name_role))
        .then(SafeText::line(&" ".repeat(gap)), ctx.style(Role::Text))
        .then(
            SafeText::line(&fit_right(kind.as_str(), type_width)),
            ctx.style(Role::Dim),
        )
}

/// The type, or what it is instead.
pub(super) fn type_of(entry: &MemoryEntry) -> &str {
    match (entry.kind, entry.type_name.as_str()) {
        (MemoryKind::Dropped, _) => "dropped",
        (MemoryKind::Function, "") => "function",
        (MemoryKind::Variable, "") => "?",
        (_, name) => name,
    }
}

/// Nothing is remembered.
pub(super) fn draw_empty(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let lines = [
        ("Nothing is remembered yet.", Role::Title),
        ("Variables and functions of the root appear here", Role::Dim),
        ("after the session's first query.", Role::Dim),
    ];
    let top = area.y + area.height.saturating_sub(3) / 2;
    for ((words, role), y) in lines.into_iter().zip(top..area.bottom()) {
        Styled::words(words, ctx.style(role)).draw_centred(Rect { y, height: 1, ..area }, buf);
    }
}
