//! Tables of Markdown: columns where they fit, else one `header: value` line a cell.

use pulldown_cmark::Alignment;

use super::markdown_block::Blocks;
use crate::text::cell_width;
use crate::tui::theme::Role;

const GAP: &str = "  ";

type Pieces = Vec<(String, Role)>;

/// A table that is being read.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first row is the header.
    rows: Vec<Vec<Pieces>>,
    row: Vec<Pieces>,
    cell: Pieces,
}

impl Table {
    pub(super) fn new(alignments: &[Alignment]) -> Self {
        Self {
            alignments: alignments.to_vec(),
            rows: Vec::new(),
            row: Vec::new(),
            cell: Vec::new(),
        }
    }

    pub(super) fn text(&mut self, text: &str, role: Role) {
        self.cell.push((text.replace('\n', " "), role));
    }

    pub(super) fn end_cell(&mut self) {
        self.row.push(std::mem::take(&mut self.cell));
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Prints it for `width` cells.
    pub(super) fn print(&self, width: usize, blocks: &mut Blocks) {
        let columns = self.widths();
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        if columns.iter().sum::<usize>() + gaps <= width {
            self.print_columns(&columns, blocks);
        } else {
            self.print_list(blocks);
        }
    }

    fn widths(&self) -> Vec<usize> {
        let of = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(cells).max();
        (0..self.alignments.len())
            .map(|column| of(column).unwrap_or(0))
            .collect()
    }

    fn print_columns(&self, columns: &[usize], blocks: &mut Blocks) {
        for (index, row) in self.rows.iter().enumerate() {
            blocks.print(&self.line(row, columns, index == 0));
            if index == 0 {
                let rules: Vec<String> = columns.iter().map(|width| "─".repeat(*width)).collect();
                blocks.print(&[(rules.join(GAP), Role::MarkdownMark)]);
            }
        }
    }

    fn line(&self, row: &[Pieces], columns: &[usize], header: bool) -> Pieces {
        let mut line = Pieces::new();
        for (column, (cell, width)) in row.iter().zip(columns).enumerate() {
            let space = width.saturating_sub(cells(cell));
            let before = match self.alignments.get(column) {
                Some(Alignment::Right) => space,
                Some(Alignment::Center) => space / 2,
                _ => 0,
            };
            let lead = if column > 0 { GAP.len() } else { 0 };
            line.push((" ".repeat(lead + before), Role::Text));
            line.extend(
                cell.iter()
                    .map(|(text, role)| (text.clone(), if header { Role::MarkdownStrong } else { *role })),
            );
            let last = column + 1 == row.len();
            line.push((" ".repeat(if last { 0 } else { space - before }), Role::Text));
        }
        line
    }

    fn print_list(&self, blocks: &mut Blocks) {
        let header = self.rows.first().map_or(&[][..], Vec::as_slice);
        for (index, row) in self.rows.iter().skip(1).enumerate() {
            if index > 0 {
                blocks.gap();
            }
            for (name, cell) in header.iter().zip(row) {
                let name: String = name.iter().map(|(text, _)| text.as_str()).collect();
                blocks.text(&format!("{name}: "), Some(Role::MarkdownStrong));
                cell.iter().for_each(|(text, role)| blocks.text(text, Some(*role)));
                blocks.end_line();
            }
        }
    }
}

fn cells(cell: &Pieces) -> usize {
    cell.iter().map(|(text, _)| cell_width(text)).sum()
}
