//! Colours of code.
//!
//! Slow compared to a frame, so it runs off the screen's thread: code is shown plain first. For Python it is linear in
//! practice (long runs are squeezed), stops when told to, and falls back to strings and comments alone for lines that
//! are still too long and for what the time budget leaves over.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::json_tokens;
use super::python_strings::{Inside, Stretch, after, scan};
use super::scope_role::role_of;
use super::squeeze::Squeezed;
use crate::text::SafeText;
use crate::tui::effect::{Language, Stop};
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};

/// Lines that are longer than this after squeezing get strings and comments only.
const MAX_LINE: usize = 2_000;

/// Lines that are longer than this whatever is done get no colours.
const LONGEST: usize = 1 << 20;

/// Parts of a text that get colours: what follows them gets none.
const MOST_SPANS: usize = 1 << 19;

/// Time after which the rest of a text gets strings and comments only.
const BUDGET: Duration = Duration::from_millis(250);

/// The highlights of code as a pane shows it; `None` when it was stopped.
pub fn highlight(language: Language, code: &SafeText, stop: &Stop) -> Option<Highlights> {
    match language {
        Language::Python => python(code, BUDGET, stop),
        Language::Json => Some(Highlights::new(json_tokens::spans(code.as_str()))),
    }
}

/// Loads what the first highlights of a process would wait for, some 30 ms: to be called while nothing else is to be
/// done.
pub fn prepare() {
    let code = SafeText::literal("for x in [1]:\n    print(f'{x}')  # one");
    drop(python(&code, BUDGET, &Stop::default()));
}

/// The highlights of Python, by the grammar for as long as `budget` lasts.
pub fn python(code: &SafeText, budget: Duration, stop: &Stop) -> Option<Highlights> {
    let mut highlighter = Highlighter::new(budget);
    for line in code.lines() {
        if stop.is_stopped() {
            return None;
        }
        if highlighter.spans.len() > MOST_SPANS {
            break;
        }
        highlighter.line(line);
    }
    Some(Highlights::new(highlighter.spans))
}

/// The grammars, loaded once (some 10 ms).
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(SyntaxSet::load_defaults_newlines)
}

struct Highlighter {
    started: Instant,
    budget: Duration,
    /// `None` when the time is up, or without a grammar.
    grammar: Option<(ParseState, ScopeStack)>,
    inside: Inside,
    /// Where the line starts in the text.
    at: usize,
    spans: Vec<StyleSpan>,
}

impl Highlighter {
    fn new(budget: Duration) -> Self {
        let syntax = syntaxes().find_syntax_by_name("Python");
        Self {
            started: Instant::now(),
            budget,
            grammar: syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new())),
            inside: Inside::Code,
            at: 0,
            spans: Vec::new(),
        }
    }

    fn line(&mut self, line: &str) {
        if line.len() > LONGEST {
            let after = after(line, self.inside);
            let before = std::mem::replace(&mut self.inside, after);
            self.skip(before);
            self.at += line.len() + 1;
            return;
        }
        let (stretches, after) = scan(line, self.inside);
        let before = std::mem::replace(&mut self.inside, after);
        if self.started.elapsed() > self.budget {
            self.grammar = None;
        }
        let squeezed = Squeezed::new(line, &stretches);
        let fine = if squeezed.text.len() > MAX_LINE {
            self.skip(before);
            None
        } else {
            self.parse(squeezed.text.clone())
        };
        match fine {
            Some(parts) => self.push_fine(&squeezed, parts),
            None => self.push_coarse(stretches),
        }
        self.at += line.len() + 1;
    }

    /// Of a line that the grammar does not see it must still learn whether a string opened or closed. An assignment
    /// keeps it from taking the string for a docstring.
    fn skip(&mut self, before: Inside) {
        if before != self.inside {
            let joint = if before == Inside::Code { "_ = " } else { " + " };
            self.parse([before.quotes(), joint, self.inside.quotes()].concat());
        }
    }

    /// Roles of the stretches of a line by the grammar; an error of the grammar ends its use.
    fn parse(&mut self, mut line: String) -> Option<Vec<(usize, usize, Role)>> {
        let (state, stack) = self.grammar.as_mut()?;
        line.push('\n');
        let parts = parts_of(&line, state, stack);
        if parts.is_none() {
            self.grammar = None;
        }
        parts
    }

    fn push_fine(&mut self, squeezed: &Squeezed, parts: Vec<(usize, usize, Role)>) {
        let place = |byte: usize| self.at + squeezed.original(byte.min(squeezed.text.len()));
        let spans = parts.into_iter().filter(|(_, _, role)| *role != Role::Text);
        let spans = spans.map(|(start, end, role)| StyleSpan {
            bytes: place(start)..place(end),
            role,
        });
        self.spans.extend(spans);
    }

    fn push_coarse(&mut self, stretches: Vec<Stretch>) {
        let told = stretches.into_iter().filter(|stretch| stretch.role != Role::Text);
        let spans = told.map(|Stretch { bytes, role }| StyleSpan {
            bytes: self.at + bytes.start..self.at + bytes.end,
            role,
        });
        self.spans.extend(spans);
    }
}

fn parts_of(line: &str, state: &mut ParseState, stack: &mut ScopeStack) -> Option<Vec<(usize, usize, Role)>> {
    let ops = state.parse_line(line, syntaxes()).ok()?;
    let mut parts = Vec::with_capacity(ops.len() + 1);
    let mut at = 0;
    for (start, op) in ops {
        parts.push((at, start, role_of(stack)));
        at = start;
        stack.apply(&op).ok()?;
    }
    parts.push((at, line.len(), role_of(stack)));
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::rendered::parts;
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn role_of_word(code: &str, line: usize, word: &str) -> Role {
        let text = SafeText::block(code);
        let highlights = python(&text, LONG, &Stop::default()).unwrap();
        let before: usize = text.lines().take(line).map(|line| line.len() + 1).sum();
        let at = before + text.lines().nth(line).unwrap().find(word).unwrap();
        highlights
            .within(&(at..at + 1))
            .next()
            .map_or(Role::Text, |span| span.role)
    }

    #[test]
    fn words_have_their_roles() {
        let code = "def find(n, m=2):  # look\n    return len('abc') if n is None else -1\nclass Ref: pass";
        assert_eq!(role_of_word(code, 0, "def"), Role::CodeKeyword);
        assert_eq!(role_of_word(code, 0, "find"), Role::CodeFunction);
        assert_eq!(role_of_word(code, 0, "2"), Role::CodeNumber);
        assert_eq!(role_of_word(code, 0, "look"), Role::CodeComment);
        assert_eq!(role_of_word(code, 1, "return"), Role::CodeKeyword);
        assert_eq!(role_of_word(code, 1, "len"), Role::CodeFunction);
        assert_eq!(role_of_word(code, 1, "abc"), Role::CodeString);
        assert_eq!(role_of_word(code, 1, "None"), Role::CodeConstant);
        assert_eq!(role_of_word(code, 2, "Ref"), Role::CodeType);
    }

    #[test]
    fn triple_quoted_strings_keep_their_colour() {
        let code = "x = '''one\nif two:\n''' + y";
        assert_eq!(role_of_word(code, 1, "if"), Role::CodeString);
        assert_eq!(role_of_word(code, 2, "y"), Role::Text);
    }

    #[test]
    fn a_long_line_is_coloured_like_a_short_one() {
        let code = format!("x = '{}' + f(1)\nif y: pass", "QUJD+/".repeat(2_000));
        assert_eq!(role_of_word(&code, 0, "QUJD"), Role::CodeString);
        assert_eq!(role_of_word(&code, 0, "f(1)"), Role::CodeFunction);
        assert_eq!(role_of_word(&code, 1, "if"), Role::CodeKeyword);
    }

    #[test]
    fn a_line_beyond_the_cap_still_opens_and_closes_strings() {
        let dense = "a+b,".repeat(2_000);
        let code = format!("x = [{dense}] + '''open\nif inside\n{dense} ''' + z\nif y: pass");
        assert_eq!(role_of_word(&code, 0, "open"), Role::CodeString);
        assert_eq!(role_of_word(&code, 1, "if"), Role::CodeString);
        assert_eq!(role_of_word(&code, 3, "if"), Role::CodeKeyword);
    }

    #[test]
    fn without_time_strings_and_comments_remain() {
        let text = SafeText::block("if x: 'a' # b");
        let highlights = python(&text, Duration::ZERO, &Stop::default()).unwrap();
        let expected = [("'a'", Role::CodeString), ("# b", Role::CodeComment)];
        assert_eq!(parts(text.as_str(), &highlights), expected);
    }

    #[test]
    fn a_line_of_megabytes_opens_and_closes_strings_without_colours() {
        let code = format!(
            "x = {} + \'\'\'open\nif inside\n\'\'\' + z\nif y: pass",
            "\'a\'+".repeat(LONGEST / 3)
        );
        assert_eq!(role_of_word(&code, 0, "open"), Role::Text);
        assert_eq!(role_of_word(&code, 1, "if"), Role::CodeString);
        assert_eq!(role_of_word(&code, 3, "if"), Role::CodeKeyword);
    }

    #[test]
    fn what_follows_half_a_million_parts_has_no_colours() {
        let line = "\'a\' ".repeat(1_000) + "\n";
        let code = line.repeat(MOST_SPANS / 1_000 + 2);
        let spans = python(&SafeText::block(&code), Duration::ZERO, &Stop::default()).unwrap();
        assert_eq!(spans.within(&(0..code.len())).count(), (MOST_SPANS / 1_000 + 1) * 1_000);
    }

    #[test]
    fn stopping_stops() {
        let stop = Stop::default();
        stop.stop();
        assert!(highlight(Language::Python, &SafeText::block("x = 1"), &stop).is_none());
    }
}
