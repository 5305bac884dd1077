//! Parts that screens are made of. They take [`SafeText`](crate::text::SafeText), or lines of it in several styles,
//! and nothing else: what a log or a model wrote cannot reach the terminal by another way.

mod bar;
mod chrome;
mod highlights;
mod line_edit;
mod list_pane;
mod panel;
mod popup;
mod scrollbar;
mod styled;
mod text_pane;

pub use bar::{Bar, Share};
pub use chrome::{Footer, Header};
pub use highlights::{Highlights, StyleSpan};
pub use line_edit::LineEdit;
pub use list_pane::{ListEvent, ListPane};
pub use panel::Panel;
pub use popup::popup_area;
pub use scrollbar::Scrollbar;
pub use styled::{Styled, clear};
pub use text_pane::TextPane;

pub(crate) use styled::Pen;
