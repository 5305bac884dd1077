//! How much of a state.json is kept in memory: enough for any real one, and never more.

use crate::text::plural;

/// Bytes of texts and entries that are kept in all.
const WHOLE: usize = 192 << 20;
/// Bytes that an entry takes beside its texts.
const ENTRY: usize = 256;
/// Bytes of a text that are kept when the budget is gone.
const SCRAP: usize = 256;
/// What is left for scraps then.
const RESERVE: usize = 16 << 20;

/// The budget of one file.
pub(super) struct Budget {
    left: usize,
    cut: u64,
    dropped: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            left: WHOLE,
            cut: 0,
            dropped: 0,
        }
    }
}

impl Budget {
    /// Room for another entry.
    pub(super) fn entry(&mut self) -> bool {
        let room = self.left >= ENTRY;
        match room {
            true => self.left -= ENTRY,
            false => self.dropped += 1,
        }
        room
    }

    /// How much of a text may be kept.
    pub(super) fn cap(&self, wanted: usize) -> usize {
        match self.left > RESERVE {
            true => wanted.min(self.left - RESERVE),
            false => SCRAP.min(self.left),
        }
        .min(wanted)
    }

    /// A text was kept.
    pub(super) fn spend(&mut self, text: &str, cap: usize) {
        self.left = self.left.saturating_sub(text.len());
        self.cut += u64::from(text.len() > cap);
    }

    /// What had to be left out.
    pub(super) fn describe(&self) -> Option<String> {
        if self.cut + self.dropped == 0 {
            return None;
        }
        let cut = plural(u128::from(self.cut), "text was", "texts were");
        let dropped = plural(u128::from(self.dropped), "entry", "entries");
        Some(format!("very large: {cut} cut, {dropped} left out"))
    }
}
