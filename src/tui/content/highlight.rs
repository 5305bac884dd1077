//! Colours of Python code.
//!
//! Slow compared to a frame, so it runs off the screen's thread: the code is shown plain first. It is linear in
//! practice (long runs are squeezed), stops when cancelled, and falls back to strings and comments alone for lines
//! that are still too long and for what the time budget leaves over.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::python_strings::{Inside, Stretch, scan};
use super::scope_class::class_of;
use super::squeeze::Squeezed;
use super::{Class, Span};
use crate::text::SafeText;

/// Lines that are longer than this after squeezing get strings and comments only.
const MAX_LINE: usize = 2_000;

/// What highlighting may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time after which the rest gets strings and comments only.
    pub time: Duration,
}

impl Default for Budget {
    /// A quarter of a second: some 5,000 lines.
    fn default() -> Self {
        Self {
            time: Duration::from_millis(250),
        }
    }
}

/// The spans of each line of Python code; `None` when it was cancelled.
pub fn python(code: &SafeText, budget: Budget, cancelled: &AtomicBool) -> Option<Vec<Vec<Span>>> {
    let mut highlighter = Highlighter::new(budget);
    let mut lines = Vec::new();
    for line in code.lines() {
        if cancelled.load(Ordering::Relaxed) {
            return None;
        }
        lines.push(highlighter.line(line));
    }
    Some(lines)
}

/// The grammars, loaded once (some 10 ms).
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(SyntaxSet::load_defaults_newlines)
}

struct Highlighter {
    started: Instant,
    budget: Budget,
    /// `None` when the time is up, or without a grammar.
    grammar: Option<(ParseState, ScopeStack)>,
    inside: Inside,
}

impl Highlighter {
    fn new(budget: Budget) -> Self {
        let syntax = syntaxes().find_syntax_by_name("Python");
        Self {
            started: Instant::now(),
            budget,
            grammar: syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new())),
            inside: Inside::Code,
        }
    }

    fn line(&mut self, line: &str) -> Vec<Span> {
        let (stretches, after) = scan(line, self.inside);
        let before = std::mem::replace(&mut self.inside, after);
        if self.started.elapsed() > self.budget.time {
            self.grammar = None;
        }
        let squeezed = Squeezed::new(line, &stretches);
        if squeezed.text.len() > MAX_LINE {
            self.skip(before);
            return coarse(stretches);
        }
        self.fine(&squeezed).unwrap_or_else(|| coarse(stretches))
    }

    /// Of a line that the grammar does not see it must still learn whether a string opened or closed.
    fn skip(&mut self, before: Inside) {
        let quotes = |quote: u8| String::from_utf8_lossy(&[quote; 3]).into_owned();
        let mut bridge = String::new();
        if let (Inside::Triple(quote), true) = (before, before != self.inside) {
            bridge.push_str(&quotes(quote));
        }
        if let (Inside::Triple(quote), true) = (self.inside, before != self.inside) {
            bridge.push_str(" + ");
            bridge.push_str(&quotes(quote));
        }
        if !bridge.is_empty() {
            self.parse(bridge);
        }
    }

    /// Spans by the grammar; `None` when there is none.
    fn fine(&mut self, squeezed: &Squeezed) -> Option<Vec<Span>> {
        let mut spans: Vec<Span> = Vec::new();
        for (start, end, class) in self.parse(squeezed.text.clone())? {
            let end = end.min(squeezed.text.len());
            let bytes = squeezed.original(start)..squeezed.original(end);
            match spans.last_mut() {
                _ if class == Class::Plain || bytes.is_empty() => {}
                Some(last) if last.class == class && last.bytes.end == bytes.start => last.bytes.end = bytes.end,
                _ => spans.push(Span { bytes, class }),
            }
        }
        Some(spans)
    }

    /// The classes of the stretches of a line; an error of the grammar ends its use.
    fn parse(&mut self, mut line: String) -> Option<Vec<(usize, usize, Class)>> {
        let (state, stack) = self.grammar.as_mut()?;
        line.push('\n');
        let ops = state.parse_line(&line, syntaxes()).ok();
        let classes = ops.and_then(|ops| {
            let mut classes = Vec::with_capacity(ops.len() + 1);
            let mut at = 0;
            for (start, op) in ops {
                classes.push((at, start, class_of(stack)));
                at = start;
                stack.apply(&op).ok()?;
            }
            classes.push((at, line.len(), class_of(stack)));
            Some(classes)
        });
        if classes.is_none() {
            self.grammar = None;
        }
        classes
    }
}

fn coarse(stretches: Vec<Stretch>) -> Vec<Span> {
    let told = stretches.into_iter().filter(|stretch| stretch.class != Class::Plain);
    told.map(|stretch| Span {
        bytes: stretch.bytes,
        class: stretch.class,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Styled;
    use super::*;

    fn highlight(code: &str) -> Styled {
        let text = SafeText::block(code);
        let lines = python(
            &text,
            Budget {
                time: Duration::from_secs(60),
            },
            &AtomicBool::new(false),
        )
        .unwrap();
        Styled { text, lines }
    }

    fn class_of_word(code: &str, line: usize, word: &str) -> Class {
        let styled = highlight(code);
        let text = styled.text.lines().nth(line).unwrap();
        let at = text.find(word).unwrap();
        let covering = styled.spans(line).iter().find(|span| span.bytes.contains(&at));
        covering.map_or(Class::Plain, |span| span.class)
    }

    #[test]
    fn words_have_their_classes() {
        let code = "def find(n, m=2):  # look\n    return len('abc') if n is None else -1\nclass Ref: pass";
        assert_eq!(class_of_word(code, 0, "def"), Class::Keyword);
        assert_eq!(class_of_word(code, 0, "find"), Class::Function);
        assert_eq!(class_of_word(code, 0, "2"), Class::Number);
        assert_eq!(class_of_word(code, 0, "look"), Class::Comment);
        assert_eq!(class_of_word(code, 1, "return"), Class::Keyword);
        assert_eq!(class_of_word(code, 1, "len"), Class::Function);
        assert_eq!(class_of_word(code, 1, "abc"), Class::String);
        assert_eq!(class_of_word(code, 1, "None"), Class::Keyword);
        assert_eq!(class_of_word(code, 2, "Ref"), Class::Type);
    }

    #[test]
    fn triple_quoted_strings_keep_their_colour() {
        let code = "x = '''one\nif two:\n''' + y";
        assert_eq!(class_of_word(code, 1, "if"), Class::String);
        assert_eq!(class_of_word(code, 2, "y"), Class::Plain);
    }

    #[test]
    fn a_long_line_is_coloured_like_a_short_one() {
        let code = format!("x = '{}' + f(1)\nif y: pass", "QUJD+/".repeat(2_000));
        assert_eq!(class_of_word(&code, 0, "QUJD"), Class::String);
        assert_eq!(class_of_word(&code, 0, "f(1)"), Class::Function);
        assert_eq!(class_of_word(&code, 1, "if"), Class::Keyword);
    }

    #[test]
    fn a_line_beyond_the_cap_still_opens_and_closes_strings() {
        let dense = "a+b,".repeat(2_000);
        let code = format!("x = [{dense}] + '''open\nif inside\n{dense} ''' + z\nif y: pass");
        assert_eq!(class_of_word(&code, 0, "open"), Class::String);
        assert_eq!(class_of_word(&code, 1, "if"), Class::String);
        assert_eq!(class_of_word(&code, 3, "if"), Class::Keyword);
    }

    #[test]
    fn without_time_strings_and_comments_remain() {
        let text = SafeText::block("if x: 'a' # b");
        let lines = python(&text, Budget { time: Duration::ZERO }, &AtomicBool::new(false)).unwrap();
        let classes: Vec<_> = lines[0].iter().map(|span| span.class).collect();
        assert_eq!(classes, [Class::String, Class::Comment]);
    }

    #[test]
    fn cancelling_stops() {
        let text = SafeText::block("x = 1");
        assert!(python(&text, Budget::default(), &AtomicBool::new(true)).is_none());
    }
}
