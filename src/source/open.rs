//! Opening a target: what is it, and what does it say at once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::disk::files::{metadata, open_regular, read_at};
use crate::disk::is_utf16;
use crate::disk::lock;
use crate::disk::logs::{LOGS_DIRECTORY, LogFile, LogFinder};
use crate::disk::state_file::STATE_FILE;
use crate::model::{Event, TargetKind};
use crate::store::EVENTS_FILE;

use super::log_table::LogTable;
use super::session::{SessionState, name_of};
use super::{OpenError, SessionSummary, Source, Stop, list_sessions};

/// Bytes of a file in which a transcript shows itself.
const SNIFF: usize = 1 << 20;

/// Transcripts of more queries than this are looked for when they are read: what state.json says is shown before.
const AT_ONCE: usize = 500;

/// How to open.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Take results of earlier scans from the user's cache directory, and put new ones there.
    pub use_cache: bool,
    /// The directory that was opened, when the session was picked from one: links are looked for up to there.
    pub tree: Option<PathBuf>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            use_cache: true,
            tree: None,
        }
    }
}

/// What a target turned out to be.
#[derive(Debug)]
pub enum Opened {
    /// A session, or a single transcript. The events suffice for the first frame; [`Source::scan`] has the rest.
    Session {
        /// What is known at once.
        events: Vec<Event>,
        /// The way to everything else.
        source: Source,
    },
    /// A directory of sessions.
    Picker {
        /// As given.
        dir: PathBuf,
        /// Its sessions, the last active one first.
        sessions: Vec<SessionSummary>,
    },
}

/// Opens a session directory, a state.json, a transcript, or a directory of sessions.
///
/// # Errors
/// When there is nothing that can be shown; the message is one line and says what to do.
pub fn open(target: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    let metadata = metadata(target).map_err(|error| OpenError::of_io(target, error))?;
    if !metadata.is_dir() {
        return match target.file_name().is_some_and(|name| name == STATE_FILE) {
            true => open_session(target, parent_of(target), options),
            false => open_transcript(target, options),
        };
    }
    if target.join(STATE_FILE).symlink_metadata().is_ok() {
        return open_session(target, target, options);
    }
    // One that may be listed and not entered looks like one whose files are all gone.
    std::fs::metadata(target.join(".")).map_err(|error| OpenError::of_io(target, error))?;
    std::fs::read_dir(target).map_err(|error| OpenError::of_io(target, error))?;
    let sessions = list_sessions(target, &Stop::default());
    let picker = |sessions| Opened::Picker {
        dir: target.to_owned(),
        sessions,
    };
    if sessions.iter().any(|session| session.health.is_session()) {
        return Ok(picker(sessions));
    }
    match open_transcripts(target, options) {
        // Directories that cannot be entered may be sessions: that nothing is there is not known.
        Err(OpenError::NoSession { .. }) if !sessions.is_empty() => Ok(picker(sessions)),
        opened => opened,
    }
}

fn open_session(target: &Path, dir: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    let mut state = SessionState::new(TargetKind::Session, name_of(dir), dir.to_string_lossy().into_owned());
    let events = state.open(dir)?;
    let tree = options.tree.as_deref().unwrap_or(dir);
    Ok(with_logs(
        target,
        dir,
        LogFinder::new(dir, tree),
        state,
        events,
        options,
    ))
}

/// A directory whose state.json was lost, or not written yet.
fn open_transcripts(dir: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    let mut finder = LogFinder::new(dir, options.tree.as_deref().unwrap_or(dir));
    if finder.all().is_empty() {
        return Err(OpenError::NoSession { path: dir.to_owned() });
    }
    let mut state = SessionState::new(TargetKind::Session, name_of(dir), dir.to_string_lossy().into_owned());
    state.facts.bare = is_bare(dir);
    let events = state.open_without(dir);
    Ok(with_logs(dir, dir, finder, state, events, options))
}

/// Whether it is where `--log-dir` writes to: transcripts lie in it, and nothing else that a session has.
fn is_bare(dir: &Path) -> bool {
    [LOGS_DIRECTORY, EVENTS_FILE, lock::LOCK_FILE]
        .iter()
        .all(|name| dir.join(name).symlink_metadata().is_err())
}

/// A session whose directory was just made: nothing is in it.
pub(super) fn open_new(dir: &Path, options: &OpenOptions) -> Opened {
    let mut state = SessionState::new(TargetKind::Session, name_of(dir), dir.to_string_lossy().into_owned());
    let events = state.open_empty(dir);
    let tree = options.tree.as_deref().unwrap_or(dir);
    with_logs(dir, dir, LogFinder::new(dir, tree), state, events, options)
}

fn with_logs(
    target: &Path,
    dir: &Path,
    mut finder: LogFinder,
    mut state: SessionState,
    mut events: Vec<Event>,
    options: &OpenOptions,
) -> Opened {
    events.extend(state.look_for_writer(dir));
    events.extend(state.look_for_question(dir));
    events.extend(state.look_for_calls(dir));
    let mut table = LogTable::default();
    if state.ledger.len() > AT_ONCE {
        state.facts.seeking = true;
        events.push(Event::Session(state.facts.clone()));
    } else {
        events.extend(table.update(&mut finder, &state.ledger));
    }
    let source = Source::new(target, dir, options, Some(finder), state, table);
    Opened::Session { events, source }
}

fn open_transcript(target: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    let (file, metadata) = open_regular(target).map_err(|error| OpenError::of_io(target, error))?;
    let mut head = vec![0; SNIFF.min(usize::try_from(metadata.len()).unwrap_or(SNIFF))];
    let read = read_at(&file, &mut head, 0).map_err(|error| OpenError::of_io(target, error))?;
    let head = head.get(..read).unwrap_or_default();
    let path = target.to_owned();
    if head.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) && head.len() < SNIFF {
        return Err(OpenError::EmptyLog { path });
    }
    if is_utf16(head) {
        return Err(OpenError::Utf16 { path });
    }
    if memchr::memmem::find(head, b"\"run_id\"").is_none() && head.len() < SNIFF {
        return Err(OpenError::NoTranscript { path });
    }
    let dir = parent_of(target);
    let mut state = SessionState::new(
        TargetKind::Transcript,
        name_of(target),
        dir.to_string_lossy().into_owned(),
    );
    let mut events = vec![Event::Session(state.facts.clone())];
    let session = session_of(dir);
    events.extend(state.look_for_writer(session));
    let (table, found) = LogTable::single(LogFile::new(path, &metadata));
    events.extend(found);
    let source = Source::new(target, session, options, None, state, table);
    Ok(Opened::Session { events, source })
}

/// The session a transcript's directory belongs to.
fn session_of(dir: &Path) -> &Path {
    let in_logs = dir.file_name().is_some_and(|name| name == LOGS_DIRECTORY);
    if in_logs { parent_of(dir) } else { dir }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

impl Source {
    fn new(
        target: &Path,
        dir: &Path,
        options: &OpenOptions,
        finder: Option<LogFinder>,
        state: SessionState,
        table: LogTable,
    ) -> Self {
        let kind = state.facts.target;
        let inner = super::Inner { finder, state, table };
        Self(Arc::new(super::Shared {
            target: target.to_owned(),
            dir: dir.to_owned(),
            kind,
            use_cache: options.use_cache,
            inner: Mutex::new(inner),
            family: Mutex::default(),
            nudge: Mutex::default(),
            progress: super::progress::Counters::default(),
        }))
    }
}
