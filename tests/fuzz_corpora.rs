//! What the fuzz targets check holds for their kept corpora, and for bounded random changes of them; `FUZZ_CASES` tries so
//! many changes of each instead.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // What fails, fails the test.

#[path = "../fuzz/checks/mod.rs"]
mod checks;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::path::Path;

/// How many changes are tried.
fn cases(usual: u32) -> u32 {
    let wanted = std::env::var("FUZZ_CASES").ok();
    wanted.map_or(usual, |cases| cases.parse().expect("FUZZ_CASES is a number"))
}

/// The files of a target's corpus, by name.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A change at some place.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let telling: Vec<&[u8]> = vec![
        b"\x1b[31m",
        b"\xff",
        b"\0",
        b"\xef\xbb\xbf",
        b"\\ud83d",
        b"1e400",
        b"null",
        b"{",
        b"[",
        b"}",
        b"]",
        b"\"",
        b"\n",
        b"\r",
        b": ",
        b"#",
        b"-1",
        b"99999999999999999999",
        "\u{202e}".as_bytes(),
        "\u{301}".as_bytes(),
        "👩‍👧".as_bytes(),
        "日".as_bytes(),
        b"'''",
        b"data:",
        b"\t",
    ];
    prop_oneof![
        3 => (any::<Index>(), select(telling)).prop_map(|(at, bytes)| Change::Insert(at, bytes.to_vec())),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, vec![byte])),
        2 => (any::<Index>(), 1usize..20).prop_map(|(at, len)| Change::Remove(at, len)),
        1 => (any::<Index>(), 1usize..40).prop_map(|(at, len)| Change::Repeat(at, len)),
        1 => any::<Index>().prop_map(Change::Cut),
    ]
}

fn changed(mut data: Vec<u8>, changes: Vec<Change>) -> Vec<u8> {
    for change in changes {
        let place = |at: Index, data: &[u8]| at.index(data.len() + 1);
        match change {
            Change::Insert(at, bytes) => {
                let at = place(at, &data);
                data.splice(at..at, bytes);
            }
            Change::Remove(at, len) => {
                let at = place(at, &data);
                data.drain(at..(at + len).min(data.len()));
            }
            Change::Repeat(at, len) => {
                let at = place(at, &data);
                let piece = data[at..(at + len).min(data.len())].to_vec();
                data.splice(at..at, piece);
            }
            Change::Cut(at) => data.truncate(place(at, &data)),
        }
    }
    data
}

macro_rules! targets {
    ($($target:ident, $cases:literal;)*) => {$(
        mod $target {
            use super::*;

            #[test]
            fn its_corpus_holds() {
                let corpus = corpus(stringify!($target));
                assert!(!corpus.is_empty());
                corpus.iter().for_each(|data| checks::$target::check(data));
            }

            proptest! {
                #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases($cases)) })]

                #[test]
                fn changes_of_it_hold(
                    data in select(corpus(stringify!($target))),
                    changes in proptest::collection::vec(change(), 0..8),
                ) {
                    checks::$target::check(&changed(data, changes));
                }
            }
        }
    )*};
}

targets! {
    state_json, 128;
    transcript, 128;
    sse, 512;
    text, 512;
    config, 256;
    python_literal, 256;
    event_rows, 256;
}
