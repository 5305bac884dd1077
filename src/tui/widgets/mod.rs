//! Parts that screens are made of. They take [`SafeText`](crate::text::SafeText), or lines of it in several styles,
//! and nothing else: what a log or a model wrote cannot reach the terminal by another way.

mod bar;
mod chrome;
mod highlights;
mod line_edit;
mod list_pane;
mod panel;
mod popup;
pub mod prompt;
mod scrollbar;
mod styled;
mod text_pane;

pub use bar::{Bar, Share};
pub use chrome::{Footer, Header};
pub use highlights::{Highlights, StyleSpan};
pub use line_edit::LineEdit;
pub use list_pane::{ListEvent, ListPane};
pub use panel::Panel;
pub use popup::{popup_area, popup_width};
pub use scrollbar::Scrollbar;
pub use styled::{Styled, clear};
pub use text_pane::TextPane;

pub(crate) use styled::Pen;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SafeText;
    use crate::tui::action::{ACTIONS, Action, Here};
    use crate::tui::notice::Notice;
    use crate::tui::testing::{World, text_of};
    use crate::tui::theme::Role;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    const HARD: &str = "a 中文 👨‍👩‍👧‍👦 e\u{301}\u{301} ⚠️ \x1b[31m🇩🇪 שלום";

    /// Draws at every small size, at the origin and away from it, and returns the last frame.
    fn at_every_size(draw: impl Fn(Rect, &mut Buffer)) -> String {
        let mut last = String::new();
        for width in 0..30 {
            for height in 0..12 {
                for (x, y) in [(0, 0), (3, 2)] {
                    let mut buf = Buffer::empty(Rect::new(0, 0, width + x, height + y));
                    draw(Rect::new(x, y, width, height), &mut buf);
                    last = text_of(&buf);
                }
            }
        }
        last
    }

    #[test]
    fn every_widget_draws_at_every_size() {
        let world = World::new();
        let ctx = world.ctx();
        let line =
            Styled::of(SafeText::line(HARD), ctx.style(Role::Text)).then(SafeText::line(HARD), ctx.style(Role::Dim));
        let notice = Notice::trouble(HARD);
        at_every_size(|area, buf| {
            line.draw(area, buf);
            line.draw_right(area, buf);
            line.draw_centred(area, buf);
        });
        at_every_size(|area, buf| {
            let panel = Panel::new(SafeText::line(HARD), &ctx).aside(line.clone());
            let inside = panel.focused(true).draw(area, buf, &ctx);
            assert!(area.intersects(inside) || inside.is_empty());
        });
        for share in [
            Share::Unknown,
            Share::Of { part: 3, whole: 7 },
            Share::Of { part: 9, whole: 0 },
        ] {
            at_every_size(|area, buf| {
                Bar {
                    share,
                    role: Role::Accent,
                }
                .draw(area, buf, &ctx)
            });
        }
        at_every_size(|area, buf| {
            Scrollbar {
                start: 7,
                visible: 3,
                total: 99,
            }
            .draw(area, buf, &ctx)
        });
        at_every_size(|area, buf| {
            let path = vec![SafeText::line(HARD), SafeText::line("Q1")];
            Header {
                path,
                aside: line.clone(),
            }
            .draw(area, buf, &ctx);
        });
        let hints: Vec<_> = ACTIONS.iter().map(|entry| entry.action).collect();
        for notice in [None, Some(&notice)] {
            at_every_size(|area, buf| {
                let footer = Footer {
                    notice,
                    hints: hints.clone(),
                    always: vec![Action::Help, Action::Back],
                    here: Here::default(),
                    aside: line.clone(),
                };
                footer.draw(area, buf, &ctx);
            });
        }
        at_every_size(|area, buf| {
            let caret = LineEdit::with_text(HARD).draw_after(&line, area, buf, &ctx);
            assert!(caret.is_none_or(|caret| area.contains(caret)));
        });
        at_every_size(|area, buf| {
            let place = popup_area(area, 50, 50, buf, &ctx);
            assert!(place.intersection(area) == place);
        });
    }

    #[test]
    fn a_line_that_is_cut_says_so_and_cuts_no_character() {
        let world = World::new();
        let style = world.ctx().style(Role::Text);
        let draw = |width| {
            let area = Rect::new(0, 0, width, 1);
            let mut buf = Buffer::empty(area);
            Styled::of(SafeText::line("ab中文"), style).draw(area, &mut buf);
            text_of(&buf)
        };
        let cuts: Vec<_> = (0..=6).map(draw).collect();
        assert_eq!(cuts, ["", "…", "a…", "ab…", "ab…", "ab中…", "ab中文"]);
    }

    #[test]
    fn a_popup_takes_wide_characters_at_its_edge_as_a_whole() {
        let world = World::new();
        let mut buf = Buffer::empty(Rect::new(0, 0, 8, 1));
        Styled::words("中中中中", world.ctx().style(Role::Text)).draw(buf.area, &mut buf);
        clear(Rect::new(3, 0, 2, 1), &mut buf, world.ctx().style(Role::Text));
        assert_eq!(text_of(&buf), "中    中");
    }
}
