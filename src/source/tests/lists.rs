use super::*;

#[test]
fn sessions_are_listed_with_what_a_list_shows() {
    let dir = tempfile::tempdir().unwrap();
    for (name, state) in [
        ("good", STATE),
        (
            "pending",
            r#"{"queries":[{"query":"a"},{"query":"b"}],"pending_query":"c","code_log":[{"#,
        ),
        ("bad", "["),
    ] {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("state.json"), state).unwrap();
    }
    fs::create_dir(dir.path().join("no session")).unwrap();
    let mut all = list_sessions(dir.path(), &Stop::default());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let shown: Vec<_> = all
        .iter()
        .map(|one| (one.name.as_str(), one.queries, one.pending.as_deref()))
        .collect();
    assert_eq!(shown, [("bad", 0, None), ("good", 1, None), ("pending", 0, None)]);
    assert!(matches!(&all[2].health, Health::Damaged(why) if why.contains("cut off")));
    assert!(matches!(&all[0].health, Health::Damaged(_)) && all[1].health == Health::Good);
    let Opened::Picker { sessions, .. } = open(dir.path(), &options()).unwrap() else {
        panic!("a picker")
    };
    assert_eq!(sessions.len(), 3);
}

#[cfg(unix)]
#[test]
fn a_session_is_a_directory_whatever_its_files_are_linked_to() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    for name in ["copy", "original"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("original/state.json"), STATE).unwrap();
    fs::hard_link(at("original/state.json"), at("copy/state.json")).unwrap();
    symlink(at("original"), at("same")).unwrap();
    let mut all = list_sessions(dir.path(), &Stop::default());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["copy", "original"]);
}

#[cfg(unix)]
#[test]
fn a_state_that_is_no_file_has_its_row_and_its_cause() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let state = |name: &str| {
        fs::create_dir(dir.path().join(name)).unwrap();
        dir.path().join(name).join("state.json")
    };
    fs::create_dir(state("directory")).unwrap();
    symlink("gone", state("dangling")).unwrap();
    symlink("state.json", state("loop")).unwrap();
    symlink("/dev/zero", state("device")).unwrap();
    let fifo = state("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let all = list_sessions(dir.path(), &Stop::default());
    for (name, cause) in [
        ("directory", "it is a directory, not a regular file"),
        ("dangling", "a dangling link: it leads to gone"),
        ("loop", "symbolic link"),
        ("device", "it is a device, pipe or socket"),
        ("fifo", "it is a device, pipe or socket"),
    ] {
        let row = all.iter().find(|one| one.name == name).unwrap();
        let Health::Damaged(why) = &row.health else {
            panic!("{name}: {:?}", row.health);
        };
        assert!(why.contains(cause), "{name}: {why}");
        let opened = open(&row.path, &options()).unwrap_err().to_string();
        assert_eq!(&opened, why, "{name}");
    }
}

#[test]
fn totals_are_those_of_the_session() {
    let watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1)), ("b.jsonl", &line("lost", 1))]);
    let totals = session_totals(watched.dir.path(), &options(), &Stop::default())
        .unwrap()
        .unwrap();
    assert_eq!(
        (
            totals.queries,
            totals.completed.usage.total,
            totals.lost_runs,
            totals.lost.usage.total
        ),
        (1, 10, 1, 10)
    );
    let nowhere = session_totals(&watched.path("nowhere"), &options(), &Stop::default());
    assert!(nowhere.unwrap_err().to_string().contains("nowhere"));
}

#[test]
fn a_query_that_failed_is_known_by_its_text() {
    let state = r#"{"version": 2, "queries": [], "pending_query": null, "interrupted":
        [{"query": "Why?", "log_file": "logs/a.jsonl", "run_id": "r", "outcome": "error"}]}"#;
    let watched = Watched::new(state, &[("a.jsonl", &line("r", 1))]);
    let totals = session_totals(watched.dir.path(), &options(), &Stop::default())
        .unwrap()
        .unwrap();
    assert_eq!(
        (totals.last_end, totals.unanswered.as_deref()),
        (Some(BadEnd::Failed), Some("Why?"))
    );
    let answered = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    let totals = session_totals(answered.dir.path(), &options(), &Stop::default())
        .unwrap()
        .unwrap();
    assert_eq!((totals.last_end, totals.unanswered), (None, None));
}
