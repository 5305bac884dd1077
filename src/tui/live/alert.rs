//! Calling a person back to the terminal.

use crate::text::SafeText;

/// What is sent to the terminal: a notification (OSC 9) for those that know it, the bell for the others.
pub fn alert(words: &str) -> Vec<u8> {
    // Safe text has no controls that could end the sequence early.
    let words = SafeText::line(words);
    format!("\x1b]9;{words}\x1b\\\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out() {
        let sent = String::from_utf8(alert("a\x1b]0;evil\x07b\x1b\\")).unwrap();
        assert_eq!(sent.matches('\x1b').count(), 2);
        assert_eq!(sent.matches('\x07').count(), 1);
    }
}
