//! Finding transcripts: the one a query names, wherever it went, and those that no query names.
//!
//! A link is data that anyone may have written. What it leads to is accepted only when it is a regular file, lies in
//! the tree that was opened or is named like a transcript, and contains the query's run id.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::files::{FileIdentity, modified_nanos, open_regular, read_at};
use super::starts_as_utf16;
use crate::text::SafeText;

/// Ending of transcripts' names.
const ENDING: &str = "jsonl";
/// Directory of transcripts in a session.
pub const LOGS_DIRECTORY: &str = "logs";
/// Bytes that are searched at a time.
const WINDOW: usize = 64 << 10;
/// Bytes of a unit of UTF-16 in a JSON string, at most.
const LONGEST_UNIT: usize = 6;
/// Bytes of a first line in which a file may turn out to be a transcript.
const LONGEST_HEAD: u64 = 256 << 20;

/// A transcript on disk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) identity: FileIdentity,
    pub(crate) size: u64,
    /// Nanoseconds since the epoch.
    pub(crate) modified: i128,
}

impl LogFile {
    pub(crate) fn new(path: PathBuf, metadata: &Metadata) -> Self {
        let identity = FileIdentity::of(&path, metadata);
        Self {
            path,
            identity,
            size: metadata.len(),
            modified: modified_nanos(metadata),
        }
    }
}

/// What came of looking for a query's transcript.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sought {
    /// Where the link says: as written, or in the session directory.
    Linked(LogFile),
    /// Elsewhere.
    Moved(LogFile),
    /// Nowhere; what was tried, in order, each with its reason.
    Missing(Vec<String>),
}

/// Looks for transcripts of one session.
#[derive(Debug)]
pub(crate) struct LogFinder {
    session: PathBuf,
    /// The tree that was opened, resolved.
    root: Option<PathBuf>,
    /// Where links are looked for, above the session directory.
    parents: Vec<PathBuf>,
    /// Directories, resolved.
    resolved: HashMap<PathBuf, Option<PathBuf>>,
    /// Files of which it is known that they contain a run.
    verified: HashSet<(FileIdentity, String)>,
}

impl LogFinder {
    /// `session` lies in `tree`, the directory that was opened; they can be the same.
    pub(crate) fn new(session: &Path, tree: &Path) -> Self {
        let root = tree.canonicalize().ok();
        let inside = |parent: &PathBuf| {
            let resolved = parent.canonicalize().ok();
            resolved
                .zip(root.as_ref())
                .is_some_and(|(parent, root)| parent.starts_with(root))
        };
        let parents = session
            .ancestors()
            .skip(1)
            .map(Path::to_owned)
            .take_while(inside)
            .collect();
        Self {
            session: session.to_owned(),
            root,
            parents,
            resolved: HashMap::new(),
            verified: HashSet::new(),
        }
    }

    /// The transcript that a link leads to.
    pub(crate) fn seek(&mut self, log_file: &str, run_id: Option<&str>) -> Sought {
        let (direct, elsewhere) = self.candidates(log_file);
        let mut tried = Vec::new();
        let places = direct
            .into_iter()
            .map(|path| (path, false))
            .chain(elsewhere.into_iter().map(|path| (path, true)));
        for (path, moved) in places {
            match self.accept(&path, run_id) {
                Ok(file) if moved => return Sought::Moved(file),
                Ok(file) => return Sought::Linked(file),
                Err(reason) => tried.push((path, reason)),
            }
        }
        Sought::Missing(tried.into_iter().map(told).collect())
    }

    /// Where a link may lead: where it says, and elsewhere.
    fn candidates(&self, log_file: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let link = Path::new(log_file);
        let mut direct = vec![link.to_owned(), self.session.join(link)];
        let mut elsewhere: Vec<PathBuf> = self.parents.iter().map(|parent| parent.join(link)).collect();
        let name = log_file.rsplit(['/', '\\']).next().unwrap_or_default();
        if !name.is_empty() && name != "." && name != ".." {
            elsewhere.extend([self.session.join(name), self.session.join(LOGS_DIRECTORY).join(name)]);
        }
        let mut seen = HashSet::new();
        direct.retain(|path| seen.insert(path.clone()));
        elsewhere.retain(|path| seen.insert(path.clone()));
        (direct, elsewhere)
    }

    /// # Errors
    /// Why not; `None` when there is nothing: most places are tried in vain, and what a link on the way leads to is looked
    /// at only when it has to be told.
    fn accept(&mut self, path: &Path, run_id: Option<&str>) -> Result<LogFile, Option<String>> {
        let nothing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if std::fs::metadata(path).is_err_and(nothing) {
            return Err(None);
        }
        self.read(path, run_id).map_err(Some)
    }

    fn read(&mut self, path: &Path, run_id: Option<&str>) -> Result<LogFile, String> {
        let (file, metadata) = open_regular(path).map_err(|error| reason(&error))?;
        if !self.may_read(path) {
            return Err("outside the opened directory and no .jsonl; refused".into());
        }
        let found = LogFile::new(path.to_owned(), &metadata);
        if found.size == 0 {
            return Err("it is empty".into());
        }
        let Some(run_id) = run_id.filter(|id| !id.is_empty()) else {
            return Ok(found);
        };
        let key = (found.identity.clone(), run_id.to_owned());
        if self.verified.contains(&key) {
            return Ok(found);
        }
        match contains_id(&file, run_id) {
            Ok(true) => {
                self.verified.insert(key);
                Ok(found)
            }
            Ok(false) if starts_as_utf16(&file) => Err("UTF-16: convert it to UTF-8 to read it".into()),
            Ok(false) => Err(format!("it does not contain run {}; refused", SafeText::line(run_id))),
            Err(error) => Err(reason(&error)),
        }
    }

    /// In the opened tree, or named like a transcript: judged by where it really lies.
    fn may_read(&mut self, path: &Path) -> bool {
        let Some(real) = self.resolve(path) else { return false };
        let inside = self.root.as_ref().is_some_and(|root| real.starts_with(root));
        inside || is_transcript_name(&real)
    }

    /// Resolves a path; directories are remembered, as a session's transcripts lie in few.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let ordinary = path
            .components()
            .next_back()
            .is_some_and(|last| matches!(last, Component::Normal(_)));
        if !ordinary || path.is_symlink() {
            return path.canonicalize().ok();
        }
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let known = self
            .resolved
            .entry(parent.to_owned())
            .or_insert_with(|| parent.canonicalize().ok());
        Some(known.as_ref()?.join(path.file_name()?))
    }

    /// Forgets where directories lead: links may have changed.
    pub(crate) fn forget_directories(&mut self) {
        self.resolved.clear();
    }

    /// Transcripts in `logs/`, and in the session directory itself where they really are such; by name.
    pub(crate) fn all(&mut self) -> Vec<LogFile> {
        let mut files = self.in_directory(&self.session.join(LOGS_DIRECTORY), false);
        files.extend(self.in_directory(&self.session.clone(), true));
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.identity.clone()));
        files
    }

    fn in_directory(&mut self, directory: &Path, sniff: bool) -> Vec<LogFile> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| is_transcript_name(path))
            .collect();
        paths.sort_unstable();
        let mut files = Vec::new();
        for path in paths {
            let Ok((file, metadata)) = open_regular(&path) else {
                continue;
            };
            if self.may_read(&path) && (!sniff || looks_like_transcript(&file)) {
                files.push(LogFile::new(path, &metadata));
            }
        }
        files
    }
}

fn is_transcript_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

/// A place that was tried, and why in vain.
fn told((path, why): (PathBuf, Option<String>)) -> String {
    let now = || open_regular(&path).err().map(|error| reason(&error));
    // It may have come meanwhile.
    let why = why.or_else(now).unwrap_or_else(|| "not there".into());
    // What they are called is one line, whatever it holds: no part of the reason may be overwritten.
    format!("{} ({why})", SafeText::line(&path.to_string_lossy()))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if error.get_ref().is_none() => "not there".into(),
        io::ErrorKind::PermissionDenied => "no permission".into(),
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => format!("{error}; refused"),
        _ => error.to_string(),
    }
}

/// Whether its beginning names a run. A first line that is longer than a window is gone through to its end: a task or a
/// prompt may stand in it before the id.
fn looks_like_transcript(file: &File) -> bool {
    const KEY: &[u8] = b"\"run_id\"";
    let finder = memchr::memmem::Finder::new(KEY);
    let mut window = vec![0; WINDOW];
    let mut offset = 0;
    loop {
        let read = read_at(file, &mut window, offset).unwrap_or_default();
        let head = window.get(..read).unwrap_or_default();
        if finder.find(head).is_some() {
            return true;
        }
        let goes_on = read == WINDOW && offset < LONGEST_HEAD && memchr::memchr(b'\n', head).is_none();
        if !goes_on {
            return false;
        }
        // The key may lie across the end of the window.
        offset += (WINDOW - KEY.len()) as u64;
    }
}

/// Whether a transcript contains an id, as a JSON string: however that is spelt.
fn contains_id(file: &File, id: &str) -> io::Result<bool> {
    let longest = 2 + LONGEST_UNIT * id.encode_utf16().count();
    let mut window = vec![0; longest + 4096];
    let (mut offset, mut kept) = (0, 0);
    loop {
        let room = window.get_mut(kept..).unwrap_or_default();
        let read = read_at(file, room, offset)?;
        let filled = window.get(..kept + read).unwrap_or_default();
        if memchr::memchr_iter(b'"', filled).any(|at| filled.get(at + 1..).is_some_and(|text| spells(text, id))) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        offset += read as u64;
        // Nearly always the id stands in the first line; what comes then is searched in larger pieces.
        let overlap = filled.len().min(longest - 1);
        let tail = filled.len() - overlap..filled.len();
        window.copy_within(tail, 0);
        window.resize(longest + WINDOW, 0);
        kept = overlap;
    }
}

/// Whether `text`, from behind a quote on, is this string and the quote that ends it.
fn spells(text: &[u8], string: &str) -> bool {
    let mut rest = Some(text);
    for character in string.chars() {
        rest = rest.and_then(|text| text.get(spelling(text, character)?..));
        if rest.is_none() {
            return false;
        }
    }
    rest.and_then(<[u8]>::first) == Some(&b'"')
}

/// Bytes of what `text` begins with, if that is this character: as itself, or as one of its escapes.
fn spelling(text: &[u8], character: char) -> Option<usize> {
    let mut buffer = [0; 4];
    let plain = character.encode_utf8(&mut buffer).as_bytes();
    if text.starts_with(plain) && !matches!(character, '"' | '\\') {
        return Some(plain.len());
    }
    let (&escape, rest) = text.strip_prefix(b"\\")?.split_first()?;
    let short = match character {
        '"' | '\\' | '/' => character,
        '\u{8}' => 'b',
        '\u{C}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => 'u',
    };
    if escape != b'u' {
        return (char::from(escape) == short).then_some(2);
    }
    let mut units = [0; 2];
    let digits: Vec<String> = character
        .encode_utf16(&mut units)
        .iter()
        .map(|unit| format!("{unit:04x}"))
        .collect();
    let digits = digits.join("\\u");
    let spelt = rest.get(..digits.len())?;
    let same = |(a, b): (&u8, u8)| *a == b || (b != b'u' && a.to_ascii_lowercase() == b);
    spelt.iter().zip(digits.bytes()).all(same).then_some(2 + digits.len())
}

#[cfg(test)]
mod tests;
