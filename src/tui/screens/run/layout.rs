//! Where the parts of the run screen lie: code and output side by side, stacked when narrow, and one at a time when
//! very narrow.

use super::Part;
use ratatui::layout::Rect;

/// From this width on code and output stand side by side.
const SIDE_BY_SIDE: u16 = 100;
/// Below this width, or height, one part at a time is shown under the tree.
const STACKED: (u16, u16) = (60, 15);

/// The areas of the parts; those that are not shown have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The run's name and its query.
    pub(super) header: Rect,
    pub(super) tree: Option<Rect>,
    pub(super) info: Option<Rect>,
    pub(super) code: Option<Rect>,
    pub(super) output: Option<Rect>,
    /// Parts have borders; else a line with their names.
    pub(super) bordered: bool,
}

impl Areas {
    /// The area of a part.
    pub(super) fn of(&self, part: Part) -> Option<Rect> {
        match part {
            Part::Tree => self.tree,
            Part::Info => self.info,
            Part::Code => self.code,
            Part::Output => self.output,
        }
    }

    fn set(&mut self, part: Part, area: Rect) {
        let slot = match part {
            Part::Tree => &mut self.tree,
            Part::Info => &mut self.info,
            Part::Code => &mut self.code,
            Part::Output => &mut self.output,
        };
        *slot = Some(area);
    }
}

/// Lays the parts out. `focus` is shown where only one fits, and takes all of the right side while `zoomed`.
pub(super) fn lay_out(area: Rect, info_rows: u16, focus: Part, zoomed: bool) -> Areas {
    let header = Rect {
        height: area.height.min(if area.height >= 30 { 2 } else { 1 }),
        ..area
    };
    let (_, below) = rows(area, header.height);
    let mut areas = Areas {
        header,
        ..Areas::default()
    };
    if area.width < STACKED.0 || area.height < STACKED.1 {
        narrow(&mut areas, below, focus, zoomed);
        return areas;
    }
    areas.bordered = true;
    let tree = if area.width >= SIDE_BY_SIDE {
        (area.width * 3 / 10).clamp(30, 48)
    } else {
        (area.width / 3).max(24)
    };
    let (left, right) = columns(below, tree);
    areas.set(Part::Tree, left);
    if zoomed && focus != Part::Tree {
        areas.set(focus, right);
        return areas;
    }
    let (info, texts) = rows(right, (info_rows + 2).min(right.height * 2 / 5));
    areas.set(Part::Info, info);
    let (code, output) = if area.width >= SIDE_BY_SIDE {
        columns(texts, texts.width / 2)
    } else {
        rows(texts, texts.height / 2)
    };
    areas.set(Part::Code, code);
    areas.set(Part::Output, output);
    areas
}

/// The tree above, one part below; a focused tree shows the code.
fn narrow(areas: &mut Areas, below: Rect, focus: Part, zoomed: bool) {
    let shown = if focus == Part::Tree { Part::Code } else { focus };
    let tree = match (zoomed, focus) {
        (true, Part::Tree) => below.height,
        (true, _) => 0,
        (false, _) => (below.height * 2 / 5).clamp(1, 12).min(below.height),
    };
    let (above, rest) = rows(below, tree);
    if above.height > 0 {
        areas.set(Part::Tree, above);
    }
    if rest.height > 0 {
        areas.set(shown, rest);
    }
}

/// The first rows of an area, and the rest.
fn rows(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let rest = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (Rect { height, ..area }, rest)
}

/// The first columns of an area, and the rest.
fn columns(area: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(area.width);
    let rest = Rect {
        x: area.x + width,
        width: area.width - width,
        ..area
    };
    (Rect { width, ..area }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARTS: [Part; 4] = [Part::Tree, Part::Info, Part::Code, Part::Output];

    proptest! {
        #[test]
        fn parts_lie_inside_and_apart(
            width in 0u16..200, height in 0u16..60, info in 0u16..9, focus in 0usize..4, zoomed: bool,
        ) {
            let area = Rect::new(3, 2, width, height);
            let areas = lay_out(area, info, PARTS[focus], zoomed);
            let shown: Vec<Rect> = PARTS.iter().filter_map(|part| areas.of(*part)).chain([areas.header]).collect();
            for (place, part) in shown.iter().enumerate() {
                prop_assert_eq!(part.intersection(area), *part);
                for other in &shown[place + 1..] {
                    prop_assert!(part.intersection(*other).is_empty());
                }
            }
            prop_assert!(height < 3 || areas.of(PARTS[focus]).is_some() || PARTS[focus] == Part::Info);
        }
    }

    #[test]
    fn code_and_output_stand_side_by_side_where_there_is_room() {
        let wide = lay_out(Rect::new(0, 0, 120, 34), 5, Part::Code, false);
        assert_eq!(wide.code.map(|area| area.y), wide.output.map(|area| area.y));
        let stacked = lay_out(Rect::new(0, 0, 80, 22), 5, Part::Code, false);
        assert_eq!(stacked.code.map(|area| area.x), stacked.output.map(|area| area.x));
        let narrow = lay_out(Rect::new(0, 0, 40, 10), 5, Part::Output, false);
        assert_eq!((narrow.code, narrow.info), (None, None));
        assert!(narrow.tree.is_some() && narrow.output.is_some());
    }
}
