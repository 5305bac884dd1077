//! Help, version and manual pages, as they are printed.

use super::{LOG, RLM, printed};
use std::fmt::Write as _;
use std::path::Path;

/// Every subcommand, with those of the second level.
pub(crate) fn subcommands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::<String>::new(), fast_rlm::cli::query::command())];
    while let Some((path, command)) = open.pop() {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let mut path = path.clone();
            path.push(sub.get_name().to_owned());
            found.push(path.clone());
            open.push((path, sub.clone()));
        }
    }
    found.sort();
    found
}

fn help(program: &str, path: &[String]) -> String {
    let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
    args.push("--help");
    printed(program, &args, Path::new("."))
}

#[test]
fn help_of_the_programs() {
    insta::assert_snapshot!("help_fast_rlm", help(RLM, &[]));
    insta::assert_snapshot!("help_fast_rlm_log", help(LOG, &[]));
}

#[test]
fn help_of_every_subcommand_has_examples() {
    let mut all = String::new();
    for path in subcommands() {
        let help = help(RLM, &path);
        assert!(help.contains("Examples:"), "{path:?}");
        write!(all, "$ fast-rlm {} --help\n{help}\n", path.join(" ")).unwrap();
    }
    insta::assert_snapshot!("help_subcommands", all);
}

/// Without what differs from build to build.
fn without_facts(text: &str) -> String {
    let line = |line: &str| match line.split_once(':') {
        Some((name @ ("commit" | "target" | "profile"), value)) => {
            assert!(!value.trim().is_empty(), "{name}");
            format!("{name}: […]\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn versions_tell_what_was_built() {
    for (name, program) in [("version_fast_rlm", RLM), ("version_fast_rlm_log", LOG)] {
        insta::assert_snapshot!(name, without_facts(&printed(program, &["--version"], Path::new("."))));
        let short = printed(program, &["-V"], Path::new("."));
        assert!(
            short.trim().ends_with(env!("CARGO_PKG_VERSION")) && short.lines().count() == 1,
            "{short}"
        );
    }
}

#[test]
fn manual_pages_of_the_programs() {
    insta::assert_snapshot!("man_fast_rlm", printed(RLM, &["man"], Path::new(".")));
    insta::assert_snapshot!("man_fast_rlm_log", printed(LOG, &["--man"], Path::new(".")));
    insta::assert_snapshot!("man_fast_rlm_replay", printed(RLM, &["man", "replay"], Path::new(".")));
}

#[test]
fn there_is_a_manual_page_for_every_subcommand() {
    let dir = tempfile::tempdir().unwrap();
    printed(RLM, &["man", "--dir", "man1"], dir.path());
    let mut expected: Vec<String> = subcommands()
        .iter()
        .map(|path| format!("fast-rlm-{}.1", path.join("-")))
        .collect();
    expected.push("fast-rlm.1".to_owned());
    expected.sort();
    let pages = std::fs::read_dir(dir.path().join("man1")).unwrap();
    let mut found: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, expected);
    formatted(&dir.path().join("man1"), &found);
}

/// `groff` finds nothing to complain of, where there is one.
fn formatted(dir: &Path, pages: &[String]) {
    for page in pages {
        let ran = std::process::Command::new("groff")
            .args(["-Kutf8", "-man", "-Tutf8", "-ww"])
            .arg(dir.join(page))
            .output();
        let Ok(output) = ran else {
            eprintln!("skipped: groff is not installed");
            return;
        };
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page}");
        assert!(output.stdout.len() > 200, "{page}");
    }
}

#[test]
fn an_unknown_page_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let ran = super::running::Program::new(dir.path()).arg("man").arg("reply").run();
    ran.refused(2, &["reply", "--help"]);
}
