//! One key with its modifiers: how it is written in keymap files, how it is shown, and which of a terminal's many ways
//! to report it mean the same.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key press, normalised so that equal chords mean equal keys.
///
/// Notation: a character (`m`, `/`, `G`), or one of `up down left right pgup pgdn home end enter esc backspace delete
/// insert tab space f1`…`f12`, with `ctrl-`, `alt-`, `shift-` before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Named keys: as written, as shown, as shown in ASCII.
const NAMED: &[(&str, KeyCode, &str, &str)] = &[
    ("up", KeyCode::Up, "↑", "Up"),
    ("down", KeyCode::Down, "↓", "Down"),
    ("left", KeyCode::Left, "←", "Left"),
    ("right", KeyCode::Right, "→", "Right"),
    ("pgup", KeyCode::PageUp, "PgUp", "PgUp"),
    ("pgdn", KeyCode::PageDown, "PgDn", "PgDn"),
    ("home", KeyCode::Home, "Home", "Home"),
    ("end", KeyCode::End, "End", "End"),
    ("enter", KeyCode::Enter, "Enter", "Enter"),
    ("esc", KeyCode::Esc, "Esc", "Esc"),
    ("backspace", KeyCode::Backspace, "Backspace", "Backspace"),
    ("delete", KeyCode::Delete, "Delete", "Delete"),
    ("insert", KeyCode::Insert, "Insert", "Insert"),
    ("tab", KeyCode::Tab, "Tab", "Tab"),
    ("space", KeyCode::Char(' '), "Space", "Space"),
];

impl Chord {
    /// What a terminal reported, normalised: Shift is part of a character, `Shift-Tab` has one form, and control
    /// codes that terminals share (`Ctrl-_`, `Ctrl-7` and `Ctrl-/`; `Ctrl-H` and Backspace, `Ctrl-M` and Enter, `Ctrl-I` and
    /// Tab, `Ctrl-[` and Esc) are one key.
    pub fn of(key: KeyEvent) -> Self {
        Self::new(key.code, key.modifiers)
    }

    fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let mut modifiers = modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) => {
                modifiers -= KeyModifiers::SHIFT;
                control_alias(c, &mut modifiers)
            }
            other => other,
        };
        Self { code, modifiers }
    }

    /// The chord whose letters mean the same in both cases, as they do wherever keys do not type; `n`/`N` and `g`/`G`
    /// stay apart.
    pub fn folded(self) -> Self {
        let code = match self.code {
            KeyCode::Char(c) if !matches!(c, 'N' | 'G') => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        Self { code, ..self }
    }

    /// Reads the notation; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut modifiers) = (text, KeyModifiers::NONE);
        while let Some((modifier, tail)) = modifier_prefix(rest) {
            modifiers |= modifier;
            rest = tail;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => KeyCode::Char(c),
            _ => named(rest)?,
        };
        Some(Self::new(code, modifiers))
    }

    /// Whether it types a character in a prompt.
    pub fn types(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.modifiers.contains(KeyModifiers::CONTROL)
    }

    /// Whether it is how people write that character: it has no modifier besides.
    pub fn is_plain_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers.is_empty()
    }

    /// Whether a prompt leaves it to the bindings that hold everywhere: control chords and page keys, which edit
    /// nothing.
    pub fn passes_prompts(self) -> bool {
        let control = matches!(self.code, KeyCode::Char(_)) && self.modifiers.contains(KeyModifiers::CONTROL);
        control || matches!(self.code, KeyCode::PageUp | KeyCode::PageDown)
    }

    /// As people read it: `Ctrl-P`, `↑`, `Shift-Tab`.
    pub fn label(self, ascii: bool) -> String {
        let mut out = String::new();
        for (modifier, name) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                out.push_str(name);
            }
        }
        let plain = self.modifiers.is_empty();
        match self.code {
            KeyCode::Char(c) if c != ' ' => out.push(if plain { c } else { c.to_ascii_uppercase() }),
            KeyCode::F(n) => out.push_str(&format!("F{n}")),
            code => {
                let row = NAMED.iter().find(|row| row.1 == code);
                out.push_str(row.map_or("?", |row| if ascii { row.3 } else { row.2 }));
            }
        }
        out
    }
}

/// Terminals without a keyboard protocol send one code for several control keys.
fn control_alias(c: char, modifiers: &mut KeyModifiers) -> KeyCode {
    if !modifiers.contains(KeyModifiers::CONTROL) {
        return KeyCode::Char(c);
    }
    let mut plain = |code| {
        modifiers.remove(KeyModifiers::CONTROL);
        code
    };
    match c.to_ascii_lowercase() {
        '7' | '/' => KeyCode::Char('_'),
        'h' => plain(KeyCode::Backspace),
        'm' => plain(KeyCode::Enter),
        'i' => plain(KeyCode::Tab),
        '[' => plain(KeyCode::Esc),
        other => KeyCode::Char(other),
    }
}

fn modifier_prefix(text: &str) -> Option<(KeyModifiers, &str)> {
    [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ]
    .into_iter()
    .find_map(|(prefix, modifier)| {
        let tail = text.strip_prefix(prefix).filter(|tail| !tail.is_empty())?;
        Some((modifier, tail))
    })
}

fn named(text: &str) -> Option<KeyCode> {
    let function = || {
        let n = text.strip_prefix('f')?.parse().ok()?;
        (1..=12).contains(&n).then_some(KeyCode::F(n))
    };
    let row = NAMED.iter().find(|row| row.0 == text);
    row.map(|row| row.1).or_else(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("m", "m")]
    #[case("ctrl-p", "Ctrl-P")]
    #[case("shift-tab", "Shift-Tab")]
    #[case("up", "↑")]
    #[case("alt-enter", "Alt-Enter")]
    #[case("ctrl-_", "Ctrl-_")]
    #[case("-", "-")]
    #[case("f5", "F5")]
    fn is_read_and_shown(#[case] written: &str, #[case] shown: &str) {
        assert_eq!(Chord::parse(written).unwrap().label(false), shown);
    }

    #[rstest]
    #[case("")]
    #[case("ctrl-")]
    #[case("upp")]
    #[case("f13")]
    fn nonsense_is_refused(#[case] written: &str) {
        assert_eq!(Chord::parse(written), None);
    }

    #[test]
    fn one_key_has_one_form_however_a_terminal_reports_it() {
        let key = |code, modifiers| Chord::of(KeyEvent::new(code, modifiers));
        let (control, shift) = (KeyModifiers::CONTROL, KeyModifiers::SHIFT);
        assert_eq!(key(KeyCode::Char('7'), control), Chord::parse("ctrl-_").unwrap());
        assert_eq!(
            key(KeyCode::Char('_'), control | shift),
            Chord::parse("ctrl-_").unwrap()
        );
        assert_eq!(
            key(KeyCode::BackTab, KeyModifiers::NONE),
            Chord::parse("shift-tab").unwrap()
        );
        assert_eq!(key(KeyCode::Tab, shift), Chord::parse("shift-tab").unwrap());
        assert_eq!(key(KeyCode::Char('h'), control), Chord::parse("backspace").unwrap());
        assert_eq!(key(KeyCode::Char('?'), shift), Chord::parse("?").unwrap());
    }

    #[test]
    fn letters_fold_but_for_n_and_g() {
        let fold = |text| Chord::parse(text).unwrap().folded();
        assert_eq!(fold("M"), fold("m"));
        assert_ne!(fold("N"), fold("n"));
        assert_ne!(fold("G"), fold("g"));
    }
}
