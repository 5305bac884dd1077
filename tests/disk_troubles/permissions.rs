//! What may only be read, or not even that: a read-only directory, one without permission. It is told, and the viewer opens
//! what it may read.

use super::running::mount::{Mount, skip};
use super::running::{Program, script};
use super::{Place, pty, told};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn a_read_only_directory_is_told_and_can_be_viewed() {
    let place = Place::begun();
    let before = place.state();
    let Some(disk) = Mount::read_only(&place.session_dir()) else {
        return;
    };
    told(
        &place.asks(&[], &["x = 1", "FINAL(1)"]).run(),
        &place,
        &["Read-only file system"],
    );
    assert_eq!(place.state(), before);
    looks_at(&place, &[]);
    drop(disk);
    place.works_again();
}

/// Takes away what lets the superuser write anywhere; `None`, and a word about it, where that cannot be.
fn mortal() -> Option<&'static [&'static str]> {
    const DROPS: &[&str] = &[
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ];
    if !rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let works = Command::new(DROPS[0])
        .args(&DROPS[1..])
        .arg("true")
        .stderr(Stdio::null())
        .status();
    if works.is_ok_and(|status| status.success()) {
        return Some(DROPS);
    }
    skip("the superuser may write anywhere, and there is no setpriv to take that away");
    None
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_without_permission_is_told_and_can_be_viewed() {
    let Some(mortal) = mortal() else { return };
    let place = Place::begun();
    let before = place.state();
    let dirs = [place.session_dir(), place.session_dir().join("logs")];
    dirs.iter().for_each(|dir| allow(dir, 0o500));
    let ran = place.asks(mortal, &["x = 1", "FINAL(1)"]).run();
    told(&ran, &place, &["ermission denied"]);
    assert_eq!(place.state(), before);
    looks_at(&place, mortal);

    // Nor may it be looked into: the cause is told, not that there is nothing.
    dirs.iter().for_each(|dir| allow(dir, 0o000));
    told_by_the_viewer(&place, mortal);
    let (code, said) = place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm-log"), &["."]);
    assert!(code == Some(0) && said.contains("ermission denied"), "{said}");
    let ran = place.asks(mortal, &["x = 1", "FINAL(1)"]).run();
    told(&ran, &place, &["ermission denied"]);
    dirs.iter().for_each(|dir| allow(dir, 0o700));
    assert_eq!(place.state(), before);
    place.works_again();
}

#[test]
fn sessions_in_a_directory_without_permission_are_not_called_missing() {
    let Some(mortal) = mortal() else { return };
    let place = Place::begun();
    let runs = place.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    std::fs::rename(place.session_dir(), runs.join("s")).unwrap();
    let commands: [&[&str]; 8] = [
        &["sessions", "runs"],
        &["sessions", "runs", "--prune"],
        &["sessions", "runs", "--json"],
        &["sessions", "gc", "runs"],
        &["replay", "last", "--dir", "runs"],
        &["replay", "s", "--dir", "runs"],
        &["diff", "runs/s", "runs/s"],
        &["export", "s", "--dir", "runs", "--bundle", "bundle"],
    ];
    // Nothing of it may be done, or its names may be read, and nothing else.
    for mode in [0o000, 0o644] {
        allow(&runs, mode);
        let ran = commands.map(|args| place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm"), args));
        let viewed = place.told(mortal, env!("CARGO_BIN_EXE_fast-rlm-log"), &["runs"]);
        allow(&runs, 0o700);
        for (code, said) in ran.into_iter().chain([viewed]) {
            assert!(matches!(code, Some(1 | 2)), "{mode:o}: {said}");
            assert!(
                said.contains("ermission denied") && said.contains("runs"),
                "{mode:o}: {said}"
            );
        }
    }
}

fn told_by_the_viewer(place: &Place, wrapper: &[&str]) {
    let output = viewer(place, wrapper, &["--stats"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("ermission denied") && said.contains("session"), "{said}");
}

fn viewer(place: &Place, wrapper: &[&str], args: &[&str]) -> Output {
    let Some((first, rest)) = wrapper.split_first() else {
        return place.view(args);
    };
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .arg(place.session_dir());
    command
        .args(args)
        .env("FAST_RLM_CACHE_DIR", place.path().join("cache"))
        .output()
        .unwrap()
}

/// As text, as JSON, and on the screen; nothing is left in the directory.
fn looks_at(place: &Place, wrapper: &[&str]) {
    for mode in ["--stats", "--json"] {
        let output = viewer(place, wrapper, &[mode]);
        assert!(
            output.status.success(),
            "{mode}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(String::from_utf8(output.stdout).unwrap().contains("begun"), "{mode}");
    }
    let mut screen = pty::Pty::open(&place.session_dir(), &["--tui", "--no-animation"], &[]);
    screen.wait_for("begun");
    screen.send("q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn what_is_named_and_may_not_be_read_is_told_by_that() {
    let place = Place::new();
    let Some(mortal) = mortal() else { return };
    let at = |name: &str| place.path().join(name);
    let script = script::steps(place.path(), "steps.json", &["FINAL(1)"]);
    std::fs::create_dir_all(at("no-configuration/fast-rlm")).unwrap();
    for name in [
        "input",
        "tools.py",
        "mcp.json",
        "schema.json",
        "config.toml",
        "no-configuration/fast-rlm/pricing.toml",
    ] {
        std::fs::write(at(name), "{}").unwrap();
        allow(&at(name), 0o000);
        let option = match name {
            "input" => &["--input-file", name][..],
            "tools.py" => &["--tools", name],
            "mcp.json" => &["--mcp", name],
            "schema.json" => &["--output-schema", name],
            "config.toml" => &["--config", name],
            _ => &[],
        };
        let query = Program::started_by(place.path(), mortal).arg("go").scripted(&script);
        let ran = option.iter().fold(query, |query, arg| query.arg(arg)).run();
        ran.refused(2, &["Permission denied", "check who owns it, and its permissions"]);
        std::fs::remove_file(at(name)).unwrap();
    }
}
