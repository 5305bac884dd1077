//! How many rows the box takes, and which of them are for what. A small terminal gets no border and fewer rows.

use super::InputBox;
use crate::tui::ctx::Ctx;

/// From this many rows on there is a border around the box.
const BORDERED: u16 = 14;
/// Rows in which is told why something cannot be done.
const TOLD: u16 = 3;
/// From this many rows on the settings are always shown, else only while the box has the focus.
const ROOMY: u16 = 24;

/// The rows of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) bordered: bool,
    /// Rows of what is written or asked.
    pub(super) text: u16,
    /// Why something cannot be done.
    pub(super) trouble: u16,
    /// Model, spend, limits.
    pub(super) settings: u16,
}

impl Plan {
    /// All of them.
    pub(super) fn height(self) -> u16 {
        self.text + self.trouble + self.settings + if self.bordered { 2 } else { 0 }
    }
}

impl InputBox {
    /// The rows in an area of `room` rows: never more than two fifths of it, or three for a question.
    pub(super) fn plan(&mut self, width: u16, room: u16, ctx: &Ctx<'_>) -> Plan {
        let bordered = room >= BORDERED;
        // A border, and a blank beside it.
        let beside = if bordered { 4 } else { 0 };
        // Who writes here can read all of it; else it is no more than a hint.
        let most = if self.focused && bordered { TOLD } else { 1 };
        let told = self.trouble(width.saturating_sub(beside), most, ctx).len();
        let trouble = u16::try_from(told).unwrap_or(most);
        if !self.can_focus() {
            return Plan {
                bordered: false,
                text: 0,
                trouble: trouble.min(room),
                settings: 0,
            };
        }
        let settings = u16::from(self.focused || room >= ROOMY);
        let share = if self.asked.is_some() { 3 } else { 2 };
        let frame = if bordered { 2 } else { 0 };
        let most = (room * share / 5).saturating_sub(frame + trouble + settings).max(1);
        // A border, and a blank beside it.
        let inside = width.saturating_sub(2 * frame + super::draw::MARK);
        let wanted = match &mut self.asked {
            _ if !self.focused => 1,
            Some(asked) => asked.height(inside),
            None => self.draft.height(inside),
        };
        let text = u16::try_from(wanted).unwrap_or(u16::MAX).min(most);
        // On a very small terminal what is written goes first.
        let rest = room.saturating_sub(frame + text);
        Plan {
            bordered,
            text: text.min(room),
            trouble: trouble.min(rest),
            settings: settings.min(rest.saturating_sub(trouble)),
        }
    }

    /// Rows it takes of an area of `room` rows.
    pub fn height(&mut self, width: u16, room: u16, ctx: &Ctx<'_>) -> u16 {
        self.plan(width, room, ctx).height().min(room)
    }
}
