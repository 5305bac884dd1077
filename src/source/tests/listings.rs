//! A directory of sessions that is followed.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// A directory that is followed, and what is told of it.
struct Followed {
    dir: tempfile::TempDir,
    told: Receiver<Listed>,
    stop: Stop,
}

impl Followed {
    fn new(sessions: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        sessions.iter().for_each(|name| put(dir.path(), name, STATE));
        let (tell, told) = channel();
        let (stop, mut listing) = (Stop::default(), Listing::of(dir.path().to_owned()));
        let stopped = stop.clone();
        std::thread::spawn(move || {
            while let Some(listed) = listing.next(&stopped) {
                if tell.send(listed).is_err() {
                    return;
                }
            }
        });
        Self { dir, told, stop }
    }

    fn next(&self) -> Listed {
        self.told.recv_timeout(Duration::from_secs(20)).unwrap()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn put(dir: &Path, name: &str, state: &str) {
    fs::create_dir_all(dir.join(name)).unwrap();
    fs::write(dir.join(name).join("state.new"), state).unwrap();
    fs::rename(dir.join(name).join("state.new"), dir.join(name).join("state.json")).unwrap();
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn what_comes_changes_and_goes_is_told_and_nothing_else() {
    let followed = Followed::new(&["a", "b"]);
    let first = followed.next();
    assert!(first.all && first.rows.len() == 2, "{first:?}");
    put(followed.dir.path(), "c", STATE);
    assert_eq!(names(&followed.next()), ["c"]);
    put(followed.dir.path(), "a", r#"{"queries":[],"pending_query":"more"}"#);
    let changed = followed.next();
    assert_eq!(names(&changed), ["a"]);
    assert_eq!(changed.rows[0].pending.as_deref(), Some("more"));
    // While it runs, its transcripts say when it was last active.
    let (logs, before) = (followed.dir.path().join("a/logs"), changed.rows[0].last_activity);
    fs::create_dir(&logs).unwrap();
    let log = fs::File::create(logs.join("r.jsonl")).unwrap();
    log.set_modified(std::time::SystemTime::now() + Duration::from_secs(60))
        .unwrap();
    let active = followed.next();
    assert!(active.rows[0].last_activity > before, "{active:?}");
    fs::remove_dir_all(followed.dir.path().join("b")).unwrap();
    let gone = followed.next();
    assert_eq!((gone.rows.len(), gone.gone), (0, vec![followed.dir.path().join("b")]));
    assert!(
        followed.told.recv_timeout(Duration::from_millis(1_500)).is_err(),
        "nothing changed"
    );
}

#[test]
fn a_session_whose_files_are_as_before_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    (0..50).for_each(|at| put(dir.path(), &at.to_string(), STATE));
    let mut listing = Listing::of(dir.path().to_owned());
    assert_eq!(listing.next(&Stop::default()).unwrap().rows.len(), 50);
    // A file that is read when it looks as before would be told as damaged.
    let state = dir.path().join("7/state.json");
    let modified = fs::metadata(&state).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&state).unwrap();
    std::io::Write::write_all(&mut &file, &vec![b'['; STATE.len()]).unwrap();
    file.set_modified(modified).unwrap();
    put(dir.path(), "new", STATE);
    assert_eq!(names(&listing.next(&Stop::default()).unwrap()), ["new"]);
    let stop = Stop::default();
    stop.stop();
    assert_eq!(listing.next(&stop), None);
}
