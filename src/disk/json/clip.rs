//! Text that is kept up to a limit: its head, and its tail where one is wanted, with a mark between.

use crate::text::cut_mark;

/// Room for the mark where something was left out.
const MARK: usize = 64;

/// Collects bytes of a text; what is over the limit is only counted.
pub(crate) struct Clip {
    head: Vec<u8>,
    tail: Vec<u8>,
    head_cap: usize,
    tail_cap: usize,
    total: u64,
}

/// What is kept of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clipped {
    /// The text, with a mark where something was left out.
    pub(crate) text: String,
    /// Some of its bytes were no text.
    pub(crate) repaired: bool,
    /// Something was left out.
    pub(crate) cut: bool,
}

impl Clip {
    /// Keeps the first `cap` bytes.
    pub(crate) fn head(cap: usize) -> Self {
        Self::head_and_tail(cap, 0)
    }

    /// Keeps the first and the last bytes.
    pub(crate) fn head_and_tail(head_cap: usize, tail_cap: usize) -> Self {
        Self::of_size(0, head_cap, tail_cap)
    }

    /// The same, of a text of at most `size` bytes: a large one that grew would be held twice now and then.
    pub(crate) fn of_size(size: usize, head_cap: usize, tail_cap: usize) -> Self {
        let all = head_cap.saturating_add(tail_cap);
        Self {
            head: Vec::with_capacity(size.min(all)),
            tail: Vec::new(),
            head_cap,
            tail_cap,
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_cap.saturating_sub(self.head.len());
        let (kept, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(kept);
        if self.tail_cap == 0 || rest.is_empty() {
            return;
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > self.tail_cap.saturating_mul(2) {
            self.tail.drain(..self.tail.len() - self.tail_cap);
        }
    }

    /// Something was left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len().min(self.tail_cap)) as u64
    }

    /// The text. What was gathered becomes it: a large one is not held twice, unless bytes of it are no text.
    pub(crate) fn into_text(self) -> Clipped {
        let cut = self.is_cut();
        let Self {
            mut head,
            tail,
            head_cap,
            tail_cap,
            total,
        } = self;
        if !cut {
            head.extend_from_slice(&tail);
            return whole(head, head_cap, tail_cap);
        }
        let over = tail.len().saturating_sub(tail_cap);
        let tail = whole_characters_at_start(tail.get(over..).unwrap_or_default());
        head.truncate(whole_characters_at_end(&head).len());
        let (mut text, mut repaired) = match String::from_utf8(head) {
            Ok(text) => (text, false),
            Err(error) => (front(error.as_bytes(), head_cap).0, true),
        };
        text.push_str(&cut_mark(total));
        repaired |= push_back(&mut text, tail, tail_cap);
        Clipped { text, repaired, cut }
    }
}

/// A text of which everything was kept; marks for what is no text are longer than that, and can make it too long.
fn whole(bytes: Vec<u8>, head_cap: usize, tail_cap: usize) -> Clipped {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => {
            let (repaired, cut) = (false, false);
            return Clipped { text, repaired, cut };
        }
        Err(error) => error.into_bytes(),
    };
    let (mut text, mut read) = front(&bytes, head_cap.saturating_add(tail_cap).saturating_add(MARK));
    let cut = read < bytes.len();
    if cut {
        (text, read) = front(&bytes, head_cap);
        text.push_str(&cut_mark(bytes.len() as u64));
        push_back(&mut text, bytes.get(read..).unwrap_or_default(), tail_cap);
    }
    let repaired = true;
    Clipped { text, repaired, cut }
}

/// The beginning of bytes as text of at most `most` bytes, with a mark for each that is none; and how many were read.
fn front(bytes: &[u8], most: usize) -> (String, usize) {
    let (mut text, mut read) = (String::with_capacity(bytes.len().min(most)), 0);
    for chunk in bytes.utf8_chunks() {
        let room = most.saturating_sub(text.len());
        let fits = chunk.valid().floor_char_boundary(room);
        text.push_str(chunk.valid().get(..fits).unwrap_or_default());
        read += fits;
        if fits < chunk.valid().len() || text.len() >= most {
            break;
        }
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            read += chunk.invalid().len();
        }
    }
    (text, read)
}

/// Adds the end of bytes, at most `most` of them as text; whether some are none.
fn push_back(text: &mut String, bytes: &[u8], most: usize) -> bool {
    let from = bytes.len().saturating_sub(most);
    let end = String::from_utf8_lossy(whole_characters_at_start(bytes.get(from..).unwrap_or_default()));
    let from = end.len().saturating_sub(most);
    text.push_str(end.get(end.ceil_char_boundary(from)..).unwrap_or_default());
    matches!(end, std::borrow::Cow::Owned(_))
}

/// Without the bytes of a character that was cut at the end.
pub(super) fn whole_characters_at_end(bytes: &[u8]) -> &[u8] {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    bytes.get(..end).unwrap_or_default()
}

/// Without the bytes of a character that was cut at the start.
fn whole_characters_at_start(bytes: &[u8]) -> &[u8] {
    let continued = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    bytes.get(continued..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clipped(text: impl AsRef<[u8]>, head: usize, tail: usize) -> (String, bool) {
        let mut clip = Clip::head_and_tail(head, tail);
        text.as_ref().chunks(2).for_each(|bytes| clip.push(bytes));
        let clipped = clip.into_text();
        assert_eq!(clipped.cut, clipped.text.contains("[cut: "));
        (clipped.text, clipped.repaired)
    }

    #[test]
    fn what_fits_is_whole() {
        for size in 0..9 {
            let text = "äöü€".get(..size).unwrap_or("äöü€");
            assert_eq!(clipped(text, 6, 3), (text.to_owned(), false));
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        let (text, repaired) = clipped("äöü€".repeat(50), 3, 4);
        assert_eq!(text, "ä…[cut: 450 bytes in all]…€");
        assert!(!repaired, "a cut is no damage");
        assert_eq!(clipped("abcdefgh", 3, 0).0, "abc…[cut: 8 bytes in all]…");
    }

    #[test]
    fn invalid_bytes_are_repaired_and_told() {
        assert_eq!(clipped(b"a\xFFb", 9, 0), ("a\u{FFFD}b".into(), true));
    }

    #[test]
    fn invalid_bytes_before_a_long_text_leave_what_fits_of_it() {
        let marks = |count: usize| "\u{FFFD}".repeat(count);
        let text = |bad: usize, long: usize| [&vec![0xFF; bad][..], "x".repeat(long).as_bytes(), b"end"].concat();
        // All was kept, and with marks it is not too long, or is.
        assert_eq!(
            clipped(text(30, 100), 100, 33),
            (marks(30) + &"x".repeat(100) + "end", true)
        );
        let end = "x".repeat(30) + "end";
        let cut = marks(34) + "…[cut: 133 bytes in all]…" + &end;
        assert_eq!(clipped(text(40, 90), 100, 33), (cut, true));
        // Some of it was left out already.
        let cut = marks(30) + "xxxxxxxxxx…[cut: 1,033 bytes in all]…" + &end;
        assert_eq!(clipped(text(30, 1_000), 100, 33), (cut, true));
        // Nothing but marks.
        let cut = marks(34) + "…[cut: 300 bytes in all]…" + &marks(11);
        assert_eq!(clipped([0xFF; 300], 100, 33), (cut, true));
    }
}
