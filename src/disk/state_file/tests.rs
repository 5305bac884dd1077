use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::model::{Final, FinalShape, MemoryKind};

fn read(bytes: &[u8]) -> Result<StateFile, StateError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_state(file.path())
}

fn told(state: &StateFile) -> Vec<&str> {
    state.problems.iter().map(|problem| problem.what.as_str()).collect()
}

#[test]
fn everything_in_its_place() {
    let json = r#"{"version":2,"queries":[{"query":"a","final":null,"log_file":"logs/x.jsonl","run_id":"r"},{"query":"b"},
        {"query":"c","final":[1, 2]}],"pending_query":"p","code_log":[{"q":0,"step":1,"ok":false,"code":"x = 1","run_id":"r"}],
        "variables":{"v":{"pickle_b64":"QUJD","type":"int","preview":"1","comment":"c","note":null,"committed":true,"new":[1]}},
        "functions":{"f":"def f(): pass"},"dropped":{"d":"generator"},"unknown":{"a":[1,{"b":"]"}]},
        "interrupted":[{"query":"lost","run_id":"r9","outcome":"error"}]}"#;
    let state = read(json.as_bytes()).unwrap();
    assert_eq!((state.version, state.pending.as_deref()), (Some(2), Some("p")));
    assert_eq!(state.ledger[0].result, Final::Null);
    assert_eq!(state.ledger[1].result, Final::None, "an absent final is None");
    assert_eq!(
        state.ledger[2].result,
        Final::Value {
            shape: FinalShape::List,
            text: "[1,2]".into()
        }
    );
    assert_eq!(state.code[0].run_id.as_deref(), Some("r"));
    assert!(!state.code[0].ok);
    let memory: Vec<_> = state
        .memory
        .iter()
        .map(|m| (m.name.as_str(), m.kind, m.pickle_bytes))
        .collect();
    assert_eq!(
        memory,
        [
            ("v", MemoryKind::Variable, 4),
            ("f", MemoryKind::Function, 0),
            ("d", MemoryKind::Dropped, 0)
        ]
    );
    assert_eq!(state.interrupted[0].outcome.as_deref(), Some("error"));
    assert_eq!(told(&state), [""; 0]);
}

#[test]
fn wrong_shapes_are_read_as_far_as_they_go_and_told() {
    let json = r#"{"version":"2","queries":[{"query":null},7,{"query":12}],"code_log":{"a":1},"variables":[],
        "functions":{"f":null},"pending_query":["x"]}"#;
    let state = read(json.as_bytes()).unwrap();
    assert_eq!((state.version, state.ledger.len(), state.code.len()), (Some(2), 3, 0));
    assert_eq!(state.ledger[2].query, "12");
    assert_eq!(state.pending.as_deref(), Some(r#"["x"]"#));
    assert_eq!(state.problems.len(), 6, "{:#?}", state.problems);
}

#[test]
fn the_last_of_duplicate_keys_counts() {
    let state = read(br#"{"version":1,"functions":{"f":"1","g":"2","f":"3"},"version":2}"#).unwrap();
    assert_eq!(state.version, Some(2));
    let texts: Vec<_> = state
        .memory
        .iter()
        .map(|m| (m.name.as_str(), m.text.as_str()))
        .collect();
    assert_eq!(texts, [("f", "3"), ("g", "2")]);
}

#[test]
fn marks_padding_leftovers_and_surrogates_are_told() {
    let state = read(b"\xEF\xBB\xBF{\"pending_query\":\"\\ud83d!\"}\r\n\0\0").unwrap();
    assert_eq!(state.pending.as_deref(), Some("\u{FFFD}!"));
    assert_eq!(state.problems.len(), 3, "{:?}", told(&state));
    let state = read(b"{\"version\":2}\"old\"}}").unwrap();
    assert!(told(&state)[0].contains("leftovers"));
}

#[test]
fn a_newer_version_is_read_and_marked() {
    assert!(read(br#"{"version":3}"#).unwrap().newer);
    assert!(!read(br#"{"version":2}"#).unwrap().newer);
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    for (bytes, part) in [
        (&b""[..], "is empty"),
        (b"\xFF\xFE{\0}\0", "UTF-16"),
        (b"{\0}\0", "UTF-16"),
        (b"[]", "expected an object at byte 0"),
        (b"{\"queries\":[", "cut off at byte 12"),
        (b"not json", "damaged"),
    ] {
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn depth_is_no_matter() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let state = read(format!(r#"{{"x":{deep},"queries":[{{"query":"q","final":{deep}}}]}}"#).as_bytes()).unwrap();
    assert!(matches!(&state.ledger[0].result, Final::Value { shape: FinalShape::Raw, text } if text.len() == 200_000));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_state_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn any_cut_and_any_flipped_byte_give_a_state_or_an_error(cut in 0_usize..400, at in 0_usize..400, to in any::<u8>()) {
        let mut bytes = br#"{"version":2,"queries":[{"query":"a\n\ud83d\ude00","final":{"a":[1,null,"x"]}}],"pending_query":null,
            "variables":{"v":{"pickle_b64":"QUJD","preview":"1","committed":true}},"functions":{"f":"x"},"dropped":{}}"#.to_vec();
        if let Some(byte) = bytes.get_mut(at) {
            *byte = to;
        }
        bytes.truncate(cut);
        let _ = read(&bytes);
    }
}
