//! What a terminal answers and nobody asked for (strings of OSC, DCS, APC, PM and SOS, as a program that ran before may
//! have asked): told apart from keys, for a payload that is typed could open, send or spend. An answer may come in pieces:
//! what can only be the beginning of one is taken away at once, and so is the rest, whenever it comes.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// After a key that may begin an answer more is waited for this long: a program on this machine writes the rest at once.
const BEGUN: Duration = Duration::from_millis(60);
/// A piece of an answer that comes later than this after the one before is none.
const SILENCE: Duration = Duration::from_secs(2);
/// Who only types has this many characters typed after such a key before they are taken for an answer.
const SURE: usize = 3;

/// Takes answers out of the events.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The rest of an answer is to come.
    inside: Option<Inside>,
}

#[derive(Debug)]
struct Inside {
    /// When its last piece came.
    last: Instant,
    /// An escape came that may be half of its end.
    escape: bool,
}

impl Answers {
    /// How long to wait for more before these events are told: their last ones may be the beginning of an answer, and
    /// too few of it are there to know.
    pub(super) fn patience(&self, events: &[Event]) -> Option<Duration> {
        let mut begun = (1..=SURE + 1).filter_map(|back| events.len().checked_sub(back));
        let is_begun = |from: usize| {
            let tail = events.get(from..).unwrap_or_default();
            introduced(tail).is_some_and(|(payload, _)| payload.iter().all(is_payload))
        };
        let lone = events.last().is_some_and(is_escape);
        let is_open = lone || begun.any(is_begun);
        (self.inside.is_none() && is_open).then_some(BEGUN)
    }

    /// Events that came at once, without answers. A key that only begins as one does stays a key.
    pub(super) fn without(&mut self, events: Vec<Event>, now: Instant) -> Vec<Event> {
        self.inside.take_if(|inside| now.duration_since(inside.last) > SILENCE);
        let mut kept = Vec::with_capacity(events.len());
        let mut rest = events.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = match &mut self.inside {
                Some(inside) => {
                    inside.last = now;
                    let (over, is_part) = inside.hear(first);
                    self.inside.take_if(|_| over);
                    kept.extend((!is_part).then(|| first.clone()));
                    after
                }
                None => self.begin(rest, &mut kept, now).unwrap_or_else(|| {
                    kept.push(first.clone());
                    after
                }),
            };
        }
        kept
    }

    /// Where these events begin with an answer: what comes after it, or after as much of it as is there.
    fn begin<'a>(&mut self, events: &'a [Event], kept: &mut Vec<Event>, now: Instant) -> Option<&'a [Event]> {
        let (payload, introducer) = introduced(events)?;
        let length = payload.iter().take_while(|event| is_payload(event)).count();
        let (payload, after) = payload.split_at_checked(length)?;
        let ended = after.first().map(is_terminator);
        // The answer about the ground was asked for: whoever asked listens for it.
        let asked = introducer == ']' && text_of(payload).starts_with(GROUND);
        match ended {
            Some(true) if asked => {
                kept.extend_from_slice(events.get(..events.len() - after.len() + 1)?);
                after.get(1..)
            }
            Some(true) => after.get(1..),
            // The escape of its end may be the first half of it.
            Some(false) if !after.first().is_some_and(is_escape) => None,
            _ if asked || (introducer == ']' && GROUND.starts_with(&text_of(payload))) => None,
            _ if !begins_answer(introducer, payload) => None,
            _ => {
                self.inside = Some(Inside {
                    last: now,
                    escape: false,
                });
                Some(after)
            }
        }
    }
}

impl Inside {
    /// Whether the answer is over with this event, and whether the event is a part of it.
    fn hear(&mut self, event: &Event) -> (bool, bool) {
        let is_end = is_terminator(event) || (self.escape && char_of(event).is_some_and(|(char, _)| char == '\\'));
        match event {
            _ if is_end => (true, true),
            // A key after the escape, or one that no answer has, is a person's.
            Event::Key(_) if self.escape => (true, false),
            _ if is_payload(event) => (false, true),
            _ if is_escape(event) => {
                self.escape = true;
                (false, true)
            }
            Event::Key(_) => (true, false),
            _ => (false, false),
        }
    }
}

/// How the answer about the terminal's ground begins.
const GROUND: &str = "11;rgb";

/// What follows the beginning of a string, and which: `ESC` and one of `]`, `P`, `_`, `^`, `X` arrive as that key with
/// Alt, or where they were torn apart as both keys.
fn introduced(events: &[Event]) -> Option<(&[Event], char)> {
    let of = |event: &Event| char_of(event).filter(|(char, _)| "]P_^X".contains(*char));
    match events {
        [first, rest @ ..] if of(first).is_some_and(|(_, with)| with.contains(KeyModifiers::ALT)) => {
            Some((rest, of(first)?.0))
        }
        [first, second, rest @ ..] if is_escape(first) => Some((rest, of(second)?.0)),
        _ => None,
    }
}

/// Whether it is sure that this is an answer, of which the end is still to come: nobody types that.
fn begins_answer(introducer: char, payload: &[Event]) -> bool {
    let text = text_of(payload);
    match introducer {
        ']' => {
            let after = text.trim_start_matches(|char: char| char.is_ascii_digit());
            after.len() < text.len() && (after.is_empty() || after.starts_with(';')) && text.len() >= SURE
        }
        'P' => [">|", "0$r", "1$r", "0+r", "1+r", "!|"]
            .iter()
            .any(|begin| text.starts_with(begin)),
        '_' => text.starts_with('G') && text.len() >= SURE,
        _ => false,
    }
}

fn text_of(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(char_of)
        .map(|(char, _)| char)
        .take(16)
        .collect()
}

fn is_escape(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Esc && key.modifiers.is_empty() && key.kind == KeyEventKind::Press)
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

    fn at_once(events: Vec<Event>) -> Vec<Event> {
        Answers::default().without(events, Instant::now())
    }

    /// Told in these pieces.
    fn in_pieces(events: Vec<Event>, sizes: &[usize]) -> Vec<Event> {
        let (mut answers, mut kept, mut rest) = (Answers::default(), Vec::new(), events);
        let mut sizes = sizes.iter().copied().chain(std::iter::repeat(1));
        while !rest.is_empty() {
            let mut piece: Vec<Event> = rest.drain(..sizes.next().unwrap().min(rest.len())).collect();
            // What may begin an answer waits for the next piece, as the keyboard does.
            while answers.patience(&piece).is_some() && !rest.is_empty() {
                piece.extend(rest.drain(..1));
            }
            kept.extend(answers.without(piece, Instant::now()));
        }
        kept
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
        assert_eq!(at_once(events), typed("abcd"));
    }

    #[test]
    fn what_only_begins_like_one_is_typed() {
        let lone = vec![key(']', KeyModifiers::ALT)];
        assert_eq!(at_once(lone.clone()), lone);
        let mut broken = answer(']', "52;c;", Event::Key(KeyEvent::from(KeyCode::Enter)));
        broken.push(bell());
        assert_eq!(at_once(broken.clone()), broken);
    }

    #[test]
    fn an_answer_in_pieces_is_no_typing() {
        let escape = || Event::Key(KeyEvent::from(KeyCode::Esc));
        let long = format!("52;c;{}", "QUJD".repeat(400));
        for (introducer, payload) in [
            (']', "10;rgb:ffff/ffff/ffff"),
            (']', long.as_str()),
            ('P', ">|kitty(0.2)"),
            ('_', "Gi=31;OK"),
        ] {
            for end in [
                vec![bell()],
                vec![string_end()],
                vec![escape(), key('\\', KeyModifiers::NONE)],
            ] {
                for begin in [
                    vec![key(introducer, KeyModifiers::ALT)],
                    vec![escape(), key(introducer, KeyModifiers::NONE)],
                ] {
                    let mut events = typed("ab");
                    events.extend(begin);
                    events.extend(typed(payload));
                    events.extend(end.clone());
                    events.extend(typed("cd"));
                    for sizes in [vec![], vec![3], vec![7, 4, 512], vec![512], vec![9, 1, 9, 1]] {
                        assert_eq!(
                            in_pieces(events.clone(), &sizes),
                            typed("abcd"),
                            "{introducer} {payload} {sizes:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_person_types_after_such_a_key_is_typed() {
        for typing in ["q", "hello", "9", "12"] {
            for begin in [
                key(']', KeyModifiers::ALT),
                key('P', KeyModifiers::ALT),
                Event::Key(KeyEvent::from(KeyCode::Esc)),
            ] {
                let mut events = vec![begin];
                events.extend(typed(typing));
                assert_eq!(in_pieces(events.clone(), &[]), events);
                assert_eq!(at_once(events.clone()), events);
            }
        }
        let enter = Event::Key(KeyEvent::from(KeyCode::Enter));
        let mut events = answer(']', "52;c;QUJD", enter.clone());
        events.extend(typed("x"));
        assert_eq!(
            in_pieces(events, &[]),
            [vec![enter], typed("x")].concat(),
            "a key ends what has no end"
        );
    }

    #[test]
    fn the_rest_of_an_answer_does_not_come_after_a_long_silence() {
        let mut answers = Answers::default();
        let now = Instant::now();
        let mut begun = answer(']', "52;c;QU", bell());
        begun.pop();
        assert_eq!(answers.without(begun, now), []);
        assert_eq!(answers.without(typed("JD"), now + SILENCE), []);
        assert_eq!(answers.without(typed("me"), now + SILENCE * 3), typed("me"));
    }

    #[test]
    fn the_answer_about_the_ground_reaches_who_asked() {
        let asked = answer(']', "11;rgb:ffff/ffff/ffff", string_end());
        assert_eq!(at_once(asked.clone()), asked);
        assert_eq!(in_pieces(asked.clone(), &[]), asked);
    }
}
