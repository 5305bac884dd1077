//! A transcript that grows while it is followed gives the session that reading it whole gives.

use proptest::prelude::*;

use super::*;

/// Lines of a root, a child, a stranger and nobody; whole, odd and damaged.
fn any_line() -> impl Strategy<Value = String> {
    let step = ("[rks]", 0u64..4).prop_map(|(run, step)| line(&run, step).trim_end().to_owned());
    let child = (1u64..3).prop_map(|step| {
        format!(r#"{{"run_id":"k","parent_run_id":"r","depth":1,"event_type":"execution_result","step":{step},"code":"é","output":"\ud83d"}}"#)
    });
    let other = prop::sample::select(vec![
        r#"{"run_id":"r","event_type":"final_result","result":{"a":[1]}}"#,
        r#"{"run_id":"k","parent_run_id":"r","event_type":"agent_end","outcome":"done"}"#,
        r#"{"run_id":"r","event_type":"a new thing"}"#,
        "null",
        r#"{"run_id":"r","event_type":"execution_res"#,
        "",
    ]);
    prop_oneof![4 => step, 2 => child, 2 => other.prop_map(str::to_owned)]
}

/// Everything that is shown of a session, with transcripts by their paths: their ids tell in which order they were met.
fn shown(watched: &Watched) -> (String, Vec<String>) {
    let session = &watched.session;
    let dir = watched.dir.path().display().to_string();
    let named = |debug: String| {
        let named = session.logs.iter().fold(debug, |debug, log| {
            debug.replace(&format!("LogId({})", log.id.0), &format!("LogId {:?}", log.path))
        });
        named.replace(&dir, "")
    };
    let mut problems: Vec<String> = session
        .problems
        .iter()
        .map(|problem| named(format!("{problem:?}")))
        .collect();
    problems.sort_unstable();
    let parts = (
        &session.queries,
        &session.memory,
        &session.completed,
        &session.lost,
        session.complete,
    );
    (named(format!("{parts:?}")), problems)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn growing_and_whole_reading_give_the_same(
        linked in prop::collection::vec(any_line(), 0..8),
        stray in prop::collection::vec(any_line(), 0..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ends in any::<bool>(),
    ) {
        let text = linked.join("\n") + if ends { "\n" } else { "" };
        let stray = stray.join("\n") + "\n";
        let whole = Watched::new(STATE, &[("a.jsonl", &text), ("0.jsonl", &stray)]);

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let mut grown = Watched::new(STATE, &[]);
        let (mut from, half) = (0, cuts.len() / 2);
        for (place, to) in cuts.into_iter().chain([text.len()]).enumerate() {
            // Writers flush bytes, not characters.
            let mut file = fs::File::options().append(true).create(true).open(grown.path("logs/a.jsonl")).unwrap();
            file.write_all(&text.as_bytes()[from..to]).unwrap();
            if place == half {
                fs::write(grown.path("logs/0.jsonl"), &stray).unwrap();
            }
            grown.refresh();
            from = to;
        }
        prop_assert_eq!(shown(&grown), shown(&whole));
    }
}
