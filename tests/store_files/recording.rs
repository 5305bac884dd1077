//! What is recorded: secrets are not, large results only in part; and a session is carried over whole.

use std::borrow::Cow;
use std::fs;

use fast_rlm::store::payload::{CellOutcome, LeafCall, StepEnded, TurnStarted};
use fast_rlm::store::{
    At, Cassette, Digest, Kind, Namespace, NewEvent, NewSession, Parked, Redact, Select, Served, SessionWriter,
    Storage, Store, StoreError, copy_session,
};
use serde_json::json;

use crate::{filled, note};

fn hide(secret: &'static str) -> Redact {
    Redact::with(move |text| match text.contains(secret) {
        true => Cow::Owned(text.replace(secret, "[secret]")),
        false => Cow::Borrowed(text),
    })
}

#[test]
fn a_registered_secret_is_in_no_file_and_its_cell_is_still_served() {
    const SECRET: &str = "hunter2hunter2";
    let dir = tempfile::tempdir().unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id)
        .unwrap()
        .redacting(hide(SECRET));
    let cell = LeafCall {
        call: "login".into(),
        run_id: "r".into(),
        input: Some(writer.input_digest(&format!("password {SECRET}"))),
        outcome: CellOutcome::Returned(json!({ SECRET: [format!("\"{SECRET}\"\n")] })),
        ..LeafCall::default()
    };
    let query = TurnStarted {
        query: json!(format!("use {SECRET}")),
        ..TurnStarted::default()
    };
    let events = vec![
        NewEvent::of_turn(0, 1, query.into()),
        NewEvent::of_step(0, 0, 1, cell.into()),
    ];
    let recorded = writer.append(events).unwrap();
    let question = Parked {
        turn: 0,
        step: 0,
        number: 0,
        question: format!("Is {SECRET} right?"),
        options: vec![SECRET.into()],
        schema: Some(json!({ "const": SECRET })),
        time: 1,
    };
    writer.park(&question, vec![]).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(
            !bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()),
            "{}",
            path.display()
        );
    }
    // Served to who knows the secret, and to who only sees what was recorded.
    for input in [
        writer.input_digest(&format!("password {SECRET}")),
        writer.input_digest("password [secret]"),
    ] {
        let Served::Cell(cell) = Cassette::of_run(&recorded, "r").serve("login", input) else {
            panic!("not served")
        };
        assert!(cell.redacted);
        assert_eq!(
            cell.outcome,
            CellOutcome::Returned(json!({"[secret]": ["\"[secret]\"\n"]}))
        );
    }
}

#[test]
fn a_result_over_the_cap_keeps_only_its_beginning_and_is_never_served() {
    let store = Storage::memory().open().unwrap();
    let id = store.events.create_session(&NewSession::minted(1)).unwrap().id;
    let writer = SessionWriter::take_over(&store, &id).unwrap().cell_cap(10_000);
    let cell = |number: u64, length| LeafCall {
        call: "f".into(),
        number,
        input: Some(Digest::of(&number.to_le_bytes())),
        outcome: CellOutcome::Returned(json!("é".repeat(length))),
        ..LeafCall::default()
    };
    let cells = [cell(0, 4_999), cell(1, 5_000)];
    let recorded = writer
        .append(
            cells
                .map(|c| NewEvent::of_step(0, 0, 1, c.clone().into()).numbered(c.number))
                .to_vec(),
        )
        .unwrap();
    let mut cassette = Cassette::of_run(&recorded, "");
    assert!(matches!(
        cassette.serve("f", Digest::of(&0_u64.to_le_bytes())),
        Served::Cell(_)
    ));
    let Served::Truncated { bytes, cap } = cassette.serve("f", Digest::of(&1_u64.to_le_bytes())) else {
        panic!("not truncated");
    };
    assert_eq!((bytes, cap), (10_002, 10_000));
    let payloads = store
        .events
        .read_all(&id, &Select::all().only(&[Kind::LeafCall]))
        .unwrap()
        .events;
    assert!(format!("{:?}", payloads[1].fact).len() < 10_000);
}

#[test]
fn a_session_is_taken_over_although_one_file_was_put_back_from_an_older_copy() {
    let dir = filled();
    let old = fs::read(dir.path().join("events.db")).unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    for _ in 0..3 {
        SessionWriter::take_over(&store, "s_1").unwrap();
    }
    drop(store);
    fs::write(dir.path().join("events.db"), old).unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let writer = SessionWriter::take_over(&store, "s_1").unwrap();
    let namespace = Namespace {
        at: At::after(0, 1),
        bindings: vec![],
    };
    writer.end_step(&namespace, &[], vec![note(3)]).unwrap();
}

#[test]
fn a_session_is_carried_to_another_store_whole_or_not_at_all() {
    let dir = filled();
    let from = Storage::dir(dir.path()).open().unwrap();
    let writer = SessionWriter::take_over(&from, "s_1").unwrap();
    writer
        .append(vec![NewEvent::of_turn(0, 77, TurnStarted::default().into())])
        .unwrap();
    let to = Storage::memory().open().unwrap();
    let (copied, skipped) = copy_session(&from, "s_1", &to, Some("copy"), 9).unwrap();
    assert_eq!((copied.id.as_str(), copied.events, skipped), ("copy", 3, 0));
    let facts = |store: &Store, id: &str| -> Vec<_> {
        let events = store.events.read_all(id, &Select::all()).unwrap().events;
        events
            .into_iter()
            .map(|event| (event.id, event.time, event.turn, event.step, event.fact))
            .collect()
    };
    assert_eq!(facts(&from, "s_1"), facts(&to, "copy"));
    let at = At::after(0, 0);
    assert_eq!(
        from.flow.namespace("s_1", at).unwrap(),
        to.flow.namespace("copy", at).unwrap()
    );
    assert_eq!(to.flow.value(&Digest::of(b"1")).unwrap().unwrap(), b"1");

    writer
        .append(vec![NewEvent::of_step(5, 0, 1, StepEnded::default().into())])
        .unwrap();
    let refused = copy_session(&from, "s_1", &to, Some("bad"), 9).unwrap_err();
    assert!(matches!(refused, StoreError::BadTurn { turn: 5, .. }), "{refused:?}");
    assert!(matches!(
        to.events.session("bad"),
        Err(StoreError::UnknownSession { .. })
    ));
}
