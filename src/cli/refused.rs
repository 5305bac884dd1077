//! What is told of arguments that are refused, and help: in the argument parser's own colours, but with nothing of the
//! arguments that would act on the terminal. Names of files are arguments, too.

use crate::text::SafeText;
use clap::Command;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};

/// The sequences of the parser's own styles.
const STYLES: [&str; 6] = ["\x1b[0m", "\x1b[1m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Tells why `words` were refused. Help and version go to stdout, mistakes to stderr; there is nowhere else to tell
/// those.
///
/// # Errors
///
/// Standard output takes nothing; that a reader has seen enough is no error.
pub(super) fn tell(command: Command, words: &[OsString], error: clap::Error) -> io::Result<()> {
    let again = command.try_get_matches_from(words.iter().map(|word| safe(word)));
    // Words that are no Unicode may be refused for just that.
    let error = again
        .err()
        .filter(|again| again.kind() == error.kind())
        .unwrap_or(error);
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        let _ = io::stderr().write_all(shown(&text, is_coloured(&io::stderr())).as_bytes());
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(shown(&text, is_coloured(&out)).as_bytes());
    match written.and_then(|()| out.flush()) {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn safe(word: &OsStr) -> OsString {
    match word.to_str() {
        Some(text) => SafeText::line(text).as_str().into(),
        None => word.to_owned(),
    }
}

fn is_coloured(stream: &impl IsTerminal) -> bool {
    let off = |name: &str, value: &str| std::env::var_os(name).is_some_and(|set| set == value);
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !no_color && !off("TERM", "dumb") && !off("CLICOLOR", "0")
}

/// The text with its styles, or without; everything else that is no text becomes a mark.
fn shown(text: &str, coloured: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, style)) = next_style(rest) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        shown.push_str(SafeText::block(before).as_str());
        shown.push_str(if coloured { style } else { "" });
        rest = after.strip_prefix(style).unwrap_or_default();
    }
    shown.push_str(SafeText::block(rest).as_str());
    shown
}

fn next_style(text: &str) -> Option<(usize, &'static str)> {
    let places = STYLES.iter().filter_map(|style| Some((text.find(style)?, *style)));
    places.min_by_key(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_stay_on_a_terminal_and_nothing_else_does() {
        let text = "\x1b[1m\x1b[31merror:\x1b[0m '\x1b]0;x\x07\x1b[2Jz\u{9b}' and\n  more";
        let safe = "'␛]0;x␇␛[2Jz‹U+009B›' and\n  more";
        assert_eq!(shown(text, true), format!("\x1b[1m\x1b[31merror:\x1b[0m {safe}"));
        assert_eq!(shown(text, false), format!("error: {safe}"));
    }
}
