//! Power cuts, modelled: writes that were not synced are lost from the end, or come back as garbage.

use std::fs;
use std::path::Path;

use fast_rlm::store::payload::{StepEnded, Swept};
use fast_rlm::store::{
    Action, Digest, EventStore, FileState, NewEvent, NewSession, Select, SessionWriter, SqliteEvents, Storage,
    reconcile, recorded,
};
use rusqlite::Connection;

const STEPS: u32 = 6;

fn state(step: u32) -> Digest {
    Digest::of(&step.to_le_bytes())
}

/// Leaves the files of a writer that was cut off after [`STEPS`] steps, and returns the length of its `-wal`.
fn cut_off(left: &Path) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id).unwrap();
    for step in 0..STEPS {
        let swept = Swept {
            imports: vec![],
            state: Some(state(step)),
            dropped: vec![],
        };
        let ended = StepEnded {
            output: format!("{step}").repeat(3000),
            ..StepEnded::default()
        };
        let events = [
            NewEvent::of_step(0, step, 1, ended.into()),
            NewEvent::of_step(0, step, 1, swept.into()),
        ];
        writer.append(events.to_vec()).unwrap();
    }
    for name in ["events.db", "events.db-wal"] {
        fs::copy(dir.path().join(name), left.join(name)).unwrap();
    }
    fs::metadata(left.join("events.db-wal")).unwrap().len()
}

/// What of the six steps is there: always whole ones, from the first on.
fn whole_steps(dir: &Path) -> u32 {
    let path = dir.join("events.db");
    let store = SqliteEvents::open(&path).unwrap();
    let verdict: String = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let Ok(page) = store.read_all("s_1", &Select::all()) else {
        return 0;
    };
    assert_eq!(page.skipped, []);
    let ids: Vec<&str> = page.events.iter().map(|event| event.id.as_str()).collect();
    let steps = u32::try_from(ids.len() / 2).unwrap();
    let expected = (0..steps).flat_map(|step| [format!("t0.s{step}.step_ended"), format!("t0.s{step}.swept")]);
    assert_eq!(ids, expected.collect::<Vec<_>>());

    // state.json may have reached the disk although the log's end did not: then it wins.
    let log = recorded(&page.events);
    let action = |step| reconcile(&log, FileState::Whole(state(step)));
    assert!((steps..STEPS).all(|step| action(step) == Action::Adopt));
    if let Some(last) = steps.checked_sub(1) {
        assert_eq!(action(last), Action::InStep);
    }
    steps
}

#[test]
fn a_log_that_lost_its_end_is_a_shorter_log() {
    let left = tempfile::tempdir().unwrap();
    let length = cut_off(left.path());
    let mut seen = std::collections::BTreeSet::new();
    for part in (0..=length).step_by(2777).chain([length]) {
        for garbage in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            fs::copy(left.path().join("events.db"), dir.path().join("events.db")).unwrap();
            let mut log = fs::read(left.path().join("events.db-wal")).unwrap();
            let kept = usize::try_from(part).unwrap();
            if garbage {
                log[kept..].fill(0xa5);
            } else {
                log.truncate(kept);
            }
            fs::write(dir.path().join("events.db-wal"), log).unwrap();
            seen.insert(whole_steps(dir.path()));
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), (0..=STEPS).collect::<Vec<_>>());
}
