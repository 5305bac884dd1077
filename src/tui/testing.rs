//! For tests of screens and widgets: a world to draw in, and frames as text.

use super::action::{Abilities, Context, Here};
use super::ctx::ViewOptions;
use super::effect::Token;
use super::keymap::Keymap;
use super::live::{Divergence, ForkOrder, ForkRequest};
use super::theme::{Depth, Theme};
use super::widgets::prompt::Settings;
use crate::model::Session;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use std::time::Duration;

pub(crate) use super::ctx::World;

/// What a fork is asked for.
pub(crate) fn fork_order() -> ForkOrder {
    let request = ForkRequest {
        run_id: "root0".into(),
        label: "Q1".into(),
        step: 2,
        divergence: Divergence::Replan("be brief".into()),
    };
    ForkOrder {
        token: Token(1),
        request,
        settings: Settings::default(),
    }
}

impl World {
    /// An empty session in the dark theme, 120×36, UTC, without animation.
    pub(crate) fn new() -> Self {
        Self {
            session: Session::default(),
            theme: Theme::built_in(true, Depth::True),
            keymap: Keymap::default(),
            options: ViewOptions {
                utc: true,
                animation: false,
                ..ViewOptions::default()
            },
            can: Abilities {
                session: true,
                sessions: true,
                ..Abilities::default()
            },
            base: Context::Everywhere,
            here: Here::default(),
            exports: "/home/ada/work".into(),
            sort: Default::default(),
            sessions: None,
            running: std::sync::Arc::default(),
            lab: super::live::LabDesk::default(),
            size: Size::new(120, 36),
            now: Duration::ZERO,
            wall: 1_700_000_000_000,
        }
    }
}

/// The characters of a frame, a line a row, without trailing blanks.
pub(crate) fn text_of(buf: &Buffer) -> String {
    let width = usize::from(buf.area.width).max(1);
    let row = |cells: &[ratatui::buffer::Cell]| {
        let mut out = String::new();
        let mut skip = 0;
        for cell in cells {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            out.push_str(cell.symbol());
            skip = crate::text::cell_width(cell.symbol()).saturating_sub(1);
        }
        out.trim_end().to_owned()
    };
    buf.content().chunks(width).map(row).collect::<Vec<_>>().join("\n")
}
