//! JSON as rows that fold: reads only what is unfolded, whatever the size and depth of the whole.
//!
//! A row remembers where its value lies in the text; unfolding scans that value once for its members. Strings of
//! several lines fold too, and show their lines when open.

use std::ops::Range;

use crate::text::Shared;

use super::json_scan::{Members, skip_space, value_end};

mod escape;
mod print;

/// Members that one unfolding shows; the rest waits behind a row.
const PAGE: usize = 500;
/// Rows that are unfolded unasked.
const FIRST_ROWS: usize = 200;
/// Depth to which values are unfolded unasked.
const FIRST_DEPTH: u32 = 6;
/// Rows and depth that "unfold all" stops at.
const ALL_ROWS: usize = 20_000;
const ALL_DEPTH: u32 = 64;

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// An object with this many members.
    Object(usize),
    /// An array with this many items.
    Array(usize),
    /// A string of several lines.
    Text,
    /// Any other value.
    Scalar,
    /// The bracket that closes a value.
    Close,
    /// Members that are not shown yet.
    More,
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonRow {
    /// Depth, 0 for the whole.
    pub depth: u32,
    /// What it shows.
    pub kind: RowKind,
    /// It is unfolded.
    pub open: bool,
    key: Option<Range<usize>>,
    /// The value; of [`RowKind::More`] the place to go on from.
    value: Range<usize>,
    /// Another member follows.
    comma: bool,
}

impl JsonRow {
    /// It can be folded or unfolded.
    pub fn folds(&self) -> bool {
        match self.kind {
            RowKind::Object(members) | RowKind::Array(members) => members > 0,
            RowKind::Text | RowKind::More => true,
            RowKind::Scalar | RowKind::Close => false,
        }
    }
}

/// A JSON value as foldable rows.
#[derive(Clone, Debug)]
pub struct JsonTree {
    text: Shared,
    rows: Vec<JsonRow>,
}

impl JsonTree {
    /// The tree of a JSON value, unfolded as far as it stays small. Damaged JSON gives a tree of what is there.
    pub fn new(text: impl Into<Shared>) -> Self {
        let text = text.into();
        let at = skip_space(text.as_bytes(), 0, b"");
        let (end, members) = value_end(text.as_bytes(), at);
        let root = row(&text, 0, None, at..end, members);
        let mut tree = Self { text, rows: vec![root] };
        tree.unfold_levels(FIRST_ROWS, FIRST_DEPTH);
        tree
    }

    /// The rows as folded now.
    pub fn rows(&self) -> &[JsonRow] {
        &self.rows
    }

    /// Folds or unfolds a row; `false` when it cannot be. Of a row of [`RowKind::More`] shows the next ones.
    pub fn toggle(&mut self, index: usize) -> bool {
        match self.rows.get(index) {
            Some(row) if !row.folds() => false,
            Some(row) if row.open => self.fold(index),
            Some(_) => self.unfold(index),
            None => false,
        }
    }

    /// Folds everything but the outermost value.
    pub fn fold_all(&mut self) {
        self.rows.truncate(1);
        if let Some(root) = self.rows.first_mut() {
            root.open = false;
        }
        self.unfold(0);
    }

    /// Unfolds everything, up to 20,000 rows and 64 levels.
    pub fn unfold_all(&mut self) {
        self.unfold_levels(ALL_ROWS, ALL_DEPTH);
    }

    /// Unfolds level by level while the rows stay within `limit`; rows are rebuilt once a level.
    fn unfold_levels(&mut self, limit: usize, depth: u32) {
        for level in 0..depth {
            let mut room = limit.saturating_sub(self.rows.len());
            let mut rows = Vec::with_capacity(self.rows.len());
            for mut row in std::mem::take(&mut self.rows) {
                let members = match row.kind {
                    RowKind::Object(members) | RowKind::Array(members) => members,
                    _ => 0,
                };
                let opens = row.depth == level && !row.open && members > 0 && members < room;
                row.open |= opens;
                let inner = if opens { self.inner(&row) } else { Vec::new() };
                room = room.saturating_sub(inner.len());
                rows.push(row);
                rows.extend(inner);
            }
            self.rows = rows;
        }
    }

    /// Folds a row: the rows below it that are deeper, and its closing bracket, go.
    fn fold(&mut self, index: usize) -> bool {
        let Some(row) = self.rows.get_mut(index) else {
            return false;
        };
        row.open = false;
        let (depth, closes) = (row.depth, row.kind != RowKind::Text);
        let below = self.rows.get(index + 1..).unwrap_or_default();
        let deeper = below.iter().take_while(|row| row.depth > depth).count();
        self.rows
            .drain(index + 1..index + 1 + deeper + usize::from(closes && deeper < below.len()));
        true
    }

    fn unfold(&mut self, index: usize) -> bool {
        let Some(row) = self.rows.get_mut(index).filter(|row| row.folds()) else {
            return false;
        };
        row.open = true;
        let row = row.clone();
        let inner = self.inner(&row);
        let at = if row.kind == RowKind::More {
            index..index + 1
        } else {
            index + 1..index + 1
        };
        self.rows.splice(at, inner);
        true
    }

    /// The rows that an unfolded row puts below itself; of `More` those that take its place.
    fn inner(&self, row: &JsonRow) -> Vec<JsonRow> {
        match row.kind {
            RowKind::Object(_) | RowKind::Array(_) => {
                let mut rows = self.page(Members::new(&self.text, row.value.start), row.depth + 1);
                rows.push(JsonRow {
                    kind: RowKind::Close,
                    open: false,
                    key: None,
                    ..row.clone()
                });
                rows
            }
            RowKind::More => {
                let object = row.key.is_some();
                self.page(Members::resume(&self.text, row.value.start, object), row.depth)
            }
            RowKind::Text | RowKind::Scalar | RowKind::Close => Vec::new(),
        }
    }

    /// The next rows of a container, and a row for what is left.
    fn page(&self, mut members: Members<'_>, depth: u32) -> Vec<JsonRow> {
        let mut rows = Vec::new();
        let mut object = false;
        for member in members.by_ref().take(PAGE) {
            object = member.key.is_some();
            rows.push(row(&self.text, depth, member.key, member.value, member.members));
        }
        let at = members.position();
        if members.next().is_some() {
            let key = object.then_some(at..at);
            rows.push(JsonRow {
                depth,
                kind: RowKind::More,
                open: false,
                key,
                value: at..at,
                comma: false,
            });
        } else if let Some(last) = rows.last_mut() {
            last.comma = false;
        }
        rows
    }
}

fn row(text: &str, depth: u32, key: Option<Range<usize>>, value: Range<usize>, members: usize) -> JsonRow {
    let source = text.get(value.clone()).unwrap_or_default();
    let kind = match source.as_bytes().first() {
        Some(b'{') => RowKind::Object(members),
        Some(b'[') => RowKind::Array(members),
        Some(b'"') if escape::has_newline(source) => RowKind::Text,
        _ => RowKind::Scalar,
    };
    JsonRow {
        depth,
        kind,
        open: false,
        key,
        value,
        comma: depth > 0,
    }
}

#[cfg(test)]
mod tests;
