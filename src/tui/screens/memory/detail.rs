//! The right side: the selected entry in full.

use super::super::split::{Title, indented};
use super::list::{mark, type_of};
use crate::model::{MemoryEntry, MemoryKind};
use crate::text::{SafeText, count};
use crate::tui::content::python_literal;
use crate::tui::content::{Document, Rendered};
use crate::tui::ctx::Ctx;
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, Styled, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// What the pane shows now.
#[derive(Debug)]
struct Shown {
    entry: MemoryEntry,
    view: View,
}

/// How it shows it. Values are laid out for a width; sources and reasons are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Raw,
    LaidOut { width: usize },
    Source { coloured: bool },
}

/// The pane and what it shows.
#[derive(Debug, Default)]
pub(super) struct Detail {
    pub(super) pane: TextPane,
    shown: Option<Shown>,
    raw: bool,
    width: usize,
    /// Colours of the source.
    pub(super) source: Option<Arc<Highlights>>,
}

impl Detail {
    /// Shows an entry; `false` when it is on screen already.
    pub(super) fn show(&mut self, entry: Option<&MemoryEntry>, ctx: &Ctx<'_>) -> bool {
        let other = entry != self.shown.as_ref().map(|shown| &shown.entry);
        if other {
            self.source = None;
            self.fill(entry, ctx);
        }
        other
    }

    pub(super) fn is_raw(&self) -> bool {
        self.raw
    }

    pub(super) fn toggle_raw(&mut self) {
        self.raw = !self.raw;
    }

    pub(super) fn search(&mut self, pattern: Option<&Pattern>) {
        self.pane.search(pattern);
    }

    /// The colours of the source have come.
    pub(super) fn set_source_highlights(&mut self, highlights: &Arc<Highlights>) {
        self.source = Some(highlights.clone());
    }

    pub(super) fn title(&self, entry: Option<&MemoryEntry>, ctx: &Ctx<'_>) -> Title {
        let Some(entry) = entry else { return Title::default() };
        let view = if self.raw { "as recorded" } else { "" };
        Title {
            text: SafeText::line(&entry.name),
            aside: Styled::words(view, ctx.style(Role::Warning)),
        }
    }

    pub(super) fn draw(&mut self, entry: Option<&MemoryEntry>, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let inside = indented(area);
        // The last column is the scrollbar's.
        self.width = usize::from(inside.width.saturating_sub(1)).max(1);
        if !self.is_shown(entry) {
            self.fill(entry, ctx);
        }
        self.pane.draw(inside, buf, ctx);
    }

    fn view(&self, entry: &MemoryEntry) -> View {
        match entry.kind {
            _ if self.raw => View::Raw,
            MemoryKind::Variable => View::LaidOut { width: self.width },
            _ => View::Source {
                coloured: self.source.is_some(),
            },
        }
    }

    /// It is on screen, in the view that is wanted.
    fn is_shown(&self, entry: Option<&MemoryEntry>) -> bool {
        match (entry, &self.shown) {
            (Some(entry), Some(shown)) => shown.view == self.view(entry) && shown.entry == *entry,
            (entry, shown) => entry.is_none() && shown.is_none(),
        }
    }

    /// Makes the text anew; the view stays where it is when it is the same entry.
    fn fill(&mut self, entry: Option<&MemoryEntry>, ctx: &Ctx<'_>) {
        let same = entry.map(|entry| &entry.name) == self.shown.as_ref().map(|shown| &shown.entry.name);
        let rendered = entry.map_or_else(Rendered::default, |entry| self.document(entry, ctx));
        if same {
            self.pane.update(rendered.text);
        } else {
            self.pane.open(rendered.text);
        }
        self.pane
            .set_highlights(self.pane.generation(), Arc::new(rendered.highlights));
        self.shown = entry.map(|entry| Shown {
            entry: entry.clone(),
            view: self.view(entry),
        });
    }

    /// Everything that is known of an entry: facts first, then what it holds.
    fn document(&self, entry: &MemoryEntry, ctx: &Ctx<'_>) -> Rendered {
        let mut document = Document::default();
        self.facts(entry, &mut document, ctx);
        document.line(&[]);
        document.append(&self.value(entry));
        document.finish()
    }

    fn value(&self, entry: &MemoryEntry) -> Rendered {
        if self.raw {
            return Rendered::plain(SafeText::raw(&entry.text));
        }
        let plain = || Rendered::plain(SafeText::block(&entry.text));
        match entry.kind {
            MemoryKind::Variable => python_literal::pretty(&entry.text, self.width).unwrap_or_else(plain),
            MemoryKind::Function => match &self.source {
                Some(highlights) => Rendered {
                    highlights: Highlights::clone(highlights),
                    ..plain()
                },
                None => plain(),
            },
            MemoryKind::Dropped => plain(),
        }
    }

    /// Type, marks, note, comment, where it was bound.
    fn facts(&self, entry: &MemoryEntry, document: &mut Document, ctx: &Ctx<'_>) {
        let (mark, role) = mark(entry, ctx);
        let state = match entry.kind {
            MemoryKind::Variable if entry.committed => " committed",
            MemoryKind::Dropped => " not saved",
            _ => "",
        };
        let kind = if entry.kind == MemoryKind::Dropped {
            ""
        } else {
            type_of(entry)
        };
        let size = match entry.pickle_bytes {
            0 => String::new(),
            bytes => format!("{} bytes saved", count(u128::from(bytes))),
        };
        let lead = if state.is_empty() { "" } else { mark };
        document.facts(&[
            (kind, Role::CodeType),
            (&format!("{lead}{state}"), role),
            (&size, Role::Dim),
        ]);
        if let Some(note) = entry.note.as_deref().filter(|note| !note.trim().is_empty()) {
            document.named("note     ", note, Role::Text, self.width);
        }
        if let Some(comment) = entry.comment.as_deref().filter(|comment| !comment.trim().is_empty()) {
            document.named("comment  ", comment, Role::CodeComment, self.width);
        }
        match entry.bound {
            Some(bound) => {
                let place = format!("{} step {}", bound.label, bound.step);
                let key = format!("   {} goes there", ctx.key(crate::tui::action::Action::Open));
                document.line(&[("bound by ", Role::Dim), (&place, Role::Accent), (&key, Role::Dim)]);
            }
            None => document.line(&[("bound by ", Role::Dim), ("no recorded step", Role::Dim)]),
        }
    }
}
