//! Completions, in the shells themselves: what each of them makes of the script that it is given. One that is not installed
//! is skipped, and says so.

use super::pty::Pty;
use super::{LOG, RLM, printed};
use portable_pty::CommandBuilder;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn completions(program: &str, shell: &str) -> String {
    let flag = if program == RLM { "completions" } else { "--completions" };
    printed(program, &[flag, shell], Path::new("."))
}

#[test]
fn shells_that_ask_nothing_are_told_of_every_subcommand_and_flag() {
    for shell in ["elvish", "powershell"] {
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

/// A directory with files and a session, and the scripts of a shell.
fn place(shell: &str) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("fast-rlm.completions", &completions(RLM, shell));
    write("fast-rlm-log.completions", &completions(LOG, shell));
    write("notes.txt", "");
    let session = place.path().join("runs/podcasts");
    std::fs::create_dir_all(&session).unwrap();
    std::fs::create_dir(place.path().join("two words")).unwrap();
    std::fs::copy(super::pty::session_dir().join("state.json"), session.join("state.json")).unwrap();
    place
}

/// Where shells find the programs.
fn path() -> String {
    let bin = Path::new(RLM).parent().unwrap().display().to_string();
    format!("{bin}:{}", std::env::var("PATH").unwrap())
}

fn is_installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {shell} is not installed, its completions were NOT tried");
    }
    found
}

/// What a shell that is given `script` prints, line by line.
fn lines(shell: &str, args: &[&str], script: &str, place: &Path) -> Vec<String> {
    let output = Command::new(shell)
        .args(args)
        .args(["-c", script])
        .current_dir(place)
        .env("PATH", path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{script}");
    let mut lines: Vec<_> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

/// What bash offers for the last of these words.
fn bash(place: &Path, words: &[&str]) -> Vec<String> {
    let name = words[0];
    let script = format!(
        "source {name}.completions; function=$(complete -p {name}); function=${{function#*-F }}; \
         function=${{function%% *}}; COMP_WORDS=({}); COMP_CWORD={}; $function {name}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" "),
        words.len() - 1,
    );
    lines("bash", &["--norc", "--noprofile"], &script, place)
}

#[test]
fn bash_completes() {
    let place = place("bash");
    let offered = |words: &[&str]| bash(place.path(), words);
    assert_eq!(offered(&["fast-rlm", "re"]), ["replay", "resume"]);
    assert_eq!(offered(&["fast-rlm", "config", "s"]), ["schema"]);
    assert_eq!(
        offered(&["fast-rlm", "fork", "x", "--in"]),
        ["--inject", "--input-file"]
    );
    assert_eq!(offered(&["fast-rlm", "--verbosity", "s"]), ["silent", "summary"]);
    assert_eq!(offered(&["fast-rlm", "--repl", ""]), ["python3", "sandbox"]);
    // Bash makes three words of `--repl=p`.
    assert_eq!(offered(&["fast-rlm", "replay", "--repl", "=", "p"]), ["python3"]);
    assert_eq!(offered(&["fast-rlm", "--repl=p"]), ["--repl=python3"]);
    assert_eq!(offered(&["fast-rlm", "replay", "--dir", "runs", "p"]), ["podcasts"]);
    assert_eq!(
        offered(&["fast-rlm", "--session-dir", "runs", "--session-id", ""]),
        ["podcasts"]
    );
    assert_eq!(offered(&["fast-rlm", "--input-file", "no"]), ["notes.txt"]);
    assert_eq!(offered(&["fast-rlm", "--session-dir", "two"]), ["two words"]);
    assert_eq!(offered(&["fast-rlm", "completions", "z"]), ["zsh"]);
    assert_eq!(offered(&["fast-rlm", "man", "wh"]), ["what-if"]);
    assert_eq!(offered(&["fast-rlm", "a prompt", "re"]), [""]);
    assert_eq!(offered(&["fast-rlm-log", "--th"]), ["--theme"]);
    assert_eq!(offered(&["fast-rlm-log", "--theme", "mi"]), ["mist"]);
    assert_eq!(offered(&["fast-rlm-log", "--keymap", "v"]), ["vim"]);
    assert_eq!(offered(&["fast-rlm-log", "no"]), ["notes.txt"]);
}

#[test]
fn fish_completes() {
    if !is_installed("fish") {
        return;
    }
    let place = place("fish");
    let offered = |line: &str| {
        let name = line.split(' ').next().unwrap();
        let script = format!("source {name}.completions; complete -C '{line}'");
        let told = lines("fish", &["--no-config"], &script, place.path());
        let words = told.iter().map(|line| line.split('\t').next().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(offered("fast-rlm re"), ["replay", "resume"]);
    assert_eq!(offered("fast-rlm fork x --in"), ["--inject", "--input-file"]);
    assert_eq!(offered("fast-rlm --repl "), ["python3", "sandbox"]);
    assert_eq!(offered("fast-rlm --repl=p"), ["--repl=python3"]);
    assert_eq!(offered("fast-rlm replay --dir runs p"), ["podcasts"]);
    assert_eq!(offered("fast-rlm --input-file no"), ["notes.txt"]);
    assert_eq!(offered("fast-rlm --input-file=no"), ["--input-file=notes.txt"]);
    assert_eq!(offered("fast-rlm --session-dir two"), ["two words/"]);
    assert_eq!(offered("fast-rlm completions z"), ["zsh"]);
    assert_eq!(offered("fast-rlm-log --theme mi"), ["mist"]);
    assert_eq!(offered("fast-rlm-log no"), ["notes.txt"]);
}

#[test]
fn zsh_completes() {
    if !is_installed("zsh") {
        return;
    }
    let place = place("zsh");
    for name in ["fast-rlm", "fast-rlm-log"] {
        let file = place.path().join(format!("{name}.completions"));
        std::fs::rename(file, place.path().join(format!("_{name}"))).unwrap();
    }
    let mut command = CommandBuilder::new("zsh");
    command.args(["-f", "-i"]);
    command.cwd(place.path());
    command.env("PATH", path());
    let mut zsh = Pty::narrow(command, 100);
    zsh.send("PS1='> '; bindkey -e; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy\r");
    zsh.wait_for("ready");
    for (typed, whole) in [
        ("fast-rlm repl", "fast-rlm replay"),
        ("fast-rlm --repl p", "fast-rlm --repl python3"),
        ("fast-rlm --repl=p", "fast-rlm --repl=python3"),
        ("fast-rlm replay --dir runs p", "fast-rlm replay --dir runs podcasts"),
        ("fast-rlm --input-file no", "fast-rlm --input-file notes.txt"),
        ("fast-rlm --session-dir two", "fast-rlm --session-dir two\\ words/"),
        ("fast-rlm completions z", "fast-rlm completions zsh"),
        ("fast-rlm-log --theme mi", "fast-rlm-log --theme mist"),
    ] {
        zsh.send(typed);
        zsh.send("\t");
        zsh.wait_for(whole);
        zsh.send("\u{15}"); // Ctrl-U: away with the line
        zsh.wait_until_gone(whole);
    }
    zsh.send("fast-rlm re\t\t");
    zsh.wait_for("Finish a query that a crash cut");
    assert!(
        !zsh.screen_text().contains("readlink"),
        "commands of the system: {}",
        zsh.screen_text()
    );
}
