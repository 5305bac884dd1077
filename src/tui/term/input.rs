//! The terminal's answer about its ground. It arrives among the keys, and however late it comes it must never be taken
//! for typing.

use crate::tui::theme::{Rgb, luminance};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// Whether the terminal's ground is dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Dark: light text.
    Dark,
    /// Light: dark text.
    Light,
}

/// An answer is no longer than this; what is longer was something else.
const LONGEST: usize = 64;

const PREFIX: &str = "11;rgb";

/// Picks the answer (`ESC ] 11 ; rgb:…` and its end) out of the events. The event reader takes it for `Alt-]` and
/// letters: no binding uses that key.
#[derive(Debug, Default)]
pub struct GroundListener {
    answer: Option<String>,
}

/// What an event was.
#[derive(Debug, PartialEq)]
pub enum Heard {
    /// Not part of an answer.
    Event(Event),
    /// A part of one.
    Part,
    /// The end of one that says this, if it can be understood.
    Answer(Option<Ground>),
}

impl GroundListener {
    /// Looks at an event.
    pub fn hear(&mut self, event: Event) -> Heard {
        let Event::Key(key) = &event else {
            return Heard::Event(event);
        };
        if key.kind == KeyEventKind::Release {
            return Heard::Event(event);
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let Some(answer) = &mut self.answer else {
            let begins = alt && key.code == KeyCode::Char(']');
            self.answer = begins.then(String::new);
            return if begins { Heard::Part } else { Heard::Event(event) };
        };
        match key.code {
            KeyCode::Char('\\') if alt || answer.ends_with('\u{1b}') => return self.end(),
            KeyCode::Char('g') if control => return self.end(),
            KeyCode::Char(c) => answer.push(c),
            KeyCode::Esc => answer.push('\u{1b}'),
            _ => answer.clear(),
        }
        if is_answer(answer) {
            Heard::Part
        } else {
            self.answer = None;
            Heard::Event(event)
        }
    }

    fn end(&mut self) -> Heard {
        let answer = self.answer.take().unwrap_or_default();
        Heard::Answer(ground(answer.trim_end_matches('\u{1b}')))
    }
}

/// Whether an answer can begin like this: somebody may really have pressed `Alt-]`.
fn is_answer(begun: &str) -> bool {
    begun.len() <= LONGEST && !begun.is_empty() && (PREFIX.starts_with(begun) || begun.starts_with(PREFIX))
}

/// Reads `11;rgb:RRRR/GGGG/BBBB`, with one to four digits a channel.
fn ground(answer: &str) -> Option<Ground> {
    let channels = answer
        .strip_prefix("11;rgb:")
        .or_else(|| answer.strip_prefix("11;rgba:"))?;
    let mut channels = channels.split('/').map(channel);
    let rgb: Rgb = (channels.next()??, channels.next()??, channels.next()??);
    Some(if luminance(rgb) > 0.18 {
        Ground::Light
    } else {
        Ground::Dark
    })
}

/// A channel of one to four hexadecimal digits, scaled to a byte.
fn channel(digits: &str) -> Option<u8> {
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = 16u32
        .checked_pow(u32::try_from(digits.len()).ok()?)
        .filter(|_| digits.len() <= 4)?
        - 1;
    u8::try_from(value * 255 / most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;
    use rstest::rstest;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn hear(answer: &str, end: Event) -> Heard {
        let mut listener = GroundListener::default();
        assert_eq!(listener.hear(key(KeyCode::Char(']'), KeyModifiers::ALT)), Heard::Part);
        for c in answer.chars() {
            assert_eq!(listener.hear(key(KeyCode::Char(c), KeyModifiers::NONE)), Heard::Part);
        }
        let heard = listener.hear(end);
        // What follows is typing again.
        let typed = key(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(listener.hear(typed.clone()), Heard::Event(typed));
        heard
    }

    #[rstest]
    #[case("11;rgb:0000/0000/0000", Some(Ground::Dark))]
    #[case("11;rgb:ffff/ffff/ffff", Some(Ground::Light))]
    #[case("11;rgb:fd/f6/e3", Some(Ground::Light))]
    #[case("11;rgb:0/2/3", Some(Ground::Dark))]
    #[case("11;rgb:fffff/0/0", None)]
    #[case("11;rgb:1234/5678", None)]
    fn answers_are_read(#[case] answer: &str, #[case] ground: Option<Ground>) {
        let string_end = key(KeyCode::Char('\\'), KeyModifiers::ALT);
        let bell = key(KeyCode::Char('g'), KeyModifiers::CONTROL);
        assert_eq!(hear(answer, string_end), Heard::Answer(ground));
        assert_eq!(hear(answer, bell), Heard::Answer(ground));
    }

    #[test]
    fn an_answer_whose_end_is_torn_off_its_escape_is_read_too() {
        let mut listener = GroundListener::default();
        listener.hear(key(KeyCode::Char(']'), KeyModifiers::ALT));
        "11;rgb:0/0/0".chars().for_each(|c| {
            listener.hear(key(KeyCode::Char(c), KeyModifiers::NONE));
        });
        assert_eq!(listener.hear(key(KeyCode::Esc, KeyModifiers::NONE)), Heard::Part);
        let end = key(KeyCode::Char('\\'), KeyModifiers::NONE);
        assert_eq!(listener.hear(end), Heard::Answer(Some(Ground::Dark)));
    }

    #[test]
    fn a_real_press_of_that_key_takes_no_other_with_it() {
        let mut listener = GroundListener::default();
        listener.hear(key(KeyCode::Char(']'), KeyModifiers::ALT));
        let next = key(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(listener.hear(next.clone()), Heard::Event(next));
    }

    #[test]
    fn typing_is_left_alone() {
        let mut listener = GroundListener::default();
        for code in [KeyCode::Char(']'), KeyCode::Char('\\'), KeyCode::Esc, KeyCode::Enter] {
            let event = key(code, KeyModifiers::NONE);
            assert_eq!(listener.hear(event.clone()), Heard::Event(event));
        }
    }
}
