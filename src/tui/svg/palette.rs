//! The colours of a picture: what a terminal's defaults and its sixteen named colours look like.

use crate::tui::theme::{Role, Theme, luminance};
use ratatui::style::Color;

/// The terminal that a picture shows.
#[derive(Clone, Debug)]
pub struct Look {
    /// Default background, `#rrggbb`.
    pub background: String,
    /// Default text colour.
    pub foreground: String,
    /// The window's edge.
    pub border: String,
    /// The sixteen named colours.
    named: [u32; 16],
}

impl Look {
    /// A dark terminal.
    pub fn dark() -> Self {
        Self {
            background: "#12151c".into(),
            foreground: "#d7dce5".into(),
            border: "#343b4a".into(),
            named: [
                0x1b_1f28, 0xe0_6c75, 0x8c_c265, 0xd9_a45b, 0x6c_a8f0, 0xc6_78dd, 0x56_b6c2, 0xd7_dce5, 0x5c_6576,
                0xff_7a85, 0xa5_e075, 0xf0_c674, 0x8c_c0ff, 0xde_9af5, 0x7f_d6e0, 0xff_ffff,
            ],
        }
    }

    /// A light terminal.
    pub fn light() -> Self {
        Self {
            background: "#fbfaf7".into(),
            foreground: "#22262e".into(),
            border: "#cfccc4".into(),
            named: [
                0x22_262e, 0xb4_2318, 0x2f_7d32, 0x8a_5a00, 0x1f_5fbf, 0x8b_2fa8, 0x0b_7285, 0xd5_d3cc, 0x6d_7480,
                0xc9_3a2e, 0x3b_8f3e, 0xa0_6c00, 0x2f_74dd, 0xa1_44c0, 0x0f_8699, 0xff_ffff,
            ],
        }
    }

    /// A terminal whose own colours are those of a theme: the window of a picture ends where its text does.
    #[must_use]
    pub fn of(theme: &Theme) -> Self {
        let (text, border) = (theme.style(Role::Text), theme.style(Role::Border));
        let is_light = matches!(text.bg, Some(Color::Rgb(r, g, b)) if luminance((r, g, b)) > 0.5);
        let mut look = if is_light { Self::light() } else { Self::dark() };
        let hex = |colour: Option<Color>| look.hex(colour?);
        let found = (hex(text.bg), hex(text.fg), hex(border.fg));
        if let (Some(background), Some(foreground), Some(border)) = found {
            look = Self {
                background,
                foreground,
                border,
                ..look
            };
        }
        look
    }

    /// `#rrggbb` of a colour; `None` for the terminal's default.
    pub(super) fn hex(&self, colour: Color) -> Option<String> {
        let rgb = match colour {
            Color::Reset => return None,
            Color::Rgb(r, g, b) => u32::from_be_bytes([0, r, g, b]),
            Color::Indexed(index) => self.indexed(index),
            named => self.indexed(place(named)),
        };
        Some(format!("#{rgb:06x}"))
    }

    /// A colour of the 256: sixteen named ones, a cube of 6×6×6, 24 greys.
    fn indexed(&self, index: u8) -> u32 {
        if let Some(named) = self.named.get(usize::from(index)) {
            return *named;
        }
        let index = u32::from(index);
        if index >= 232 {
            return (8 + (index - 232) * 10) * 0x01_0101;
        }
        let level = |part: u32| if part == 0 { 0 } else { 55 + part * 40 };
        let cube = index - 16;
        level(cube / 36) << 16 | level(cube / 6 % 6) << 8 | level(cube % 6)
    }
}

/// A named colour's place among the sixteen.
fn place(colour: Color) -> u8 {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    (0..)
        .zip(NAMED)
        .find(|(_, named)| *named == colour)
        .map_or(7, |(place, _)| place)
}
