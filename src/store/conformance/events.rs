//! The log: gapless streams, repeated appends, fencing, reading in pages.

use super::sample::{every_kind, note, step_note};
use super::{Broken, Check, equal, fails, fenced, holds};
use crate::store::payload::{Cleared, Final};
use crate::store::{EventStore, Kind, NewEvent, NewSession, Select, StoreError, Token};

pub(super) const CASES: &[Check<dyn EventStore>] = &[
    ("streams are gapless and the order is total", gapless),
    ("every kind comes back as it was given", round_trip),
    ("a repeated append changes nothing and returns what is stored", repeated),
    ("an id of another kind refuses the whole batch", clash),
    ("a stale or invented token writes nothing", stale_token),
    (
        "what nests too deep to be read back is refused, with its batch",
        too_deep,
    ),
    ("unknown sessions are refused by everything", unknown_session),
    ("pages, turns and kinds select what they say", selection),
    ("a scan sees what reading sees, until it has seen enough", scanned),
    ("the last of some kinds is found, however far back", last_of),
    ("an empty append changes nothing", empty_append),
];

fn session(store: &dyn EventStore) -> Result<(String, Token), Broken> {
    let id = store.create_session(&NewSession::minted(1))?.id;
    let token = store.raise_token(&id)?;
    Ok((id, token))
}

fn seqs(store: &dyn EventStore, id: &str) -> Result<Vec<u64>, Broken> {
    Ok(store
        .read_all(id, &Select::all())?
        .events
        .iter()
        .map(|event| event.stream_seq)
        .collect())
}

fn gapless(store: &dyn EventStore) -> Result<(), Broken> {
    let (a, token_a) = session(store)?;
    let (b, token_b) = session(store)?;
    let mut order = vec![store.last_seq()?];
    for number in 0..5 {
        for (id, token) in [(&a, token_a), (&b, token_b)] {
            let stored = store.append(id, token, &[note(number), note(100 + number)])?;
            order.extend(stored.iter().map(|event| event.global_seq));
        }
    }
    holds("global_seq rises with each append", order.is_sorted_by(|a, b| a < b))?;
    equal("last_seq", Some(store.last_seq()?), order.last().copied())?;
    for id in [&a, &b] {
        equal("stream_seq", seqs(store, id)?, (0..10).collect())?;
        equal("count in the registry", store.session(id)?.events, 10)?;
    }
    Ok(())
}

fn round_trip(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    let given = every_kind();
    equal("kinds in the sample", given.len(), Kind::ALL.len())?;
    let stored = store.append(&id, token, &given)?;
    let page = store.read_all(&id, &Select::all())?;
    equal("what append returned is what is read", &page.events, &stored)?;
    equal("skipped", page.skipped.len(), 0)?;
    for (event, given) in page.events.into_iter().zip(given) {
        let back = NewEvent {
            id: event.id,
            time: event.time,
            turn: event.turn,
            step: event.step,
            fact: event.fact,
        };
        equal("event", back, given)?;
    }
    Ok(())
}

fn repeated(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    let first = store.append(&id, token, &[note(1), note(2)])?;
    let before = store.last_seq()?;
    equal(
        "returned again",
        store.append(&id, token, &[note(1), note(2)])?,
        first.clone(),
    )?;
    equal("last_seq", store.last_seq()?, before)?;
    let mixed = store.append(&id, token, &[note(2), note(3), note(3)])?;
    equal(
        "in a mixed batch",
        mixed.iter().map(|event| event.stream_seq).collect(),
        vec![1, 2, 2],
    )?;
    let other = NewEvent { time: 9, ..note(1) };
    equal(
        "the stored one wins",
        store.append(&id, token, &[other])?.first(),
        first.first(),
    )
}

fn clash(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    store.append(&id, token, &[note(1)])?;
    let other = NewEvent {
        fact: Cleared::default().into(),
        ..note(1)
    };
    let is_clash = |error: &StoreError| matches!(error, StoreError::IdClash { .. });
    fails("clash", store.append(&id, token, &[note(2), other]), is_clash)?;
    equal("events", seqs(store, &id)?, vec![0])
}

fn stale_token(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, old) = session(store)?;
    store.append(&id, old, &[note(1)])?;
    let new = store.raise_token(&id)?;
    holds("a raised token is higher", new > old)?;
    fails("old", store.append(&id, old, &[note(2)]), fenced)?;
    fails("old, repeated", store.append(&id, old, &[note(1)]), fenced)?;
    fails("invented", store.append(&id, Token(new.0 + 1), &[note(2)]), fenced)?;
    fails("old, removing", store.remove_session(&id, old), fenced)?;
    store.append(&id, new, &[note(2)])?;
    equal("events", seqs(store, &id)?, vec![0, 1])?;
    equal("token in the registry", store.session(&id)?.token, new)?;
    let far = store.raise_token_above(&id, Token(100))?;
    holds("a token is raised above what was asked", far > Token(100))?;
    holds("and above its own", store.raise_token_above(&id, Token(1))? > far)
}

fn too_deep(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    let value = (0..crate::store::MAX_NESTING).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
    let deep = NewEvent::of_turn(0, 1, Final { value }.into());
    let is_deep = |error: &StoreError| matches!(error, StoreError::TooDeep { .. });
    fails("deep", store.append(&id, token, &[note(1), deep]), is_deep)?;
    equal("events", seqs(store, &id)?, vec![])
}

fn unknown_session(store: &dyn EventStore) -> Result<(), Broken> {
    let unknown = |error: &StoreError| matches!(error, StoreError::UnknownSession { .. });
    fails("append", store.append("nope", Token(0), &[note(1)]), unknown)?;
    fails("read", store.read("nope", &Select::all()), unknown)?;
    fails("raise", store.raise_token("nope"), unknown)?;
    fails("remove", store.remove_session("nope", Token(0)), unknown)?;
    equal("sessions", store.sessions()?.len(), 0)
}

fn selection(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    let cleared = NewEvent::of_session("cleared", 1, Cleared::default().into());
    let steps = (0..3).flat_map(|turn| (0..2).map(move |step| step_note(turn, step)));
    let events: Vec<NewEvent> = std::iter::once(cleared).chain(steps).collect();
    store.append(&id, token, &events)?;
    let picked = |select: Select| -> Result<Vec<u64>, Broken> {
        Ok(store
            .read_all(&id, &select)?
            .events
            .iter()
            .map(|event| event.stream_seq)
            .collect())
    };
    equal("one turn", picked(Select::turn(1))?, vec![3, 4])?;
    equal(
        "turns",
        picked(Select {
            turns: Some(1..=9),
            ..Select::all()
        })?,
        vec![3, 4, 5, 6],
    )?;
    equal(
        "kind",
        picked(Select::all().only(&[Kind::Cleared, Kind::Final]))?,
        vec![0],
    )?;
    equal("from", picked(Select::all().starting(5))?, vec![5, 6])?;
    equal(
        "before",
        picked(Select::all().starting(2).before(Some(5)))?,
        vec![2, 3, 4],
    )?;
    equal("beyond the end", picked(Select::all().starting(7))?, vec![])?;
    let page = store.read(
        &id,
        &Select {
            limit: 3,
            ..Select::all()
        },
    )?;
    equal("page", (page.events.len(), page.next), (3, Some(3)))?;
    let last = store.read(
        &id,
        &Select {
            limit: 4,
            ..Select::all()
        }
        .starting(3),
    )?;
    equal("last page", (last.events.len(), last.next), (4, None))?;
    equal(
        "all pages",
        picked(Select {
            limit: 2,
            ..Select::all()
        })?,
        (0..7).collect(),
    )
}

fn scanned(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    store.append(&id, token, &every_kind())?;
    for select in [
        Select::all(),
        Select::turn(3),
        Select {
            limit: 2,
            ..Select::all().only(&[Kind::LeafCall, Kind::Final, Kind::Custom])
        },
        Select::all().starting(3).before(Some(9)),
    ] {
        let read = store.read_all(&id, &select)?.events;
        let mut seen = Vec::new();
        store.scan(&id, &select, &mut |row| {
            seen.push((row.stream_seq, row.time, row.turn, row.step, row.fact()));
            true
        })?;
        let read = read
            .into_iter()
            .map(|e| (e.stream_seq, e.time, e.turn, e.step, Some(e.fact)));
        equal("rows", seen, read.collect())?;
    }
    let mut first = 0;
    store.scan(&id, &Select::all(), &mut |_| {
        first += 1;
        first < 2
    })?;
    equal("stopped after", first, 2)?;
    let unknown = |error: &StoreError| matches!(error, StoreError::UnknownSession { .. });
    fails(
        "unknown session",
        store.scan("nope", &Select::all(), &mut |_| true),
        unknown,
    )
}

fn last_of(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    equal("of an empty session", store.last_of(&id, &[])?, None)?;
    let given = every_kind();
    let far = store.append(&id, token, &given)?;
    let notes: Vec<NewEvent> = (0..1_000).map(note).collect();
    let near = store.append(&id, token, &notes)?;
    equal("of any kind", store.last_of(&id, &[])?.as_ref(), near.last())?;
    let custom = store.last_of(&id, &[Kind::Custom, Kind::Swept])?;
    equal("the later one of two kinds", custom.as_ref(), near.last())?;
    let swept = far.iter().rfind(|event| event.fact.kind() == Kind::Swept);
    equal("far back", store.last_of(&id, &[Kind::Swept])?.as_ref(), swept)?;
    let (other, _) = session(store)?;
    equal("of another session", store.last_of(&other, &[Kind::Swept])?, None)
}

fn empty_append(store: &dyn EventStore) -> Result<(), Broken> {
    let (id, token) = session(store)?;
    let before = store.session(&id)?;
    equal("stored", store.append(&id, token, &[])?.len(), 0)?;
    equal("row", store.session(&id)?, before)
}
