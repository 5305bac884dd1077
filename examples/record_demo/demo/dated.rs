//! Moving a recording in time: each run to the instant at which the story has it start. What is between the instants of
//! a run stays as it was recorded.

use super::{Error, Files, log};
use fast_rlm::store::StoreRows;
use serde_json::Value;
use std::collections::BTreeSet;

const STATE: &str = "state.json";
const LOG: &str = ".jsonl";
/// The event log and what goes with it, as text.
const ROWS: [&str; 2] = ["events.sql", "flow.sql"];
/// The whole text of a query that is too long for state.json.
const QUERY: &str = ".query";

/// How a run was moved.
pub(crate) struct Move {
    /// Milliseconds.
    pub(crate) by: i64,
    stamps: Stamps,
    /// The name of its transcript, without its ending, as it was and as it is.
    names: [String; 2],
}

impl Move {
    /// Its ids, and the name of its transcript, wherever they stand in a text.
    pub(crate) fn in_text(&self, text: &str) -> String {
        let [old, new] = &self.names;
        let moved = self.stamps.ids.iter().filter_map(|id| Some((id, parts(id).ok()?)));
        moved.fold(text.replace(old, new), |text, (id, (time, name))| {
            text.replace(id.as_str(), &format!("{}-{name}", time + self.by))
        })
    }
}

/// Moves the runs of `files`, in the order of their transcripts' names, to `starts` (unix milliseconds).
pub(crate) fn shift(mut files: Files, starts: &[i64]) -> Result<Files, Error> {
    let was = files.remove(STATE).unwrap_or_default();
    let [events, flow] = ROWS.map(|name| files.remove(name).unwrap_or_default());
    let runs: Vec<_> = files
        .keys()
        .filter_map(|name| name.strip_suffix(LOG))
        .map(str::to_owned)
        .collect();
    if runs.len() != starts.len() {
        return Err(format!("{} transcripts of {} queries", runs.len(), starts.len()).into());
    }
    let (mut shifted, mut moves, mut state) = (Files::new(), Vec::new(), was.clone());
    for (old, start) in runs.iter().zip(starts) {
        let new = format!("logs/run_{}", instant(*start)?.replace([':', '.'], "-"));
        let text = files
            .get(&format!("{old}{LOG}"))
            .map(String::as_str)
            .unwrap_or_default();
        let stamps = Stamps::of(text)?;
        let by = start - stamps.first()?;
        state = stamps.move_ids(&state, by)?.replace(old, &new);
        shifted.insert(
            format!("{new}{LOG}"),
            stamps.move_times(&stamps.move_ids(text, by)?, by)?,
        );
        if let Some(query) = files.get(&format!("{old}{QUERY}")) {
            shifted.insert(format!("{new}{QUERY}"), query.clone());
        }
        let names = [old.clone(), new];
        moves.push(Move { by, stamps, names });
    }
    let rows = log::shift(&StoreRows { events, flow }, &moves, [&was, &state])?;
    shifted.extend(ROWS.map(str::to_owned).into_iter().zip([rows.events, rows.flow]));
    shifted.insert(STATE.to_owned(), state);
    Ok(shifted)
}

/// What in a transcript says when it was: run ids, which begin with unix milliseconds, and instants.
#[derive(Default)]
struct Stamps {
    ids: BTreeSet<String>,
    instants: BTreeSet<String>,
}

impl Stamps {
    fn of(text: &str) -> Result<Self, Error> {
        let mut found = Self::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let text = |value: &Value| value.as_str().map(str::to_owned);
            found.ids.extend(line.get("run_id").and_then(text));
            found.instants.extend(line.get("time").and_then(text));
            let timestamps = line.get("timestamps").and_then(Value::as_object);
            found
                .instants
                .extend(timestamps.into_iter().flat_map(|map| map.values()).filter_map(text));
        }
        Ok(found)
    }

    /// When the root started. Ids of one length sort by time.
    fn first(&self) -> Result<i64, Error> {
        Ok(parts(self.ids.first().ok_or("a transcript without a run")?)?.0)
    }

    /// Values are replaced in the text, which stays otherwise as it was written.
    fn move_ids(&self, text: &str, by: i64) -> Result<String, Error> {
        self.ids.iter().try_fold(text.to_owned(), |text, id| {
            let (time, name) = parts(id)?;
            Ok(text.replace(&format!("{id:?}"), &format!("\"{}-{name}\"", time + by)))
        })
    }

    /// All at once, because a moved instant may be another one's old value.
    fn move_times(&self, text: &str, by: i64) -> Result<String, Error> {
        let mut moved = String::with_capacity(text.len());
        for (place, piece) in text.split('"').enumerate() {
            moved.push_str(if place == 0 { "" } else { "\"" });
            match self.instants.get(piece) {
                Some(old) => moved.push_str(&instant(old.parse::<jiff::Timestamp>()?.as_millisecond() + by)?),
                None => moved.push_str(piece),
            }
        }
        Ok(moved)
    }
}

/// Unix milliseconds and the random part of a run id.
fn parts(id: &str) -> Result<(i64, &str), Error> {
    let (time, name) = id.split_once('-').ok_or("a run id without a time")?;
    Ok((time.parse()?, name))
}

/// An instant as transcripts write it: `2026-03-14T18:41:07.312Z`.
fn instant(unix_ms: i64) -> Result<String, Error> {
    Ok(format!("{:.3}", jiff::Timestamp::from_millisecond(unix_ms)?))
}
