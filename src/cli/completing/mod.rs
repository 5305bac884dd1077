//! Completions: small scripts for bash, zsh and fish that ask the program itself what could stand at the cursor. So
//! every shell offers the same, and also what no script could know: the sessions of a directory.
//!
//! A script runs `PROGRAM __complete WORD...` with the words up to the cursor. The first line of the answer says what
//! files may stand there too (`files`, `dirs` or `none`), each other line is a word, a tab, and what it is.

mod line;
mod offers;

use crate::text::SafeText;
use clap::Command;
use clap_complete::shells::{Elvish, PowerShell};
use clap_complete::{Generator, Shell};
use offers::Offers;
use std::ffi::OsString;

/// What a script says before the words.
const ASKED: &str = "__complete";

/// The script for a shell.
pub(super) fn script(mut command: Command, shell: Shell) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let text = match shell {
        Shell::Bash => include_str!("../../../assets/completions/bash"),
        Shell::Zsh => include_str!("../../../assets/completions/zsh"),
        Shell::Fish => include_str!("../../../assets/completions/fish"),
        Shell::PowerShell => return generated(PowerShell, &mut command, name),
        _ => return generated(Elvish, &mut command, name),
    };
    let function = name.replace('-', "_");
    text.replace("PROGRAM", &name)
        .replace("FUNCTION", &function)
        .into_bytes()
}

fn generated(shell: impl Generator, command: &mut Command, name: String) -> Vec<u8> {
    let mut out = Vec::new();
    clap_complete::generate(shell, command, name, &mut out);
    out
}

/// What a script is answered; `None` where none asks.
pub(super) fn answer(command: impl FnOnce() -> Command, words: &[OsString]) -> Option<Vec<u8>> {
    let (_, asked) = words.split_first()?;
    let (first, words) = asked.split_first()?;
    if first != ASKED {
        return None;
    }
    let mut command = command();
    command.build();
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Some(told(&offers::at_cursor(&command, &words)).into_bytes())
}

fn told(offers: &Offers) -> String {
    let mut text = format!("{}\n", offers.paths.word());
    for (word, about) in &offers.words {
        let about = SafeText::line(about.lines().next().unwrap_or_default());
        text.push_str(&format!("{word}\t{}\n", about.as_str()));
    }
    text
}
