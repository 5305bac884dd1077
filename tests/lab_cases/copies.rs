//! Secrets that are nowhere, sessions carried over.

use crate::desk::{Counter, builder, client, reader, scripted, tamper};
use fast_rlm::store::payload::StepEnded;
use fast_rlm::store::{NewEvent, Origin, Select, Storage, Store, StoreError, copy_session};
use fast_rlm::{Config, NoSink, PricingTable};
use std::path::Path;

fn found(dir: &Path, secret: &str) -> Option<std::path::PathBuf> {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if holds(&std::fs::read(&path).unwrap(), secret) {
                return Some(path);
            }
        }
    }
    None
}

/// What the flow store keeps, as it is before compression.
fn values(dir: &Path) -> Vec<Vec<u8>> {
    let database = rusqlite::Connection::open(dir.join("flow.db")).unwrap();
    let mut rows = database.prepare("SELECT packed, body FROM value").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get::<_, bool>(0)?, row.get::<_, Vec<u8>>(1)?)));
    let unpacked = rows.unwrap().map(|row| match row.unwrap() {
        (true, body) => zstd::decode_all(&body[..]).unwrap(),
        (false, body) => body,
    });
    unpacked.collect()
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

#[tokio::test]
async fn case_42_a_secret_is_in_no_file_and_the_replay_is_faithful() {
    let dir = tempfile::tempdir().unwrap();
    let (word, number, quoted) = ("hunter2/hunter2?", "73549812", "line\\\"two\\\"");
    let plain = "line\"two\"";
    let config = || {
        Config::new("m")
            .env("TOKEN", word)
            .env("PIN_CODE", number)
            .secret("QUOTED", plain)
    };
    let steps = [
        "import os\nt = os.environ['TOKEN']\nx = await llm_query('key ' + t + ' and ' + os.environ['PIN_CODE'])\nprint(t, x)",
        "n = int(os.environ['PIN_CODE'])\ny = await llm_query({'pin': n, 'quoted': 'line' + chr(34) + 'two' + chr(34)})\nprint(n, y)",
        // Large enough to be compressed where values are kept; and a neighbour that is, so that there is such a value.
        "big = t + 'x' * 200_000\nclean = 'y' * 200_000\nz = tool(t)\nw = tool({'deep': [n, {t: big[:40]}]})",
        "import base64, urllib.parse\nprint(base64.b64encode(t.encode()), urllib.parse.quote(t, safe=''))\nraise ValueError(t)",
        "def f():\n    return 'the ' + t\nFINAL({'done': [t, n]})",
    ];
    let client = builder(dir.path())
        .config(config())
        .tool(Counter::default())
        .build(scripted(&steps))
        .unwrap();
    client.run("go with hunter2/hunter2?").await.unwrap();
    assert!(
        dir.path().join("events.db-wal").metadata().unwrap().len() > 0,
        "what is not in the main file yet is looked at, too"
    );
    let encoded = ["aHVudGVyMi9odW50ZXIyPw", "hunter2%2Fhunter2%3F"];
    let forms = [word, number, quoted, plain].into_iter().chain(encoded);
    let kept = values(dir.path());
    assert!(kept.iter().any(|value| value.len() > 200_000), "a compressed value");
    for secret in forms {
        assert_eq!(found(dir.path(), secret), None, "{secret}");
        assert!(!kept.iter().any(|value| holds(value, secret)), "{secret}");
    }
    let session = client.session().unwrap();
    let dropped = session.dropped().unwrap();
    for name in ["t", "n", "big"] {
        assert!(dropped[name].contains("secret"), "{name}: {dropped:?}");
    }
    let report = session.replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful() && report.sub_agents.replayed == 2, "{report:#?}");
    // Who does not know the secrets has what stands for them, and comes to the same calls.
    let stranger = reader(dir.path()).open_session(&session.id()).unwrap();
    let report = stranger.replay(Some(0), &mut NoSink).await.unwrap();
    let consumed = report.plans[0].steps.first().map(|step| step.cells);
    assert_eq!(consumed, Some(1), "{report:#?}");
}

#[tokio::test]
async fn case_15_a_session_is_carried_to_another_store() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = client(one.path(), &["x = await llm_query('a')", "FINAL(x)", "FINAL(x + '!')"]);
    first.run("go").await.unwrap();
    first.run("on").await.unwrap();
    // The other store has turns of its own, under the same numbers.
    client(two.path(), &["FINAL(0)"])
        .create_named("theirs")
        .unwrap()
        .send("theirs")
        .await
        .unwrap();
    let (session, other) = (first.session().unwrap(), Storage::dir(two.path()).open().unwrap());
    let (row, skipped) = copy_session(first.store(), &session.id(), &other, Some("ours"), 7).unwrap();
    assert_eq!((row.id.as_str(), row.origin, skipped), ("ours", Origin::Imported, 0));
    let reader = reader(two.path());
    let copied = reader.open_session("ours").unwrap();
    assert_eq!(copied.turns().unwrap(), session.turns().unwrap());
    assert_eq!(copied.history().unwrap(), session.history().unwrap());
    assert_eq!(copied.run_trace().unwrap(), session.run_trace().unwrap());
    assert_eq!(copied.efficiency().unwrap(), session.efficiency().unwrap());
    let table = PricingTable::builtin();
    assert_eq!(copied.cost(&table).unwrap(), session.cost(&table).unwrap());
    let seen = |store: &Store, id: &str| -> Vec<_> {
        let events = store.events.read_all(id, &Select::all()).unwrap().events;
        events
            .into_iter()
            .map(|event| (event.time, event.turn, event.step, event.id))
            .collect()
    };
    assert_eq!(
        seen(&other, "ours"),
        seen(first.store(), &session.id()),
        "times, turns and ids"
    );
    assert!(copied.replay(None, &mut NoSink).await.unwrap().faithful());
    assert_eq!(
        reader.open_session("theirs").unwrap().turns().unwrap()[0].query,
        "theirs"
    );

    tamper(first.store(), &session.id(), |writer| {
        let stray = NewEvent::of_step(9, 0, 1, StepEnded::default().into());
        drop(writer.append(vec![stray]).unwrap());
    });
    let sessions = other.events.sessions().unwrap();
    let refused = copy_session(first.store(), &session.id(), &other, Some("again"), 7).unwrap_err();
    assert!(matches!(refused, StoreError::BadTurn { turn: 9, .. }), "{refused}");
    assert_eq!(other.events.sessions().unwrap(), sessions);
    assert!(matches!(
        other.events.session("again"),
        Err(StoreError::UnknownSession { .. })
    ));
    assert_eq!(other.flow.points("again").unwrap(), []);
}
