//! The event log of the recording, moved in time with its transcripts.

use super::Error;
use super::dated::Move;
use fast_rlm::store::{Digest, StoreRows};
use rusqlite::{Connection, params};

/// Moves the log of runs that were moved; `state` is state.json as it was, and as it is now.
pub(crate) fn shift(rows: &StoreRows, moves: &[Move], state: [&str; 2]) -> Result<StoreRows, Error> {
    let dir = tempfile::tempdir()?;
    rows.write(dir.path())?;
    let digests = state.map(|text| Digest::of(text.as_bytes()).to_string());
    let mut log = Connection::open(dir.path().join("events.db"))?;
    let moved = log.transaction()?;
    let mut events = Vec::new();
    {
        let mut select = moved.prepare("SELECT global_seq, turn, time, payload FROM event ORDER BY global_seq")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let turn: Option<i64> = row.get(1)?;
            events.push((
                row.get::<_, i64>(0)?,
                turn,
                row.get::<_, i64>(2)?,
                row.get::<_, String>(3)?,
            ));
        }
    }
    let mut current = moves.first().ok_or("no run was recorded")?;
    let mut last = 0;
    for (seq, turn, time, mut payload) in events {
        current = turn
            .and_then(|turn| moves.get(usize::try_from(turn).ok()?))
            .unwrap_or(current);
        for run in moves {
            payload = run.in_text(&payload);
        }
        payload = payload.replace(&digests[0], &digests[1]);
        last = time + current.by;
        moved.execute(
            "UPDATE event SET time = ?1, payload = ?2 WHERE global_seq = ?3",
            params![last, payload, seq],
        )?;
    }
    let first = moves.first().map_or(0, |run| run.by);
    moved.execute(
        "UPDATE session SET created = created + ?1, active = ?2",
        params![first, last],
    )?;
    moved.commit()?;
    drop(log);
    Ok(StoreRows::read(dir.path())?)
}
