//! A command line that is not finished: which command its words lead to, what was given to it, and what the cursor is
//! at.

use clap::{Arg, ArgAction, Command};

/// Where the cursor is.
pub(super) struct Line<'a> {
    /// The command that the words before the cursor lead to.
    pub(super) command: &'a Command,
    /// What they say to it: arguments by their names, and the values of those that take one.
    pub(super) given: Vec<(&'a str, String)>,
    /// What the cursor is at.
    pub(super) at: Place<'a>,
    /// The word so far.
    pub(super) word: String,
}

/// What could stand at the cursor.
pub(super) enum Place<'a> {
    /// The name of an option.
    Option,
    /// The value of an option.
    Value(&'a Arg),
    /// A value without a name; before the first one, also a command.
    Positional {
        /// Its argument, unless there are too many.
        arg: Option<&'a Arg>,
        /// No other stands before it.
        is_first: bool,
    },
}

/// Words as they were typed, without the program's name; the last one is at the cursor.
pub(super) fn read<'a>(root: &'a Command, words: &[String]) -> Line<'a> {
    let words = joined(words);
    let (word, before) = match words.split_last() {
        Some((word, before)) => (word.clone(), before),
        None => (String::new(), words.as_slice()),
    };
    let mut line = Line {
        command: root,
        given: Vec::new(),
        at: Place::Option,
        word,
    };
    let (mut open, mut literal, mut count) = (None::<&Arg>, false, 0);
    for word in before {
        if let Some(arg) = open.take() {
            line.given.push((arg.get_id().as_str(), unquoted(word)));
        } else if literal || !word.starts_with('-') || word == "-" {
            match line.command.find_subcommand(word).filter(|_| count == 0 && !literal) {
                Some(command) => line.command = command,
                None => count += 1,
            }
        } else if word == "--" {
            literal = true;
        } else {
            open = line.option(word);
        }
    }
    line.place(open, literal, count);
    line
}

impl<'a> Line<'a> {
    /// Takes an option; gives it back where its value is the next word.
    fn option(&mut self, word: &str) -> Option<&'a Arg> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let arg = named(self.command, name)?;
        match value {
            None if takes_value(arg) => return Some(arg),
            value => self
                .given
                .push((arg.get_id().as_str(), unquoted(value.unwrap_or_default()))),
        }
        None
    }

    fn place(&mut self, open: Option<&'a Arg>, literal: bool, count: usize) {
        if let Some(arg) = open {
            self.at = Place::Value(arg);
            return;
        }
        if literal || !self.word.starts_with('-') || self.word == "-" {
            let arg = self.command.get_positionals().nth(count);
            self.at = Place::Positional {
                arg,
                is_first: count == 0 && !literal,
            };
            return;
        }
        if let Some((name, value)) = self.word.split_once('=')
            && let Some(arg) = named(self.command, name)
        {
            self.word = value.to_owned();
            self.at = Place::Value(arg);
        }
    }
}

fn named<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let mut args = command.get_arguments();
    match word.strip_prefix("--") {
        Some(long) => args.find(|arg| arg.get_long() == Some(long)),
        None => args.find(|arg| arg.get_short().is_some_and(|short| word == format!("-{short}"))),
    }
}

pub(super) fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Bash makes `--name`, `=` and `value` of one word.
fn joined(words: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let is_option = all
            .last()
            .is_some_and(|last| last.starts_with("--") && !last.contains('='));
        match word.as_str() {
            "=" if is_option => {
                let value = words.next().cloned().unwrap_or_default();
                if let Some(last) = all.last_mut() {
                    last.push('=');
                    last.push_str(&value);
                }
            }
            _ => all.push(word.clone()),
        }
    }
    all
}

/// A word without what quotes it, and with the home directory for `~/`: shells hand over what was typed.
fn unquoted(word: &str) -> String {
    let mut plain: String = match (word.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => word.to_owned(),
    };
    plain.retain(|c| !matches!(c, '\'' | '"' | '\\'));
    plain
}
