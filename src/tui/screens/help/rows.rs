//! What help lists, and where: this screen, everywhere, elsewhere.

use crate::text::{Row as Wrapped, SafeText, cell_width, wrap_line};
use crate::tui::action::{ACTIONS, Action, Context};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// Cells for the keys of a row.
const KEYS: usize = 17;

/// Cells that words need beside long keys; else they stand below them, indented.
const ROOM: usize = 24;
const INDENT: usize = 4;

/// Words get so many cells, however narrow the box is.
const LEAST: usize = 8;

/// What the program does wherever one is, as long as the screen has no other use for the key.
const ANYWHERE: [Action; 18] = [
    Action::Back,
    Action::Quit,
    Action::Help,
    Action::Palette,
    Action::Search,
    Action::SearchSession,
    Action::Ask,
    Action::Memory,
    Action::Timeline,
    Action::Sessions,
    Action::Problems,
    Action::Copy,
    Action::OpenExternally,
    Action::Export,
    Action::Resume,
    Action::Budget,
    Action::Suspend,
    Action::Interrupt,
];

/// Rows under a heading.
pub(super) struct Group {
    pub(super) heading: &'static str,
    /// The end of the heading.
    pub(super) place: &'static str,
    pub(super) role: Role,
    pub(super) rows: Vec<Row>,
}

/// A key, or a mark, with what it does or means.
pub(super) struct Row {
    keys: String,
    name: &'static str,
    doc: &'static str,
}

/// What works on the screen that help was opened from, with the meaning it has there; what works everywhere; the rest.
pub(super) fn groups(ctx: &Ctx<'_>) -> Vec<Group> {
    let here = &ctx.here;
    let group = |heading, place, role, rows| Group {
        heading,
        place,
        role,
        rows,
    };
    let mut groups = Vec::new();
    let own = here
        .uses
        .iter()
        .filter_map(|used| row(used.action, here.doc(used.action), ctx));
    groups.push(group("On this screen", "", Role::Text, own.collect()));
    let marks = here.legend.iter().map(|(glyph, doc)| Row {
        keys: glyph(ctx.glyphs()).to_owned(),
        name: "",
        doc,
    });
    groups.push(group("Marks on it", "", Role::Text, marks.collect()));
    let anywhere = ANYWHERE.into_iter().filter(|action| !here.has(*action));
    let anywhere = anywhere.filter_map(|action| row(action, action.entry()?.doc, ctx));
    groups.push(group("Everywhere", "", Role::Text, anywhere.collect()));
    for context in Context::ALL {
        let rest = ACTIONS.iter().filter(|entry| entry.context == context);
        let rest = rest.filter(|entry| !here.has(entry.action) && !ANYWHERE.contains(&entry.action));
        let rows = rest.filter_map(|entry| row(entry.action, entry.doc, ctx)).collect();
        let place = context.place().unwrap_or("on other screens");
        groups.push(group("Elsewhere: ", place, Role::Dim, rows));
    }
    groups
}

/// The row of an action; `None` when it cannot be done now.
fn row(action: Action, doc: &'static str, ctx: &Ctx<'_>) -> Option<Row> {
    let can = action.unavailable(&ctx.can).is_none();
    can.then(|| Row {
        keys: keys(action, ctx),
        name: action.name(),
        doc,
    })
}

/// The keys of an action, or for one that has none the way to it through the palette.
fn keys(action: Action, ctx: &Ctx<'_>) -> String {
    let chords = ctx.keymap.keys(action).iter();
    let labels: Vec<_> = chords.map(|chord| chord.label(ctx.options.ascii)).collect();
    if labels.is_empty() {
        return format!("{} {}", ctx.key(Action::Palette), action.name());
    }
    labels.join("  ")
}

impl Row {
    /// Its text, for a search.
    pub(super) fn text(&self) -> String {
        format!("{} {} {}", self.keys, self.name, self.doc)
    }

    /// The words of its description.
    #[cfg(test)]
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.doc.split(' ')
    }

    /// As many lines as its words need.
    pub(super) fn draw(&self, role: Role, width: usize, ctx: &Ctx<'_>) -> Vec<Styled> {
        let gap = " ".repeat(KEYS.saturating_sub(cell_width(&self.keys)).max(1));
        let keys = format!(" {}{gap}", self.keys);
        // Many keys, or the way through the palette, have a line of their own where words would have no room beside.
        let alone = cell_width(&keys) > KEYS + 1 && width < cell_width(&keys) + ROOM;
        let taken = if alone { INDENT } else { cell_width(&keys) };
        let rows = wrap_line(self.doc, width.saturating_sub(taken).max(LEAST));
        let styled = |before: &str, words| {
            Styled::of(SafeText::line(before), ctx.style(Role::Key)).then(SafeText::line(words), ctx.style(role))
        };
        let line = |(row, words): (usize, Wrapped)| {
            let words = self.doc.get(words.bytes).unwrap_or_default().trim_end();
            let first = row == 0 && !alone;
            styled(&if first { keys.clone() } else { " ".repeat(taken) }, words)
        };
        let head = alone.then(|| styled(keys.trim_end(), ""));
        head.into_iter().chain(rows.into_iter().enumerate().map(line)).collect()
    }
}
