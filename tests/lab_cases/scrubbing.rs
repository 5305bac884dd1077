//! What scrubbing through a recorded run has to show: the names before and after each step.

use crate::desk::client;
use fast_rlm::model::{NamesAfter, Unkept};
use fast_rlm::source::{OpenOptions, Opened, Source, open};
use fast_rlm::{Client, Session};
use std::path::Path;

fn source(dir: &Path, session: &Session) -> Source {
    match open(&dir.join(session.id()), &OpenOptions::default()).unwrap() {
        Opened::Session { source, .. } => source,
        Opened::Picker { .. } => panic!("sessions"),
    }
}

fn run_ids(client: &Client, session: &Session) -> Vec<String> {
    use fast_rlm::observe::Fact;
    let events = crate::desk::events_of(client, session);
    let ids = events.into_iter().filter_map(|event| match event.fact {
        Fact::TurnStarted(started) => Some(started.run_id),
        _ => None,
    });
    ids.collect()
}

/// Each point's names, or why there are none.
fn shown(points: &[NamesAfter]) -> Vec<Result<String, Unkept>> {
    let line = |point: &NamesAfter| {
        let names = point.names.as_ref().map_err(|why| *why)?;
        Ok(names
            .iter()
            .map(|name| name.name.as_str())
            .collect::<Vec<_>>()
            .join(" "))
    };
    points.iter().map(line).collect()
}

#[tokio::test]
async fn the_first_run_begins_with_nothing_and_the_next_with_what_the_one_before_ended_with() {
    let dir = tempfile::tempdir().unwrap();
    let steps = ["a = 1", "b = 2\nFINAL(b)", "c = 3", "del a\nFINAL(c)"];
    let client = client(dir.path(), &steps);
    let session = client.create_session().unwrap();
    session.send("one").await.unwrap();
    session.send("two").await.unwrap();
    let (source, runs) = (source(dir.path(), &session), run_ids(&client, &session));
    let points = |run: usize| source.names_after(&runs[run]).unwrap();
    let ok = |names: &str| Ok(names.to_owned());
    assert_eq!(shown(&points(0)), [ok(""), ok("a"), ok("a b")]);
    assert_eq!(shown(&points(1)), [ok("a b"), ok("a b c"), ok("b c")]);
}

#[tokio::test]
async fn only_a_thinned_run_says_that_it_was_thinned() {
    let dir = tempfile::tempdir().unwrap();
    let turns = 12;
    let steps: Vec<String> = (0..turns)
        .flat_map(|turn| [format!("x{turn:02} = 1"), "FINAL(1)".to_owned()])
        .collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let client = client(dir.path(), &steps);
    let session = client.create_session().unwrap();
    for _ in 0..turns {
        session.send("go").await.unwrap();
    }
    let (source, runs) = (source(dir.path(), &session), run_ids(&client, &session));
    let old = source.names_after(&runs[1]).unwrap();
    assert_eq!(
        shown(&old),
        [Ok("x00".to_owned()), Err(Unkept::Thinned), Ok("x00 x01".to_owned())]
    );
    let new = source.names_after(&runs[turns - 1]).unwrap();
    assert!(new.iter().all(|point| point.names.is_ok()), "{new:?}");
}
