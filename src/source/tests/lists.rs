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

#[test]
fn totals_are_those_of_the_session() {
    let watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1)), ("b.jsonl", &line("lost", 1))]);
    let totals = session_totals(watched.dir.path(), &options(), &Stop::default()).unwrap();
    assert_eq!(
        (
            totals.queries,
            totals.completed.usage.total,
            totals.lost_runs,
            totals.lost.usage.total
        ),
        (1, 10, 1, 10)
    );
    assert_eq!(
        session_totals(&watched.path("nowhere"), &options(), &Stop::default()),
        None
    );
}
