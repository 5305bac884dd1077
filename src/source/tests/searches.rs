use super::*;

fn search(watched: &Watched, text: &str) -> Vec<Hit> {
    let pattern = SearchPattern::new(text).unwrap();
    let mut hits = Vec::new();
    watched
        .source
        .search(&pattern, &Stop::default(), &mut |found| hits.extend(found));
    hits.sort_by_key(|hit| (hit.at.log, hit.at.offset, hit.field));
    hits
}

#[test]
fn hits_tell_their_step_their_field_and_what_stands_around() {
    let odd = r#"{"run_id":"b","event_type":"code_generated","step":9,"code":"say(\"\u00c9t\u00e9\")","reasoning":"été, été"}"#;
    let text = format!("{}{odd}\nnull\n{}", line("r", 1), line("r", 2));
    let watched = Watched::new(STATE, &[("a.jsonl", &text)]);
    let hits = search(&watched, "agi");
    assert_eq!(hits.len(), 2);
    assert_eq!(
        (hits[0].run_id.as_str(), hits[0].step, hits[0].field),
        ("r", Some(1), Field::Output)
    );
    assert_eq!(
        (hits[0].snippet.as_str(), hits[0].matched.clone(), hits[0].offset),
        ("AGI", 0..3, 8)
    );
    assert_eq!(
        hits[0].at.offset,
        watched.session.queries[0].run.agents[0].steps[0].body.unwrap().offset
    );
    let hits = search(&watched, "été");
    assert_eq!(
        hits.iter().map(|hit| (hit.field, hit.count)).collect::<Vec<_>>(),
        [(Field::Code, 1), (Field::Reasoning, 2)]
    );
    assert_eq!(search(&watched, "Été").len(), 1, "a capital asks for case");
    assert_eq!(
        search(&watched, "\"Été\"").len(),
        1,
        "quotes are escaped in the file, not in the text"
    );
    assert_eq!(search(&watched, "event_type"), [], "only texts are searched");
}

#[test]
fn words_are_found_in_what_programs_coloured_as_it_is_shown() {
    let coloured = line("r", 1).replace("AGI", "A\\u001b[1mG\\u001B[0;31mI");
    let watched = Watched::new(STATE, &[("a.jsonl", &coloured)]);
    for (text, found) in [("AGI", 1), ("gi", 1), ("[1mG", 0)] {
        let hits = search(&watched, text);
        assert_eq!(hits.len(), found, "{text}");
        assert!(hits.iter().all(|hit| !hit.snippet.contains('\u{1b}')), "{hits:?}");
    }
}

#[test]
fn lines_longer_than_any_chunk_are_searched() {
    let text = line("r", 1).replace("Found", &"y ".repeat(6 << 20)) + &line("r", 2);
    let watched = Watched::new(STATE, &[("a.jsonl", &text)]);
    assert_eq!(
        search(&watched, "AGI").iter().map(|hit| hit.step).collect::<Vec<_>>(),
        [Some(1), Some(2)]
    );
}
