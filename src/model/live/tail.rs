//! The end of a text that grows without bound.

/// Bytes that are kept at least, once there are as many.
const KEEP: usize = 64 << 10;

/// The end of a text. It is cut at the front in large pieces, so that a view on it seldom jumps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    text: String,
    cut: bool,
}

impl Tail {
    /// Appends.
    pub fn push(&mut self, text: &str) {
        let text = end_of(text, KEEP);
        self.text.push_str(text);
        if self.text.len() > 2 * KEEP {
            self.text = end_of(&self.text, KEEP).to_owned();
            self.cut = true;
        }
    }

    /// What is kept of it. Raw.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its beginning was left out.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The last `most` bytes of a text, from a character on.
fn end_of(text: &str, most: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_end() {
        let mut tail = Tail::default();
        for _ in 0..100_000 {
            tail.push("äöü\n");
        }
        tail.push("the end\n\n");
        assert!(tail.is_cut() && tail.text().len() <= 2 * KEEP);
        assert!(tail.text().ends_with("the end\n\n"));
        tail.push(&"x".repeat(10 << 20));
        assert!(tail.text().len() <= 2 * KEEP + 1);
    }
}
