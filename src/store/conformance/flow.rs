//! Values, namespaces, retention, collection, parked questions.

use serde_json::json;

use super::{Broken, Check, equal, fails, fenced, holds};
use crate::store::{
    At, Binding, BindingKind, Described, Digest, FULL_TURNS, FlowStore, Freed, Namespace, Parked, StoreError, Token,
};

pub(super) const CASES: &[Check<dyn FlowStore>] = &[
    ("each point has the names it was given", points),
    ("large and hostile values come back exactly", values),
    ("a value that is not there refuses the whole namespace", missing_value),
    ("recording a point again forgets it and what came after", again),
    ("older turns keep their end and their own start", retention),
    ("a branch keeps its values when its parent is gone", sharing),
    ("collection counts, then frees what nobody names", collection),
    ("questions wait in order until they are answered", parking),
    ("a stale token writes nothing", stale_token),
];

const T: Token = Token(1);

type Names<'a> = &'a [(&'a str, &'a str)];

fn bind(name: &str, value: &[u8]) -> Binding {
    Binding {
        name: name.to_owned(),
        kind: BindingKind::Value,
        digest: Some(Digest::of(value)),
        bytes: value.len() as u64,
        described: Described {
            type_name: "bytes".into(),
            preview: format!("{} bytes", value.len()),
            ..Described::default()
        },
    }
}

/// Records `names`, each bound to the text beside it.
fn put(store: &dyn FlowStore, session: &str, at: At, names: Names<'_>) -> Result<(), Broken> {
    let mut bindings: Vec<Binding> = names.iter().map(|(name, text)| bind(name, text.as_bytes())).collect();
    bindings.sort_by(|a, b| a.name.cmp(&b.name));
    let texts: Vec<&[u8]> = names.iter().map(|(_, text)| text.as_bytes()).collect();
    store.put_namespace(session, T, &Namespace { at, bindings }, &texts)?;
    Ok(())
}

/// The names at a point with their texts, as `a=1 b=2`.
fn show(store: &dyn FlowStore, session: &str, at: At) -> Result<Option<String>, Broken> {
    let Some(namespace) = store.namespace(session, at)? else {
        return Ok(None);
    };
    let mut shown = Vec::new();
    for binding in namespace.bindings {
        let value = binding
            .digest
            .map(|digest| store.value(&digest))
            .transpose()?
            .flatten()
            .unwrap_or_default();
        shown.push(format!("{}={}", binding.name, String::from_utf8_lossy(&value)));
    }
    Ok(Some(shown.join(" ")))
}

fn points(store: &dyn FlowStore) -> Result<(), Broken> {
    let history: [(At, Names<'_>, &str); 5] = [
        (At::start_of(0), &[], ""),
        (At::after(0, 0), &[("a", "1"), ("b", "2")], "a=1 b=2"),
        (At::after(0, 1), &[("a", "1"), ("b", "3")], "a=1 b=3"),
        (At::after(0, 7), &[("b", "3")], "b=3"),
        (
            At::after(2, 0),
            &[("a", "4"), ("b", "3"), ("ünï", "5")],
            "a=4 b=3 ünï=5",
        ),
    ];
    for (at, names, _) in history {
        put(store, "s", at, names)?;
        put(store, "other", at, &[("x", "y")])?;
    }
    for (at, _, expected) in history {
        equal("names", show(store, "s", at)?.as_deref(), Some(expected))?;
    }
    equal(
        "points",
        store.points("s")?,
        history.iter().map(|(at, ..)| *at).collect(),
    )?;
    equal("no such point", show(store, "s", At::after(0, 2))?, None)?;
    equal("no such session", store.points("nobody")?, vec![])?;
    let described = Described {
        type_name: "T\u{0}".into(),
        preview: "p".into(),
        comment: Some("c".into()),
        note: Some("n".into()),
        committed: true,
        weak: true,
    };
    let lost = Binding {
        kind: BindingKind::Dropped,
        digest: None,
        bytes: 0,
        described,
        ..bind("", b"")
    };
    let source = Binding {
        kind: BindingKind::Source,
        ..bind("f", b"5")
    };
    let namespace = Namespace {
        at: At::after(3, 0),
        bindings: vec![lost, source],
    };
    store.put_namespace("s", T, &namespace, &[])?;
    equal("every field", store.namespace("s", At::after(3, 0))?, Some(namespace))
}

fn values(store: &dyn FlowStore) -> Result<(), Broken> {
    let noise: Vec<u8> = (0..70_000_u32)
        .flat_map(|n| Digest::of(&n.to_le_bytes()).as_bytes()[..2].to_vec())
        .collect();
    let contents = [
        vec![],
        vec![0, 255, 10],
        vec![b'a'; 3 << 20],
        noise,
        vec![0x28, 0xb5, 0x2f, 0xfd],
    ];
    let bindings: Vec<Binding> = (0..)
        .zip(&contents)
        .map(|(n, content)| bind(&format!("v{n}"), content))
        .collect();
    let digests: Vec<Digest> = contents.iter().map(|content| Digest::of(content)).collect();
    equal("missing before", store.missing(&digests)?, digests.clone())?;
    let given: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    let namespace = Namespace {
        at: At::after(0, 0),
        bindings,
    };
    store.put_namespace("s", T, &namespace, &given)?;
    equal("missing after", store.missing(&digests)?, vec![])?;
    for (digest, content) in digests.iter().zip(&contents) {
        holds("content", store.value(digest)?.as_ref() == Some(content))?;
    }
    equal("sizes", store.namespace("s", At::after(0, 0))?, Some(namespace.clone()))?;
    store.put_namespace(
        "s",
        T,
        &Namespace {
            at: At::after(0, 1),
            ..namespace
        },
        &[],
    )?;
    equal("an unknown value", store.value(&Digest::of(b"nothing"))?, None)
}

fn missing_value(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "s", At::after(0, 0), &[("a", "1")])?;
    let namespace = Namespace {
        at: At::after(0, 1),
        bindings: vec![bind("a", b"2"), bind("b", b"absent")],
    };
    let missing = |error: &StoreError| matches!(error, StoreError::MissingValue { .. });
    fails(
        "absent value",
        store.put_namespace("s", T, &namespace, &[b"2"]),
        missing,
    )?;
    equal("points", store.points("s")?, vec![At::after(0, 0)])?;
    equal("names", show(store, "s", At::after(0, 0))?.as_deref(), Some("a=1"))?;
    equal("values", store.value(&Digest::of(b"2"))?, None)
}

fn again(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "s", At::after(0, 0), &[("a", "1"), ("b", "1")])?;
    put(store, "s", At::after(0, 1), &[("a", "2")])?;
    put(store, "s", At::after(0, 2), &[("a", "3"), ("c", "3")])?;
    put(store, "s", At::after(0, 1), &[("a", "1"), ("d", "4")])?;
    equal("points", store.points("s")?, vec![At::after(0, 0), At::after(0, 1)])?;
    equal("before", show(store, "s", At::after(0, 0))?.as_deref(), Some("a=1 b=1"))?;
    equal(
        "recorded again",
        show(store, "s", At::after(0, 1))?.as_deref(),
        Some("a=1 d=4"),
    )
}

fn retention(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "s", At::start_of(0), &[("x", "start")])?;
    for turn in 0..5 {
        for step in 0..3 {
            let text = format!("{turn}.{step}");
            put(store, "s", At::after(turn, step), &[("x", &text), ("same", "0")])?;
        }
        store.retain("s", T, FULL_TURNS)?;
    }
    let full = (2..5).flat_map(|turn| (0..3).map(move |step| At::after(turn, step)));
    let kept: Vec<At> = [At::start_of(0), At::after(0, 2), At::after(1, 2)]
        .into_iter()
        .chain(full)
        .collect();
    equal("points", store.points("s")?, kept)?;
    for (at, expected) in [
        (At::start_of(0), "x=start"),
        (At::after(0, 2), "same=0 x=0.2"),
        (At::after(1, 2), "same=0 x=1.2"),
        (At::after(2, 0), "same=0 x=2.0"),
        (At::after(4, 2), "same=0 x=4.2"),
    ] {
        equal("names", show(store, "s", at)?.as_deref(), Some(expected))?;
    }
    equal("a value of a thinned point", store.value(&Digest::of(b"1.1"))?, None)?;
    equal(
        "a value that is named elsewhere",
        store.value(&Digest::of(b"0"))?,
        Some(b"0".to_vec()),
    )?;
    equal("left to be freed", store.collect(false)?, Freed::default())
}

fn sharing(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "parent", At::after(0, 0), &[("a", "1")])?;
    put(store, "parent", At::after(0, 1), &[("a", "2"), ("b", "3")])?;
    put(store, "parent", At::after(0, 2), &[("a", "4")])?;
    equal(
        "shared",
        store.share_namespace("parent", At::after(0, 1), "fork", T, At::start_of(0))?,
        true,
    )?;
    equal(
        "no such point",
        store.share_namespace("parent", At::after(9, 9), "fork", T, At::start_of(1))?,
        false,
    )?;
    store.forget("parent", T)?;
    equal("parent", store.points("parent")?, vec![])?;
    equal("freed", store.collect(false)?.values, 2)?;
    equal(
        "fork",
        show(store, "fork", At::start_of(0))?.as_deref(),
        Some("a=2 b=3"),
    )?;
    equal("fork's points", store.points("fork")?, vec![At::start_of(0)])
}

fn collection(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "a", At::after(0, 0), &[("x", "shared"), ("y", "own")])?;
    put(store, "b", At::after(0, 0), &[("z", "shared")])?;
    equal("all are named", store.collect(true)?, Freed::default())?;
    store.forget("a", T)?;
    let expected = Freed { values: 1, bytes: 3 };
    equal("dry run", store.collect(true)?, expected)?;
    equal(
        "a dry run frees nothing",
        store.value(&Digest::of(b"own"))?,
        Some(b"own".to_vec()),
    )?;
    equal("freed", store.collect(false)?, expected)?;
    equal("gone", store.value(&Digest::of(b"own"))?, None)?;
    equal("kept", store.value(&Digest::of(b"shared"))?, Some(b"shared".to_vec()))
}

fn parking(store: &dyn FlowStore) -> Result<(), Broken> {
    let question = |turn, step, number| Parked {
        turn,
        step,
        number,
        question: format!("Q{turn}.{step}.{number}?"),
        options: vec!["yes".into(), "no".into()],
        schema: Some(json!({"type": "string"})),
        time: 7,
    };
    let asked = [question(0, 1, 0), question(0, 1, 1), question(2, 0, 0)];
    for waiting in [&asked[1], &asked[0], &asked[2], &asked[0]] {
        store.park("s", T, waiting)?;
    }
    equal("waiting", store.parked("s")?, asked.to_vec())?;
    equal("of another session", store.parked("t")?, vec![])?;
    store.unpark("s", T, 0)?;
    equal("after the answers", store.parked("s")?, vec![question(2, 0, 0)])
}

fn stale_token(store: &dyn FlowStore) -> Result<(), Broken> {
    put(store, "s", At::after(0, 0), &[("a", "1")])?;
    equal("tokens", (store.token("s")?, store.token("unknown")?), (T, Token(0)))?;
    store.fence("s", Token(3))?;
    store.fence("s", Token(3))?;
    equal("token", store.token("s")?, Token(3))?;
    fails("fence", store.fence("s", Token(2)), fenced)?;
    let namespace = Namespace {
        at: At::after(0, 1),
        bindings: vec![],
    };
    fails("put", store.put_namespace("s", T, &namespace, &[]), fenced)?;
    fails("retain", store.retain("s", T, 0), fenced)?;
    fails("forget", store.forget("s", T), fenced)?;
    fails("unpark", store.unpark("s", T, 0), fenced)?;
    fails(
        "share",
        store.share_namespace("s", At::after(0, 0), "s", T, At::after(0, 1)),
        fenced,
    )?;
    equal("points", store.points("s")?, vec![At::after(0, 0)])?;
    store.put_namespace("s", Token(3), &namespace, &[])?;
    Ok(())
}
