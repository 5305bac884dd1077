//! What a branch takes over of its parent: events, namespaces, transcripts.

use crate::disk::files::open_inside;
use crate::disk::whole::{self, LARGEST_STATE};
use crate::engine::CONVERSATION;
use crate::lab::{LabError, RecordedTurn, Source};
use crate::store::payload::Custom;
use crate::store::{At, Fact, NewEvent, Select, SessionWriter, StoreError};
use serde::Deserialize;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Everything before the turn, and its beginning.
pub(super) fn events_before(parent: &Source, turn: &RecordedTurn) -> Result<Vec<NewEvent>, StoreError> {
    let events = parent.store.events.read_all(&parent.session, &Select::all())?.events;
    let taken = events.into_iter().filter(|event| {
        let ours = event.turn == Some(turn.number);
        let begins = ours && event.step.is_none() && matches!(event.fact, Fact::TurnStarted(_) | Fact::Custom(_));
        let own = matches!(event.fact, Fact::ForkedFrom(_)) || is_conversation(&event.fact);
        !own && (begins || (!ours && event.stream_seq < turn.start_seq))
    });
    Ok(taken.map(NewEvent::from).collect())
}

/// Everything of these steps of a turn.
pub(super) fn events_of_steps(parent: &Source, turn: u32, steps: Range<u32>) -> Result<Vec<NewEvent>, StoreError> {
    let events = parent
        .store
        .events
        .read_all(&parent.session, &Select::turn(turn))?
        .events;
    let taken = events
        .into_iter()
        .filter(|event| event.step.is_some_and(|step| steps.contains(&step)));
    Ok(taken.map(NewEvent::from).collect())
}

fn is_conversation(fact: &Fact) -> bool {
    matches!(fact, Fact::Custom(Custom { name, .. }) if name == CONVERSATION)
}

/// Shares the parent's namespaces: those before `from`, or from there up to `until`.
pub(super) fn share_points(
    parent: &Source,
    writer: &SessionWriter,
    from: At,
    until: Option<At>,
) -> Result<(), StoreError> {
    let wanted = |at: &At| match until {
        None => *at < from,
        Some(until) => *at >= from && *at < until,
    };
    let points = parent.store.flow.points(&parent.session)?;
    for at in points.into_iter().filter(wanted) {
        writer.share_namespace(&parent.session, at, at)?;
    }
    Ok(())
}

/// The transcripts of the turns so far; of the last one, the lines up to the root's step before `at`.
pub(super) fn transcripts(parent: &Source, branch: &Source, turn: &RecordedTurn, at: u32) -> Result<(), LabError> {
    let failed = |path: &Path, doing| {
        let path = path.to_owned();
        move |cause| LabError::File { path, doing, cause }
    };
    fs::create_dir_all(branch.dir.join("logs")).map_err(failed(&branch.dir, "creating"))?;
    let recording = parent.recording()?;
    let earlier = recording.turns.iter().filter(|earlier| earlier.number < turn.number);
    for log in earlier.filter_map(|earlier| relative(earlier)) {
        copy(parent, branch, log).map_err(failed(&parent.dir.join(log), "copying"))?;
    }
    let Some(log) = relative(turn) else { return Ok(()) };
    let text = text(parent, log).map_err(failed(&parent.dir.join(log), "copying"))?;
    let kept = lines_before(&text, &turn.started.run_id, u64::from(at));
    let path = branch.dir.join(log);
    fs::write(&path, kept).map_err(failed(&path, "writing"))
}

/// Copies a transcript, where there is one.
fn copy(parent: &Source, branch: &Source, log: &Path) -> io::Result<()> {
    let Some(mut from) = transcript(parent, log)? else {
        return Ok(());
    };
    let mut to = File::create(branch.dir.join(log))?;
    io::copy(&mut from, &mut to)?;
    to.set_permissions(from.metadata()?.permissions())
}

/// The text of a transcript; none where it is not there.
fn text(parent: &Source, log: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(from) = transcript(parent, log)? {
        whole::copy(from, &mut bytes, LARGEST_STATE)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn transcript(parent: &Source, log: &Path) -> io::Result<Option<File>> {
    match open_inside(&parent.dir, &parent.dir.join(log)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(|(file, _)| Some(file)),
    }
}

/// A transcript's path in the session's directory; names come from the log and lead nowhere else.
fn relative(turn: &RecordedTurn) -> Option<&Path> {
    let path = Path::new(turn.started.log_file.as_deref()?);
    let plain = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    plain.then_some(path)
}

/// Lines up to that of the root's step `number` on screen; of a branch before the first step, those of the probe.
fn lines_before(text: &str, root: &str, number: u64) -> String {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        run_id: std::borrow::Cow<'a, str>,
        step: Option<u64>,
    }
    let mut kept = String::with_capacity(text.len());
    let mut pending = String::new();
    for line in text.split_inclusive('\n') {
        pending.push_str(line);
        let head = serde_json::from_str::<Head<'_>>(line).ok();
        let of_root = head.filter(|head| head.run_id == root);
        match of_root.and_then(|head| head.step) {
            Some(step) if step > number => break,
            // Lines of sub-agents stand before the step that started them.
            Some(_) => kept.push_str(&std::mem::take(&mut pending)),
            None => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_cut_before_what_the_next_step_started() {
        let lines = [
            r#"{"run_id":"r","event_type":"agent_start"}"#,
            r#"{"run_id":"r","step":0}"#,
            r#"{"run_id":"c","step":1}"#,
            r#"{"run_id":"r","step":1}"#,
            r#"{"run_id":"d","step":0}"#,
            r#"{"run_id":"r","step":2}"#,
        ];
        let text = lines.map(|line| format!("{line}\n")).concat();
        assert_eq!(lines_before(&text, "r", 1).lines().collect::<Vec<_>>(), lines[..4]);
        assert_eq!(lines_before(&text, "r", 0).lines().collect::<Vec<_>>(), lines[..2]);
    }
}
