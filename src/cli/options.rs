//! What both programs' command lines have in common: help from the table of options, examples from one list, facts of
//! the build, and manual pages.

use super::examples;
use crate::disk::config::OPTIONS;
use crate::tui::keymap::PRESETS;
use crate::tui::theme::Theme;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::io;

/// What a flag says that is told as its option is.
const AS_OPTION: &str = "The option `";

/// The command with its flags told as the table of options tells them, with examples, and with facts of the build.
pub(super) fn described(command: Command) -> Command {
    told(examples::added(command.version(VERSION).long_version(LONG_VERSION)))
}

/// Tells the flags of a command and of those below it.
fn told(mut command: Command) -> Command {
    for option in OPTIONS {
        let Some(flag) = option.flag else { continue };
        let as_option = |arg: &&Arg| {
            let says = arg
                .get_help()
                .is_some_and(|help| help.to_string().starts_with(AS_OPTION));
            says && arg.get_long() == Some(flag.long)
        };
        let id = command
            .get_arguments()
            .find(as_option)
            .map(|arg| arg.get_id().to_string());
        if let Some(id) = id {
            command = command.mut_arg(id, |arg| match names(option.name) {
                names if names.is_empty() => arg.help(option.help()),
                names => arg.help(option.help()).value_parser(NameOrFile(names)),
            });
        }
    }
    let below: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    below
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, told))
}

/// The version alone.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version and what this build is made of.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:   ",
    env!("FAST_RLM_COMMIT"),
    "\ntarget:   ",
    env!("FAST_RLM_TARGET"),
    "\nprofile:  ",
    env!("FAST_RLM_PROFILE"),
    "\nfeatures: ",
    env!("FAST_RLM_FEATURES"),
    "\npython:   ",
    env!("FAST_RLM_PYTHON"),
);

/// A manual page.
pub(super) struct Page {
    /// Its file name: `fast-rlm-replay.1`.
    pub(super) file: String,
    /// In roff.
    pub(super) text: Vec<u8>,
}

/// Manual pages: the command's, then one for each subcommand.
pub(super) fn pages(command: Command) -> io::Result<Vec<Page>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    let mut open = vec![command];
    while let Some(mut command) = open.pop() {
        let usage = command.render_usage().to_string();
        let subcommands: Vec<Command> = command.get_subcommands().cloned().collect();
        open.extend(subcommands.into_iter().rev());
        let man = clap_mangen::Man::new(command);
        let file = man.get_filename();
        let mut text = Vec::new();
        man.render(&mut text)?;
        let text = with_synopsis(&String::from_utf8_lossy(&text), &usage).into_bytes();
        pages.push(Page { file, text });
    }
    Ok(pages)
}

/// A page with the synopsis that the help has, in place of a list of all options without their values; and with a title
/// for what stands behind them.
fn with_synopsis(page: &str, usage: &str) -> String {
    let page = page.replace(".SH EXTRA", ".SH \"EXAMPLES AND NOTES\"");
    let found = page.split_once(".SH SYNOPSIS\n");
    let Some((before, after)) = found.and_then(|(before, rest)| Some((before, rest.split_once("\n.SH ")?.1))) else {
        return page;
    };
    let line = |line: &str| line.trim_start_matches("Usage:").trim().replace('-', "\\-");
    let lines: Vec<String> = usage.lines().map(line).collect();
    format!("{before}.SH SYNOPSIS\n{}\n.SH {after}", lines.join("\n.br\n"))
}

/// A text for which some values have names: they are offered, and any other is a file's.
#[derive(Clone, Debug)]
struct NameOrFile(Vec<&'static str>);

impl TypedValueParser for NameOrFile {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}

/// The names that an option's values may have.
fn names(option: &str) -> Vec<&'static str> {
    match option {
        "theme" => std::iter::once("auto").chain(Theme::names()).collect(),
        "keymap" => PRESETS.to_vec(),
        _ => Vec::new(),
    }
}
