//! The session that comes with the program, unpacked into a directory that goes when the program ends.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::disk::private_dir::PrivateDir;
use crate::store::StoreRows;

/// Its files, with their paths.
const FILES: &[(&str, &[u8])] = &[
    (
        "logs/run_2026-03-14T18-41-07-312Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-14T18-41-07-312Z.jsonl"),
    ),
    (
        "logs/run_2026-03-14T18-41-07-312Z.query",
        include_bytes!("../../assets/demo/logs/run_2026-03-14T18-41-07-312Z.query"),
    ),
    (
        "logs/run_2026-03-14T18-46-20-004Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-14T18-46-20-004Z.jsonl"),
    ),
    (
        "logs/run_2026-03-14T18-52-48-250Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-14T18-52-48-250Z.jsonl"),
    ),
    (
        "logs/run_2026-03-14T19-01-33-871Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-14T19-01-33-871Z.jsonl"),
    ),
    (
        "logs/run_2026-03-15T07-12-56-640Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-15T07-12-56-640Z.jsonl"),
    ),
    (
        "logs/run_2026-03-15T07-19-02-118Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-15T07-19-02-118Z.jsonl"),
    ),
    (
        "logs/run_2026-03-15T07-28-44-905Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-15T07-28-44-905Z.jsonl"),
    ),
    (
        "logs/run_2026-03-15T07-41-30-077Z.jsonl",
        include_bytes!("../../assets/demo/logs/run_2026-03-15T07-41-30-077Z.jsonl"),
    ),
    ("state.json", include_bytes!("../../assets/demo/state.json")),
];

/// The session's event log and what goes with it: replays, forks and scrubbing need it.
const ROWS: (&str, &str) = (
    include_str!("../../assets/demo/events.sql"),
    include_str!("../../assets/demo/flow.sql"),
);
/// Its name.
const NAME: &str = "demo";

/// What answers follow-up questions offline, under the name that screens show; no part of the session.
const SCRIPT: (&str, &[u8]) = ("demo.yaml", include_bytes!("../../assets/demo/model.yaml"));

/// The demo, unpacked until this is dropped.
pub(super) struct Demo {
    /// The session's directory.
    pub(super) session: PathBuf,
    /// The script beside it.
    pub(super) script: PathBuf,
    _temporary: PrivateDir,
}

/// Unpacks the demo session, its log and its script: as text it has the same figures as on the screens.
pub(super) fn unpack() -> io::Result<Demo> {
    let temporary = PrivateDir::new("demo")?;
    let session = temporary.path().join(NAME);
    for (path, bytes) in FILES {
        let place = session.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(place, bytes)?;
    }
    let rows = StoreRows {
        events: ROWS.0.to_owned(),
        flow: ROWS.1.to_owned(),
    };
    rows.write(&session).map_err(io::Error::other)?;
    let script = temporary.path().join(SCRIPT.0);
    fs::write(&script, SCRIPT.1)?;
    Ok(Demo {
        session,
        script,
        _temporary: temporary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use std::ffi::OsString;

    #[test]
    fn it_comes_with_its_log() {
        let demo = unpack().unwrap();
        let store = Store::open_read_only(&demo.session).unwrap();
        let sessions = store.events.sessions().unwrap();
        assert!(sessions.len() == 1 && sessions[0].in_root && sessions[0].events > 100);
    }

    #[test]
    fn every_file_of_the_demo_is_there() {
        let demo = unpack().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo");
        for part in ["", "logs"] {
            let names = |dir: PathBuf| {
                let mut names: Vec<_> = fs::read_dir(dir)
                    .unwrap()
                    .map(|entry| entry.unwrap().file_name())
                    .collect();
                let other = |name: &OsString| {
                    let name = name.to_string_lossy();
                    name == "model.yaml" || name.ends_with(".sql") || name.contains(".db")
                };
                names.retain(|name| !other(name));
                names.sort();
                names
            };
            assert_eq!(names(demo.session.join(part)), names(PathBuf::from(source).join(part)));
        }
    }
}
