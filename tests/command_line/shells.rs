//! Completions: what shells are given, and what bash makes of it.

use super::{LOG, RLM, printed};
use std::path::Path;
use std::process::Command;

fn completions(program: &str, shell: &str) -> String {
    let flag = if program == RLM { "completions" } else { "--completions" };
    printed(program, &[flag, shell], Path::new("."))
}

#[test]
fn fish_is_told_everything() {
    insta::assert_snapshot!("fish_fast_rlm", completions(RLM, "fish"));
    insta::assert_snapshot!("fish_fast_rlm_log", completions(LOG, "fish"));
}

#[test]
fn every_shell_is_told_of_every_subcommand_and_flag() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = completions(RLM, shell);
        for path in super::words::subcommands() {
            assert!(script.contains(path.last().unwrap()), "{path:?} in {shell}");
        }
        let script = completions(LOG, shell);
        let command = fast_rlm::cli::LogArgs::described();
        for flag in command.get_arguments().filter_map(|arg| arg.get_long()) {
            assert!(script.contains(flag), "--{flag} in {shell}");
        }
    }
}

/// What bash offers for the last of these words, in order.
fn offered(program: &str, name: &str, words: &[&str]) -> Vec<String> {
    let script = completions(program, "bash");
    let line = format!(
        "{script}\nfunction=$(complete -p {name}); function=${{function#*-F }}; function=${{function%% *}}\n\
         COMP_WORDS=({}); COMP_CWORD={}; $function {name} '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2]
    );
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &line])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let mut offered: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    offered.sort();
    offered
}

#[test]
fn bash_completes_subcommands_flags_and_values() {
    let rlm = |words: &[&str]| offered(RLM, "fast-rlm", words);
    assert_eq!(rlm(&["fast-rlm", "re"]), ["replay", "resume"]);
    assert_eq!(rlm(&["fast-rlm", "config", "s"]), ["schema"]);
    assert_eq!(rlm(&["fast-rlm", "fork", "x", "--in"]), ["--inject", "--input-file"]);
    assert_eq!(rlm(&["fast-rlm", "--verbosity", "s"]), ["silent", "summary"]);
    assert_eq!(rlm(&["fast-rlm", "--repl", "s"]), ["sandbox"]);
    assert_eq!(rlm(&["fast-rlm", "replay", "--repl", "p"]), ["python3"]);
    let log = |words: &[&str]| offered(LOG, "fast-rlm-log", words);
    assert_eq!(log(&["fast-rlm-log", "--th"]), ["--theme"]);
    assert_eq!(log(&["fast-rlm-log", "--theme", "mi"]), ["mist"]);
    assert_eq!(log(&["fast-rlm-log", "--keymap", "v"]), ["vim"]);
}
