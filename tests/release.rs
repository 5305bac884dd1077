//! A release is complete: the licences of all that it is made with, and a tarball that works wherever it is unpacked.
#![cfg(all(unix, feature = "engine"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../examples/licences/collect.rs"]
mod collect;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Name and version of every crate in Cargo.lock that comes from elsewhere.
fn locked() -> Vec<String> {
    let lock: toml::Table = std::fs::read_to_string(root().join("Cargo.lock"))
        .unwrap()
        .parse()
        .unwrap();
    let packages = lock["package"].as_array().unwrap();
    let foreign = packages.iter().filter(|package| package.get("source").is_some());
    foreign
        .map(|package| {
            format!(
                "{} {}",
                package["name"].as_str().unwrap(),
                package["version"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn the_licences_of_every_dependency_are_collected() {
    let notices = collect::notices(root()).unwrap();
    let locked = locked();
    assert!(locked.len() > 300, "{}", locked.len());
    for name in locked {
        let line = notices.lines().find(|line| line.starts_with(&format!("{name}: ")));
        let licence = line
            .and_then(|line| line.split_once(": "))
            .map_or("", |(_, licence)| licence);
        assert!(!licence.trim().is_empty(), "{name} has no licence");
    }
    for part in [
        "Python Software Foundation License",
        "Apache License",
        "Mozilla Public License",
        "Permission is hereby",
    ] {
        assert!(notices.contains(part), "{part}");
    }
}

/// A program out of the tarball, with nothing of this machine's environment.
fn run(program: &Path, args: &[&str], dir: &Path, home: Option<&Path>) -> Output {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    if let Some(home) = home {
        command.env("HOME", home);
    }
    command.output().unwrap()
}

#[track_caller]
fn went_well(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("Preparing"), "Python is prepared again: {told}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The programs to pack: those of a release build, where one is named; else this one's.
fn programs() -> PathBuf {
    let own = Path::new(env!("CARGO_BIN_EXE_fast-rlm")).parent().unwrap();
    std::env::var_os("FAST_RLM_RELEASE_BIN").map_or(own.to_owned(), PathBuf::from)
}

fn unpacked(into: &Path) -> PathBuf {
    let bin = programs();
    let made = Command::new(root().join(".ci/package"))
        .arg("--bin")
        .arg(bin)
        .arg("--out")
        .arg(into)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let tarball = String::from_utf8(made.stdout)
        .unwrap()
        .lines()
        .last()
        .unwrap()
        .to_owned();
    let tar = Command::new("tar")
        .arg("-xzf")
        .arg(&tarball)
        .arg("-C")
        .arg(into)
        .status()
        .unwrap();
    assert!(tar.success());
    let name = Path::new(&tarball).file_name().unwrap().to_str().unwrap();
    into.join(name.strip_suffix(".tar.gz").unwrap())
}

fn package(args: &[&str]) -> Output {
    Command::new(root().join(".ci/package")).args(args).output().unwrap()
}

/// A whole build with these flags takes minutes; what they do is seen in a small program.
#[test]
fn programs_name_no_path_of_the_machine_that_built_them() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let source = dir.path().join("small.rs");
    std::fs::write(&source, "fn main() { println!(\"{}\", file!()); }").unwrap();
    let flags = package(&["--flags"]);
    assert!(flags.status.success(), "{flags:?}");
    let flags = String::from_utf8(flags.stdout).unwrap();
    let compile = |name: &str, flags: Vec<&str>| {
        let program = dir.path().join(name);
        let mut rustc = Command::new("rustc");
        rustc
            .args(flags)
            .args(["-C", "strip=symbols", "-o"])
            .arg(&program)
            .arg(&source);
        assert!(rustc.status().unwrap().success());
        let named = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        (named, package(&["--check", program.to_str().unwrap()]))
    };
    let (named, checked) = compile("remapped", flags.lines().collect());
    assert!(named.starts_with("build/") || named.starts_with("fast-rlm/"), "{named}");
    assert!(checked.status.success(), "{checked:?}");
    let (named, checked) = compile("plain", Vec::new());
    assert!(named.starts_with('/'), "{named}");
    assert!(!checked.status.success(), "the check finds what the flags are for");
}

/// Packs the programs of `FAST_RLM_RELEASE_BIN` (`.ci/run` names its release build), else of this build, which takes minutes
/// in a debug one: `cargo test --test release -- --ignored`.
#[test]
#[ignore = "prepares Python for the package: .ci/run does it with a release build"]
fn a_tarball_runs_the_demo_wherever_it_is_unpacked() {
    let place = tempfile::tempdir().unwrap();
    let release = unpacked(place.path());
    for file in [
        "README.md",
        "LICENSE",
        "NOTICE",
        "THIRD-PARTY-LICENSES",
        "share/man/man1/fast-rlm.1",
        "share/man/man1/fast-rlm-log.1",
        "share/man/man1/fast-rlm-what-if.1",
        "share/bash-completion/completions/fast-rlm-log",
        "share/zsh/site-functions/_fast-rlm",
        "share/fish/vendor_completions.d/fast-rlm.fish",
        "share/doc/fast-rlm/docs/getting-started.md",
    ] {
        assert!(
            release.join(file).metadata().is_ok_and(|file| file.len() > 100),
            "{file}"
        );
    }
    let (rlm, log) = (release.join("bin/fast-rlm"), release.join("bin/fast-rlm-log"));
    let home = place.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("model.yaml"), "replies: [{code: 'FINAL(6 * 7)'}]").unwrap();
    let asked =
        "complete -p fast-rlm >/dev/null && COMP_WORDS=(fast-rlm repl) COMP_CWORD=1 && _fast_rlm && echo $COMPREPLY";
    let script = release.join("share/bash-completion/completions/fast-rlm");
    let asked = format!(
        "PATH='{}':$PATH; source '{}'; {asked}",
        release.join("bin").display(),
        script.display()
    );
    assert_eq!(
        went_well(&run(Path::new("bash"), &["-c", &asked], &home, None)),
        "replay\n"
    );
    // With a home that is empty, and with none at all.
    for home_dir in [Some(home.as_path()), None] {
        let query = ["What is it?", "--primary-agent", "scripted:model.yaml"];
        assert_eq!(went_well(&run(&rlm, &query, &home, home_dir)), "42\n");
        let facts = went_well(&run(&log, &["--demo"], &home, home_dir));
        assert!(facts.contains("queries"), "{facts}");
    }
    let cached = std::fs::read_dir(home.join(".cache/fast-rlm"))
        .into_iter()
        .flatten()
        .flatten();
    let prepared = cached.filter(|entry| entry.file_name().to_string_lossy().starts_with("python-"));
    assert_eq!(prepared.count(), 0, "Python was prepared again");
}
