//! The terminal program looks and listens as flags and configuration say, and refuses what it does not understand.

use super::pty::{Pty, session_dir};
use std::path::Path;

/// Opens the demo in a directory with this configuration.
fn open(dir: &Path, configuration: &str, flags: &[&str]) -> Pty {
    std::fs::write(dir.join("fast-rlm.toml"), configuration).unwrap();
    let session = session_dir();
    let args = [&[session.to_str().unwrap(), "--tui", "--no-animation"][..], flags].concat();
    let nowhere = dir.join("no-configuration");
    let env = [
        ("XDG_CONFIG_HOME", nowhere.to_str().unwrap()),
        ("COLORTERM", "truecolor"),
        ("FAST_RLM_THEME", ""),
        ("FAST_RLM_KEYMAP", ""),
    ];
    Pty::viewer(dir, &args, &env)
}

/// It ends before it draws anything, and says these things.
fn refused(configuration: &str, flags: &[&str], said: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let mut pty = open(dir.path(), configuration, flags);
    assert_eq!(pty.exit_code(), 2);
    let written = pty.written().replace("\r\n", " ");
    for text in said {
        assert!(written.contains(text), "{text:?} is not in {written}");
    }
    assert!(!written.contains("[?1049h"), "{written}");
}

#[test]
fn a_theme_that_is_not_there_lists_those_that_are() {
    refused(
        "",
        &["--theme", "dusc"],
        &[
            "no theme \"dusc\"",
            "did you mean dusk",
            "ember",
            "moss",
            "contrast",
            "mist",
            "paper",
        ],
    );
}

/// The screens come all the same, and this was said before.
fn told(configuration: &str, said: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut pty = open(dir.path(), configuration, &[]);
    pty.wait_for("? keys");
    let written = pty.written().replace("\r\n", " ");
    let (before, _) = written.split_once("[?1049h").unwrap();
    assert!(before.contains(said), "{said:?} is not in {before}");
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn a_theme_of_a_file_that_cannot_be_used_is_told_and_keeps_nobody_from_looking() {
    told("theme = \"dusc\"\n", "no theme \"dusc\"");
}

#[test]
fn keys_that_cannot_be_used_are_errors_with_file_and_line_wherever_they_are_set() {
    refused(
        "# keys\n[keys.everywhere]\nsearch = [\"m\"]\n",
        &[],
        &[
            "fast-rlm.toml:3: m would mean both search and memory",
            "give one of them another key",
        ],
    );
    refused(
        "keymap = \"vim\"\n[keys.run]\nfrok = [\"F\"]\n",
        &[],
        &["fast-rlm.toml:3: [run] has no action \"frok\", did you mean \"fork\""],
    );
    refused("keymap = \"emacs\"\n", &[], &["no keymap \"emacs\"", "arrows and vim"]);
    refused("", &["--keymap", "emacs"], &["no keymap \"emacs\"", "arrows and vim"]);
}

#[test]
fn names_that_are_no_options_are_told_before_the_screens() {
    told(
        "utc = true\nthemes = \"dusk\"\n",
        "fast-rlm.toml:2: themes is no option and is ignored; did you mean theme?",
    );
}

#[test]
fn the_configuration_chooses_theme_and_keys_and_flags_win() {
    let dir = tempfile::tempdir().unwrap();
    let configuration = "theme = \"paper\"\nkeymap = \"vim\"\n[keys.everywhere]\nhelp = [\"f1\"]\n";
    let mut pty = open(dir.path(), configuration, &[]);
    pty.wait_for("F1 keys");
    assert!(pty.written().contains("48;2;247;240;225"), "the ground of paper");
    pty.send("g");
    pty.wait_for("◉──┏━ Q1");
    pty.send("j");
    pty.wait_for("◉──┏━ Q2");
    pty.send("k");
    pty.wait_for("◉──┏━ Q1");
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);

    let mut pty = open(dir.path(), configuration, &["--theme", "moss", "--keymap", "arrows"]);
    pty.wait_for("F1 keys");
    assert!(pty.written().contains("48;2;16;23;19"), "the ground of moss");
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn the_demo_has_the_same_figures_as_text_and_on_the_screens() {
    let dir = tempfile::tempdir().unwrap();
    let text = super::printed(super::LOG, &["--demo"], dir.path());
    let line = text.lines().find(|line| line.contains("without FINAL: ")).unwrap();
    let figures = line.split(&[' ', ':'][..]).collect::<Vec<_>>();
    let at = figures.iter().position(|word| word.starts_with("tokens")).unwrap();
    let tokens = format!("{} tokens", figures[at - 1]);
    let mut pty = Pty::viewer(dir.path(), &["--demo", "--tui", "--no-animation"], &[]);
    pty.wait_for("without FINAL");
    pty.wait_for(&tokens);
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
}
