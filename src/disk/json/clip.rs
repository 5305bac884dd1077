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

    /// The text, with a mark where something was left out, and whether invalid UTF-8 was repaired in it. What was
    /// gathered becomes the text: a large one is not held twice.
    pub(crate) fn into_text(self) -> (String, bool) {
        let (cut, total) = (self.is_cut(), self.total);
        let (mut text, tail) = (self.head, self.tail);
        let most = self.head_cap.saturating_add(self.tail_cap).saturating_add(MARK);
        if !cut {
            text.extend_from_slice(&tail);
            return lossy(text, most);
        }
        let over = tail.len().saturating_sub(self.tail_cap);
        let tail = tail.get(over..).unwrap_or_default();
        text.truncate(whole_characters_at_end(&text).len());
        text.extend_from_slice(cut_mark(total).as_bytes());
        text.extend_from_slice(whole_characters_at_start(tail));
        lossy(text, most)
    }
}

/// The text of bytes, with a mark for each that is none. Marks are longer than what they stand for: there is an end.
fn lossy(bytes: Vec<u8>, most: usize) -> (String, bool) {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, false),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if text.len() + chunk.valid().len() > most {
            text.push_str(&cut_mark(bytes.len() as u64));
            break;
        }
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text, true)
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

    fn clipped(text: &str, head: usize, tail: usize) -> (String, bool) {
        let mut clip = Clip::head_and_tail(head, tail);
        text.as_bytes().chunks(2).for_each(|bytes| clip.push(bytes));
        clip.into_text()
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
        let (text, repaired) = clipped(&"äöü€".repeat(50), 3, 4);
        assert_eq!(text, "ä…[cut: 450 bytes in all]…€");
        assert!(!repaired, "a cut is no damage");
        assert_eq!(clipped("abcdefgh", 3, 0).0, "abc…[cut: 8 bytes in all]…");
    }

    #[test]
    fn invalid_bytes_are_repaired_and_told() {
        let mut clip = Clip::head(9);
        clip.push(b"a\xFFb");
        assert_eq!(clip.into_text(), ("a\u{FFFD}b".into(), true));
    }
}
