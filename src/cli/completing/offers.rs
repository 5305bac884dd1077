//! What could stand at the cursor: commands, options, values, sessions.

use super::line::{Line, Place, read, takes_value};
use crate::source::{Stop, list_sessions};
use crate::text::plural;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, ValueHint};
use std::path::Path;

/// The most recent of many sessions: more are not offered.
const SESSIONS: usize = 200;

/// What files may stand there, besides the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Paths {
    #[default]
    None,
    Files,
    Dirs,
}

impl Paths {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Files => "files",
            Self::Dirs => "dirs",
        }
    }
}

/// Words, each with what it is.
#[derive(Default)]
pub(super) struct Offers {
    pub(super) paths: Paths,
    pub(super) words: Vec<(String, String)>,
}

/// What could stand at the last of these words.
pub(super) fn at_cursor(root: &Command, words: &[String]) -> Offers {
    let line = read(root, words);
    let mut offers = match line.at {
        Place::Option => Offers {
            words: options(&line),
            ..Offers::default()
        },
        Place::Value(arg) => values(root, &line, arg),
        Place::Positional { arg, is_first } => {
            let mut offers = arg.map(|arg| values(root, &line, arg)).unwrap_or_default();
            if is_first {
                offers.words.splice(..0, commands(line.command));
            }
            offers
        }
    };
    offers.words.retain(|(word, _)| word.starts_with(&line.word));
    offers
}

fn commands(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown
        .map(|command| (command.get_name().to_owned(), plain(command.get_about())))
        .collect()
}

/// Those that are not there yet, or may be there again.
fn options(line: &Line<'_>) -> Vec<(String, String)> {
    let given = |arg: &Arg| line.given.iter().any(|(name, _)| *name == arg.get_id().as_str());
    let may = |arg: &&Arg| !arg.is_hide_set() && (matches!(arg.get_action(), ArgAction::Append) || !given(arg));
    let named = |arg: &Arg| Some((format!("--{}", arg.get_long()?), plain(arg.get_help())));
    line.command.get_arguments().filter(may).filter_map(named).collect()
}

/// What help says, without its styles.
fn plain(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}

fn values(root: &Command, line: &Line<'_>, arg: &Arg) -> Offers {
    if !takes_value(arg) {
        return Offers::default();
    }
    let words = match arg.get_id().as_str() {
        "session" | "a" | "b" => sessions(line, "dir", true),
        "session_id" => sessions(line, "session_dir", false),
        // The pages of `man`.
        "command" => commands(root),
        _ => {
            let shown = arg
                .get_possible_values()
                .into_iter()
                .filter(|value| !value.is_hide_set());
            shown
                .map(|value| (value.get_name().to_owned(), plain(value.get_help())))
                .collect()
        }
    };
    Offers {
        paths: paths(line, arg, &words),
        words,
    }
}

fn paths(line: &Line<'_>, arg: &Arg, words: &[(String, String)]) -> Paths {
    let is_dir = arg
        .get_value_names()
        .is_some_and(|names| names.iter().any(|name| matches!(name.as_str(), "DIR" | "dir")));
    match arg.get_id().as_str() {
        "session" | "a" | "b" => Paths::Dirs,
        _ if is_dir || arg.get_id() == "dir" => Paths::Dirs,
        // Names come first where a name or a file may stand.
        "theme" | "keymap" if words.iter().any(|(word, _)| word.starts_with(&line.word)) => Paths::None,
        "theme" | "keymap" => Paths::Files,
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => Paths::Files,
            _ => Paths::None,
        },
    }
}

/// The sessions of the directory that an argument names, the last active one first.
fn sessions(line: &Line<'_>, dir: &str, with_last: bool) -> Vec<(String, String)> {
    let named = line.given.iter().find(|(name, _)| *name == dir);
    let dir = named.map_or(".", |(_, dir)| dir.as_str());
    let found = list_sessions(Path::new(dir), &Stop::default());
    // Other names would have to be quoted, and are reached as directories.
    let is_plain = |name: &str| {
        let mut chars = name.chars();
        !name.starts_with('-') && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    let found = found
        .into_iter()
        .filter(|session| is_plain(&session.name))
        .take(SESSIONS);
    let found = found.map(|session| {
        let count = plural(u128::from(session.queries), "query", "queries");
        let last = session.last_query.unwrap_or_default();
        let last: String = last
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(50)
            .collect();
        (session.name, format!("{count} {last}"))
    });
    let last = with_last.then(|| ("last".to_owned(), "the session that was active last".to_owned()));
    found.chain(last).collect()
}
