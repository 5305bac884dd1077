//! What a terminal answers and nobody asked for (strings of OSC, DCS, APC, PM and SOS, as a program that ran before may
//! have asked): told apart from keys, for a payload that is typed could open, send or spend.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Events that came at once, without answers that are whole. A key that only begins as one does stays a key.
pub(super) fn without_answers(events: Vec<Event>) -> Vec<Event> {
    let mut kept = Vec::with_capacity(events.len());
    let mut rest = events.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match is_introducer(first).then(|| end_of(after)).flatten() {
            Some(end) => rest = after.get(end..).unwrap_or_default(),
            None => {
                kept.push(first.clone());
                rest = after;
            }
        }
    }
    kept
}

/// Where the string ends that these events are the rest of: after a bell, or `ESC \`.
fn end_of(events: &[Event]) -> Option<usize> {
    let end = events.iter().position(|event| !is_payload(event))?;
    events.get(end).filter(|event| is_terminator(event))?;
    Some(end + 1)
}

/// `ESC` and one of `]`, `P`, `_`, `^`, `X`, which arrives as that key with Alt.
fn is_introducer(event: &Event) -> bool {
    char_of(event).is_some_and(|(char, with)| with.contains(KeyModifiers::ALT) && "]P_^X".contains(char))
}

fn is_payload(event: &Event) -> bool {
    char_of(event).is_some_and(|(_, with)| with.difference(KeyModifiers::SHIFT).is_empty())
}

fn is_terminator(event: &Event) -> bool {
    char_of(event).is_some_and(|(char, with)| {
        (char == 'g' && with == KeyModifiers::CONTROL) || (char == '\\' && with == KeyModifiers::ALT)
    })
}

fn char_of(event: &Event) -> Option<(char, KeyModifiers)> {
    match event {
        Event::Key(KeyEvent {
            code: KeyCode::Char(char),
            modifiers,
            kind: KeyEventKind::Press,
            ..
        }) => Some((*char, *modifiers)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(char: char, with: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(char), with))
    }

    fn typed(text: &str) -> Vec<Event> {
        text.chars().map(|char| key(char, KeyModifiers::NONE)).collect()
    }

    fn answer(introducer: char, payload: &str, end: Event) -> Vec<Event> {
        let mut events = vec![key(introducer, KeyModifiers::ALT)];
        events.extend(typed(payload));
        events.push(end);
        events
    }

    fn bell() -> Event {
        key('g', KeyModifiers::CONTROL)
    }

    fn string_end() -> Event {
        key('\\', KeyModifiers::ALT)
    }

    #[test]
    fn answers_are_no_keys_and_keys_around_them_stay() {
        let mut events = typed("ab");
        events.extend(answer(']', "10;rgb:ffff/ffff/ffff", bell()));
        events.extend(typed("c"));
        events.extend(answer('P', ">|kitty(0.2)", string_end()));
        events.extend(answer('_', "Gi=31;OK", string_end()));
        events.extend(typed("d"));
        assert_eq!(without_answers(events), typed("abcd"));
    }

    #[test]
    fn what_only_begins_like_one_is_typed() {
        let lone = vec![key(']', KeyModifiers::ALT)];
        assert_eq!(without_answers(lone.clone()), lone);
        let mut broken = answer(']', "52;c;", Event::Key(KeyEvent::from(KeyCode::Enter)));
        broken.push(bell());
        assert_eq!(without_answers(broken.clone()), broken);
    }
}
