//! Long payloads in pieces, each of which is stored once.
//!
//! A resumed agent is told again what it was told at the query before, and a little more: whole, that would make a log
//! grow with the square of its queries. Such a payload is cut where its own text says so, not at fixed places, so that
//! what two have in common gives the same pieces in both. The row then holds `pieces` and their numbers; what is read
//! is the payload as it was given, byte for byte. A program from before this skips such a row and reports it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::Failure;
use crate::store::{Digest, Kind};

/// What a payload in pieces begins with; any other begins with `{`.
const MARK: &str = "pieces ";
/// Shorter payloads stay whole.
const LONG: usize = 32 << 10;
/// So do longer ones than this; and what a damaged row says is never put together to more.
const LONGEST: usize = 4 << 20;
/// Bytes of a piece: at least, and at most.
const PIECE: std::ops::Range<usize> = 256..8 << 10;
/// One place in so many is where a piece ends.
const ONE_IN: u64 = 512;
/// One end of a line in so many is: what repeats itself has few places, and is in step again with the next of them.
const LINE_IN: u64 = 16;
/// From so many bytes on, a piece ends with its line.
const LINES: usize = 1 << 10;

/// A payload as its row holds it: whole, or the numbers of its pieces, which are stored where they are not there yet.
pub(super) fn store<'p>(transaction: &Transaction<'_>, kind: Kind, payload: &'p str) -> Result<Cow<'p, str>, Failure> {
    if kind != Kind::ModelCall || !(LONG..=LONGEST).contains(&payload.len()) {
        return Ok(payload.into());
    }
    let mut find = transaction.prepare_cached("SELECT number FROM piece WHERE digest = ?1")?;
    let mut insert = transaction.prepare_cached("INSERT INTO piece (digest, body) VALUES (?1, ?2)")?;
    let mut numbers = Vec::new();
    for piece in split(payload) {
        let digest = Digest::of(piece.as_bytes());
        let digest = digest.as_bytes().as_slice();
        let there: Option<i64> = find.query_row([digest], |row| row.get(0)).optional()?;
        numbers.push(match there {
            Some(number) => number,
            None => insert.insert((digest, piece))?,
        });
    }
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Ok(format!("{MARK}{}", numbers.join(" ")).into())
}

/// The payload that a row holds, put together again; why it cannot be where it cannot.
pub(super) fn load<'p>(connection: &Connection, stored: &'p str) -> Result<Cow<'p, str>, String> {
    let Some(numbers) = numbers(stored) else {
        return Ok(stored.into());
    };
    let read = |error: rusqlite::Error| format!("a piece of its payload cannot be read: {error}");
    let mut find = connection
        .prepare_cached("SELECT body FROM piece WHERE number = ?1")
        .map_err(read)?;
    let mut payload = String::new();
    for (place, number) in numbers.enumerate() {
        let mut rows = find.query([number]).map_err(read)?;
        let row = rows.next().map_err(read)?.ok_or("a piece of its payload is lost")?;
        payload.push_str(row.get_ref(0).and_then(|body| Ok(body.as_str()?)).map_err(read)?);
        if payload.len() > LONGEST || place > LONGEST / PIECE.start {
            return Err("its pieces are more than a payload can have".into());
        }
    }
    Ok(payload.into())
}

/// Removes the pieces that only the session's payloads have, before its rows go.
pub(super) fn remove(transaction: &Transaction<'_>, session: i64) -> Result<(), Failure> {
    let mut ours = used(transaction, "session = ?1", session)?;
    if ours.is_empty() {
        return Ok(());
    }
    for theirs in used(transaction, "session <> ?1", session)? {
        ours.remove(&theirs);
    }
    let mut delete = transaction.prepare("DELETE FROM piece WHERE number = ?1")?;
    for number in ours {
        delete.execute([number])?;
    }
    Ok(())
}

fn used(connection: &Connection, whose: &str, session: i64) -> Result<BTreeSet<i64>, Failure> {
    // Word for word the condition of the index.
    let sql = format!("SELECT payload FROM event WHERE payload >= 'pieces ' AND payload < 'pieces!' AND {whose}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    let mut used = BTreeSet::new();
    while let Some(row) = rows.next()? {
        used.extend(row.get_ref(0)?.as_str().ok().and_then(numbers).into_iter().flatten());
    }
    Ok(used)
}

/// The numbers of a payload's pieces; `None` where it is whole. What is no number names no piece.
fn numbers(stored: &str) -> Option<impl Iterator<Item = i64>> {
    let listed = stored.strip_prefix(MARK)?;
    Some(listed.split(' ').map(|number| number.parse().unwrap_or(-1)))
}

/// Cuts a text where a hash of the bytes before a place says so (a "gear" hash, which forgets what is 64 bytes away).
fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((piece, after)) = rest
        .split_at_checked(end_of_piece(rest))
        .filter(|(piece, _)| !piece.is_empty())
    {
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn end_of_piece(text: &str) -> usize {
    let (mut hash, mut before) = (0_u64, (0, 0));
    for (at, byte) in text.bytes().enumerate() {
        // A line's end, as JSON has it.
        let line_ended = before == (b'\\', b'n');
        let one_in = if line_ended { LINE_IN } else { ONE_IN };
        let ends = (at >= PIECE.start && (hash >> 32).is_multiple_of(one_in))
            || (at >= LINES && line_ended)
            || at >= PIECE.end;
        if ends && text.is_char_boundary(at) {
            return at;
        }
        hash = (hash << 1).wrapping_add(gear(byte));
        before = (before.1, byte);
    }
    text.len()
}

/// Well mixed bits of a byte (the finaliser of SplitMix64).
fn gear(byte: u8) -> u64 {
    let mixed = (u64::from(byte) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::payload::{Message, ModelCall};
    use crate::store::{EventStore, NewEvent, NewSession, Select, SqliteEvents, Token};
    use proptest::prelude::*;

    /// What the queries up to this one come to in a preamble.
    fn told(queries: usize) -> String {
        let code = (0..queries).map(|query| format!("name_{query} = {}\nprint('日', {query})\n\n", query * query));
        code.collect()
    }

    fn call(turn: u32, text: String) -> NewEvent {
        let call = ModelCall {
            added: vec![Message {
                role: "user".into(),
                text,
            }],
            ..ModelCall::default()
        };
        NewEvent::of_step(turn, 0, 1, call.into())
    }

    struct Log {
        store: SqliteEvents,
        _dir: tempfile::TempDir,
        path: std::path::PathBuf,
    }

    impl Log {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("events.db");
            Self {
                store: SqliteEvents::open(&path).unwrap(),
                _dir: dir,
                path,
            }
        }

        fn session(&self) -> (String, Token) {
            let id = self.store.create_session(&NewSession::minted(1)).unwrap().id;
            let token = self.store.raise_token(&id).unwrap();
            (id, token)
        }

        fn number(&self, sql: &str) -> i64 {
            let connection = Connection::open(&self.path).unwrap();
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        }

        fn texts(&self, id: &str) -> Vec<crate::store::Fact> {
            let page = self.store.read_all(id, &Select::all()).unwrap();
            assert_eq!(page.skipped, []);
            page.events.into_iter().map(|event| event.fact).collect()
        }
    }

    #[test]
    fn what_is_told_again_is_stored_once_and_read_as_it_was() {
        let log = Log::new();
        let (id, token) = log.session();
        let calls: Vec<NewEvent> = (0..200).map(|turn| call(turn, told(2_000 + turn as usize))).collect();
        let whole: usize = calls.iter().map(|call| call.fact.encode().unwrap().len()).sum();
        for call in &calls {
            let stored = log.store.append(&id, token, std::slice::from_ref(call)).unwrap();
            assert_eq!(stored[0].fact, call.fact);
        }
        let facts: Vec<_> = calls.iter().map(|call| call.fact.clone()).collect();
        assert_eq!(log.texts(&id), facts);
        let mut scanned = Vec::new();
        let take = &mut |row: crate::store::EventRow<'_>| {
            scanned.push(row.payload.to_owned());
            true
        };
        log.store.scan(&id, &Select::all(), take).unwrap();
        let payloads: Vec<String> = facts.iter().map(|fact| fact.encode().unwrap()).collect();
        assert_eq!(scanned, payloads);
        let kept =
            log.number("SELECT sum(length(body)) FROM piece") + log.number("SELECT sum(length(payload)) FROM event");
        assert!(usize::try_from(kept).unwrap() < whole / 20, "{kept} of {whole}");
        // Appending it again gives what is there.
        assert_eq!(log.store.append(&id, token, &calls).unwrap().len(), 200);
        assert_eq!(log.texts(&id).len(), 200);
    }

    #[test]
    fn pieces_go_with_the_last_session_that_has_them() {
        let log = Log::new();
        let ((one, its), (other, theirs)) = (log.session(), log.session());
        log.store.append(&one, its, &[call(0, told(3_000))]).unwrap();
        log.store.append(&other, theirs, &[call(0, told(2_900))]).unwrap();
        log.store.remove_session(&one, its).unwrap();
        assert_eq!(log.texts(&other), [call(0, told(2_900)).fact]);
        log.store.remove_session(&other, theirs).unwrap();
        assert_eq!(log.number("SELECT count(*) FROM piece"), 0);
    }

    #[test]
    fn a_row_whose_pieces_are_damaged_is_skipped_and_reported() {
        let damages = [
            "UPDATE event SET payload = payload || ' x' WHERE turn = 0",
            "UPDATE event SET payload = 'pieces ' || replace(hex(zeroblob(100000)), '00', '1 ') || '1' WHERE turn = 0",
            "UPDATE piece SET body = '{'",
            "DELETE FROM piece",
            "DROP TABLE piece",
        ];
        for damage in damages {
            let log = Log::new();
            let (id, token) = log.session();
            let calls = [call(0, told(3_000)), call(1, String::new())];
            log.store.append(&id, token, &calls).unwrap();
            Connection::open(&log.path).unwrap().execute_batch(damage).unwrap();
            let page = log.store.read_all(&id, &Select::all()).unwrap();
            assert_eq!((page.events.len(), page.skipped.len()), (1, 1), "{damage}");
            let mut rows = 0;
            log.store
                .scan(&id, &Select::all(), &mut |_| {
                    rows += 1;
                    true
                })
                .unwrap();
            assert_eq!(rows, if damage.contains("body") { 2 } else { 1 }, "undecoded: {damage}");
        }
    }

    #[test]
    fn a_change_in_the_middle_changes_few_pieces() {
        let varied = told(4_000);
        let same = r"total = globals().get('total', 0) + 1\nprint(total)\n\nFINAL(total)\n\n".repeat(1_000);
        for (before, after) in [
            (varied.clone(), varied.replace("name_2000 =", "renamed_2000 =")),
            (same.clone(), format!("{}other = 1\\n\\n{same}", same.repeat(2))),
        ] {
            let known: BTreeSet<&str> = split(&before).into_iter().collect();
            let new = split(&after)
                .into_iter()
                .filter(|piece| !known.contains(piece))
                .collect::<BTreeSet<_>>();
            assert!((1..=6).contains(&new.len()), "{} of {}", new.len(), known.len());
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text in ".{0,40}", times in 0_usize..2_000) {
            let text = text.repeat(times);
            let pieces = split(&text);
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE.end + 4));
            prop_assert_eq!(pieces.concat(), text);
        }
    }
}
