//! Documents say what the program says, link to what is there, and their offline examples run.
//!
//! A block ```` ```sh offline ```` is run by bash, all blocks of a document one after another in one empty directory with
//! an empty home. A block ```` ```text ```` right after it is what it prints to standard output.

use super::{LOG, RLM};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    found.extend(["README.md", "CONTRIBUTING.md", "docs/schemas/README.md"].map(|name| root().join(name)));
    found.sort();
    found
}

/// A fenced block: what stands behind the fence, its text, and the line that it ends in.
struct Block {
    info: String,
    text: String,
    end: usize,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block {
                    info: info.trim().to_owned(),
                    text: String::new(),
                    end: 0,
                });
            }
            (Some(_), Some("")) => {
                let block = open.take().unwrap();
                blocks.push(Block { end: number, ..block });
            }
            (Some(block), _) => block.text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}

/// The directory of what every run of the program shares: the prepared Python.
fn cache() -> PathBuf {
    use etcetera::BaseStrategy;
    let named = std::env::var_os("FAST_RLM_CACHE_DIR").filter(|dir| !dir.is_empty());
    let usual = || etcetera::choose_base_strategy().unwrap().cache_dir().join("fast-rlm");
    named.map_or_else(usual, PathBuf::from)
}

fn run(block: &str, dir: &Path) -> (bool, String, String) {
    let bin = Path::new(RLM).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-euo", "pipefail", "-c", block])
        .current_dir(dir)
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", dir.join("home"))
        .env("FAST_RLM_CACHE_DIR", cache())
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn offline_examples_run_and_print_what_they_say() {
    let mut ran = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        let blocks = blocks(&text);
        for (place, block) in blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.info == "sh offline")
        {
            let (went_well, out, err) = run(&block.text, dir.path());
            let named = format!("{}:{}", document.display(), block.end + 1);
            assert!(went_well, "{named}:\n{}\n{out}\n{err}", block.text);
            let lines = text.lines().count();
            let next = blocks.get(place + 1).filter(|next| {
                let between = text.lines().take(lines).skip(block.end + 1);
                next.info == "text"
                    && between
                        .map_while(|line| (!line.starts_with("```text")).then_some(line))
                        .all(str::is_empty)
            });
            if let Some(expected) = next {
                assert_eq!(out, expected.text, "{named}");
            }
            ran += 1;
        }
    }
    assert!(ran >= 8, "{ran} examples ran");
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(target, _)| target);
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap();
            let path = document.parent().unwrap().join(file);
            assert!(path.exists(), "{}: {target} leads nowhere", document.display());
        }
    }
}

#[test]
fn the_documented_options_are_those_of_the_table() {
    const BEGIN: &str = "<!-- options: made by UPDATE_DOCS=1 cargo test --test command_line -->\n";
    const END: &str = "<!-- end of options -->\n";
    let path = root().join("docs/config.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("docs/config.md has a place for the options");
    let (_, after) = rest.split_once(END).expect("the options end somewhere");
    let wanted = format!("{before}{BEGIN}\n{}{END}{after}", fast_rlm::disk::config::markdown());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        text == wanted,
        "docs/config.md is out of date: UPDATE_DOCS=1 cargo test --test command_line"
    );
}

/// `screenshots/demo.cast` plays: a header, then what was written at instants that rise; a terminal that reads it shows
/// the run, the memory, and the answer.
#[test]
fn the_recording_plays() {
    let text = std::fs::read_to_string(root().join("screenshots/demo.cast")).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&2.into(), &100.into(), &30.into())
    );
    let mut screen = vt100::Parser::new(30.try_into().unwrap(), 100.try_into().unwrap(), 0);
    let mut awaited = ["? keys", "sub-agents", "★", "What did the goat do?", "Q7"]
        .iter()
        .peekable();
    let mut before = 0.0;
    for event in lines {
        let at = event[0].as_f64().unwrap();
        assert!(at >= before && event[1] == "o", "{event}");
        before = at;
        screen.process(event[2].as_str().unwrap().as_bytes());
        while awaited
            .next_if(|text| screen.screen().contents().contains(**text))
            .is_some()
        {}
    }
    assert_eq!(awaited.next(), None, "it is never shown");
}

#[test]
fn every_theme_and_subcommand_is_documented() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let themes = read("docs/themes.md");
    for name in fast_rlm::tui::theme::Theme::names() {
        assert!(
            themes.contains(&format!("`{name}`")) && themes.contains(&format!("theme-{name}.svg")),
            "{name}"
        );
    }
    let all: String = documents()
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for path in super::words::subcommands() {
        let line = format!("fast-rlm {}", path.join(" "));
        assert!(all.contains(&line), "no document speaks of {line}");
    }
    assert!(Path::new(LOG).exists());
}
