//! Opening a session for writing: state.json and the log are brought in step again, whatever happened in between.

use super::lines::Lines;
use super::orphans::close_orphans;
use super::parked::{ParkedTurn, load_parked};
use super::project::{ProjectError, Projection};
use crate::disk::advice::advice;
use crate::disk::atomic::{self, WriteError};
use crate::disk::state_doc::{StateDoc, StateDocError};
use crate::disk::transcript_writer::TranscriptError;
use crate::disk::whole::{LARGEST_STATE, read_bytes};
use crate::engine::clock::now;
use crate::store::payload::{Adopted, ClearReason, Cleared, Outcome, Swept, TurnEnded, TurnStarted};
use crate::store::{
    Action, Digest, Fact, FileState, Kind, NewEvent, Recorded, Select, SessionWriter, Store, StoreError, StoredEvent,
    reconcile, recorded,
};
use std::io;
use std::path::{Path, PathBuf};

/// Why a session cannot be opened for writing. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// state.json could not be read.
    #[error("cannot read {}: {cause}; {}", path.display(), advice(cause))]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// state.json is from a newer build, or damaged with no log to rebuild it from.
    #[error("{}: {cause}", path.display())]
    State {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: StateDocError,
    },
    /// The log could not be read or appended to.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log could not be turned into a state.json.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// state.json could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A transcript could not be completed.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
}

/// Kinds of events that say what was written to state.json.
pub(in crate::engine) const WRITES: [Kind; 3] = [Kind::Swept, Kind::Adopted, Kind::Cleared];

/// Kinds of events of which the last tells whether a turn is in flight: one that ended may have gone on, as a branch
/// does.
pub(in crate::engine) const IN_TURN: [Kind; 4] =
    [Kind::TurnStarted, Kind::ModelCall, Kind::StepStarted, Kind::TurnEnded];

/// Bytes of a state.json that is worth a thread of its own.
const LARGE: usize = 1 << 20;

/// What a session is after recovery.
#[derive(Debug, Default)]
pub(in crate::engine) struct Recovered {
    /// The next turn, 0-based.
    pub(in crate::engine) turn: u32,
    /// A turn that waits for an answer.
    pub(in crate::engine) parked: Option<ParkedTurn>,
    /// What was done about files and log that were out of step, for people.
    pub(in crate::engine) notes: Vec<String>,
    /// What state.json says, where it was left as it is and can be understood.
    pub(in crate::engine) doc: Option<StateDoc>,
}

/// What becomes of a turn that a crash cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Cut {
    /// It is closed as interrupted.
    Close,
    /// It goes on.
    Keep,
}

/// Brings the session's files and log in step and closes a turn that a crash cut.
pub(in crate::engine) fn recover(
    store: &Store,
    writer: &SessionWriter,
    dir: &Path,
    cut: Cut,
) -> Result<Recovered, RecoverError> {
    let session = Session {
        store,
        writer,
        dir,
        path: dir.join("state.json"),
    };
    let mut recovered = Recovered::default();
    recovered.doc = session.reconcile(&mut recovered)?;
    // Before what waits is read: they may be its own.
    close_orphans(store, writer, dir)?;
    recovered.parked = load_parked(store, writer.session())?;
    recovered.turn = session.close_cut_turn(recovered.parked.is_some() || cut == Cut::Keep)?;
    Ok(recovered)
}

/// state.json as it was found.
struct Found {
    bytes: Vec<u8>,
    digest: Digest,
    doc: Result<StateDoc, StateDocError>,
}

impl Found {
    /// A large one takes its time: it is hashed while it is parsed.
    fn of(bytes: Vec<u8>) -> Self {
        let (digest, doc) = std::thread::scope(|scope| {
            let hash = || {
                std::thread::Builder::new()
                    .spawn_scoped(scope, || Digest::of(&bytes))
                    .ok()
            };
            let hashing = if bytes.len() > LARGE { hash() } else { None };
            let doc = StateDoc::parse(&bytes);
            let hashed = hashing.and_then(|hashing| hashing.join().ok());
            (hashed.unwrap_or_else(|| Digest::of(&bytes)), doc)
        });
        Self { bytes, digest, doc }
    }
}

struct Session<'a> {
    store: &'a Store,
    writer: &'a SessionWriter,
    dir: &'a Path,
    path: PathBuf,
}

impl Session<'_> {
    /// Brings file and log in step; what the file says, where it is still as it was found.
    fn reconcile(&self, recovered: &mut Recovered) -> Result<Option<StateDoc>, RecoverError> {
        let found = self.found()?;
        let last = self.last_write()?;
        if found
            .as_ref()
            .is_some_and(|found| last == Some(Recorded::Wrote(found.digest)))
        {
            // As usual: what the log says of earlier writes need not be read.
            return Ok(found.and_then(|found| found.doc.ok()));
        }
        let writes = self.read(Select::all().only(&WRITES))?;
        let file = self.file(found.as_ref(), &recorded(&writes))?;
        let action = reconcile(&recorded(&writes), file);
        let (bytes, doc) = found.map(|found| (found.bytes, found.doc.ok())).unwrap_or_default();
        match action {
            Action::InStep => return Ok(doc),
            Action::Adopt => self.adopt(&bytes)?,
            Action::Cleared => self.append_cleared()?,
            Action::Damaged => return Err(self.damaged(&bytes)),
            Action::RewriteProjection | Action::Rebuild => self.rewrite(&bytes, file, &writes)?,
        }
        recovered.notes.extend(note(action));
        Ok(doc.filter(|_| action == Action::Adopt))
    }

    /// state.json; `None` where there is none.
    fn found(&self) -> Result<Option<Found>, RecoverError> {
        match read_bytes(&self.path, LARGEST_STATE) {
            Ok(bytes) => Ok(Some(Found::of(bytes))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(RecoverError::Read {
                path: self.path.clone(),
                cause,
            }),
        }
    }

    /// What the log says last of state.json.
    fn last_write(&self) -> Result<Option<Recorded>, RecoverError> {
        let last = self.store.events.last_of(self.writer.session(), &WRITES)?;
        Ok(last.and_then(|event| recorded(&[event]).pop()))
    }

    /// Whether state.json is whole. What the log says was written is, whatever it says.
    fn file(&self, found: Option<&Found>, writes: &[Recorded]) -> Result<FileState, RecoverError> {
        let Some(found) = found else {
            return Ok(self.missing(writes.last()));
        };
        if writes.contains(&Recorded::Wrote(found.digest)) {
            return Ok(FileState::Whole(found.digest));
        }
        match &found.doc {
            Ok(_) => Ok(FileState::Whole(found.digest)),
            Err(StateDocError::Damaged { .. }) => Ok(FileState::Torn),
            Err(cause) => Err(RecoverError::State {
                path: self.path.clone(),
                cause: cause.clone(),
            }),
        }
    }

    /// In a store without a directory, files are this process's own copies: a missing one means nothing.
    fn missing(&self, last: Option<&Recorded>) -> FileState {
        let written = last.is_some_and(|last| *last != Recorded::Cleared);
        match self.store.root.is_none() && written {
            true => FileState::Torn,
            false => FileState::Missing,
        }
    }

    fn damaged(&self, bytes: &[u8]) -> RecoverError {
        let cause = StateDoc::parse(bytes)
            .err()
            .unwrap_or(StateDocError::Newer { found: 0 });
        RecoverError::State {
            path: self.path.clone(),
            cause,
        }
    }

    fn read(&self, select: Select) -> Result<Vec<StoredEvent>, RecoverError> {
        Ok(self.store.events.read_all(self.writer.session(), &select)?.events)
    }

    fn next_seq(&self) -> Result<u64, RecoverError> {
        Ok(self.writer.row()?.events)
    }

    fn adopt(&self, bytes: &[u8]) -> Result<(), RecoverError> {
        let adopted = Adopted {
            state: Digest::of(bytes),
            text: String::from_utf8_lossy(bytes).into_owned(),
        };
        self.append_once("adopted", adopted.into())
    }

    fn append_cleared(&self) -> Result<(), RecoverError> {
        self.append_once(
            "cleared",
            Cleared {
                reason: ClearReason::FileMissing,
            }
            .into(),
        )
    }

    fn append_once(&self, name: &str, fact: Fact) -> Result<(), RecoverError> {
        let id = format!("{name}.{}", self.next_seq()?);
        self.writer.append(vec![NewEvent::of_session(&id, now(), fact)])?;
        Ok(())
    }

    /// Writes state.json from what the log holds beyond it, and the transcript's lines that are missing.
    fn rewrite(&self, bytes: &[u8], file: FileState, writes: &[StoredEvent]) -> Result<(), RecoverError> {
        if matches!(writes.last().map(|event| &event.fact), Some(Fact::Cleared(_))) {
            return std::fs::remove_file(&self.path).map_err(|cause| RecoverError::Read {
                path: self.path.clone(),
                cause,
            });
        }
        let base = base(file, writes);
        let doc = match base {
            Some(_) => StateDoc::parse(bytes).unwrap_or_default(),
            None => StateDoc::default(),
        };
        let from = base.map_or(0, |seq| seq + 1);
        let turn = self.turn_before(from)?;
        let events = self.read(Select::all().starting(from))?;
        self.complete_transcript(turn.clone(), &events)?;
        let mut projection = Projection::new(doc, turn);
        for event in events {
            projection.apply(event)?;
        }
        let doc = projection.into_doc(self.store, self.writer.session())?;
        let mut text = Vec::new();
        doc.write(&mut text).map_err(ProjectError::from)?;
        let state = Digest::of(&text);
        if recorded(writes).last() != Some(&Recorded::Wrote(state)) {
            self.append_once(
                "projected",
                Swept {
                    state: Some(state),
                    ..Swept::default()
                }
                .into(),
            )?;
        }
        Ok(atomic::write(&self.path, &text)?)
    }

    /// The turn in flight before an event.
    fn turn_before(&self, seq: u64) -> Result<Option<TurnStarted>, RecoverError> {
        let started = self.read(Select::all().only(&[Kind::TurnStarted]))?;
        let before = started.into_iter().take_while(|event| event.stream_seq < seq).last();
        Ok(before.and_then(|event| match event.fact {
            Fact::TurnStarted(started) => Some(started),
            _ => None,
        }))
    }

    /// Closes a turn whose process died; the number of the next turn. A suspended turn without a question that waits
    /// was cut while it went on.
    fn close_cut_turn(&self, goes_on: bool) -> Result<u32, RecoverError> {
        let Some(last) = self.store.events.last_of(self.writer.session(), &IN_TURN)? else {
            return Ok(0);
        };
        let turn = last.turn.unwrap_or_default();
        let cut = match &last.fact {
            Fact::TurnEnded(ended) => ended.outcome == Outcome::Suspended && !goes_on,
            _ => !goes_on,
        };
        if cut {
            let ended = TurnEnded {
                outcome: Outcome::Interrupted,
                ..TurnEnded::default()
            };
            // It may have ended before, as a branch does.
            let event = NewEvent::of_turn(turn, now(), ended.into()).numbered(self.next_seq()?);
            self.writer.append(vec![event])?;
            self.writer.unpark(turn)?;
        }
        Ok(turn + 1)
    }

    /// Appends the lines of steps and FINALs that are in the log and not in their transcript; `turn` is in flight
    /// before the first event.
    fn complete_transcript(&self, turn: Option<TurnStarted>, events: &[StoredEvent]) -> Result<(), RecoverError> {
        let mut lines = Lines::of(turn.unwrap_or_default());
        for event in events {
            lines.take(self.dir, event)?;
        }
        Ok(())
    }
}

/// The last write of the file that was found: everything up to it is in the file.
fn base(file: FileState, writes: &[StoredEvent]) -> Option<u64> {
    let FileState::Whole(found) = file else { return None };
    let wrote = |event: &&StoredEvent| match &event.fact {
        Fact::Swept(swept) => swept.state == Some(found),
        Fact::Adopted(adopted) => adopted.state == found,
        _ => false,
    };
    writes.iter().rev().find(wrote).map(|event| event.stream_seq)
}

fn note(action: Action) -> Option<String> {
    let text = match action {
        Action::Adopt => "state.json was written by another program: taken over as it is",
        Action::Cleared => "state.json is gone: the session starts empty (its log is kept)",
        Action::RewriteProjection => "state.json was behind its log: completed from it",
        Action::Rebuild => "state.json was torn: rebuilt from its log",
        Action::InStep | Action::Damaged => return None,
    };
    Some(text.to_owned())
}
