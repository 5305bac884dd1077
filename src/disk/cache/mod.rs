//! Headers of transcripts from earlier scans, in the user's cache directory: one file a session.
//!
//! An entry counts for a transcript of the same path, size and time. The file is only ever a shortcut: what is
//! missing, damaged, or of another version is scanned again.

mod codec;
mod pieces;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::atomic::private_beside;
use super::logs::LogFile;
use super::transcript::Part;
use super::whole::read_bytes;
use crate::model::LogId;
use pieces::{Reader, Writer};

/// Changes with the format, and with what a scan finds.
const MAGIC: &[u8; 8] = b"frlmsc05";
/// Compression: the fastest.
const LEVEL: i32 = 1;
/// Bytes that an entry may unpack to.
const LARGEST: usize = 256 << 20;
/// Bytes that all caches may take together; the oldest go first.
const ALL: u64 = 256 << 20;
/// A file changed so recently may change again without its time telling.
const SETTLED: Duration = Duration::from_secs(2);

/// The results of scans of one session.
#[derive(Debug, Default)]
pub(crate) struct ScanCache {
    path: PathBuf,
    bytes: Vec<u8>,
    entries: HashMap<Vec<u8>, Entry>,
    fresh: Vec<(Entry, Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    path: Vec<u8>,
    size: u64,
    modified: i128,
    /// Where its frame lies in the file.
    start: usize,
    length: usize,
}

/// The directory of caches: `FAST_RLM_CACHE_DIR`, else the user's own for this program.
pub(crate) fn cache_directory() -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os("FAST_RLM_CACHE_DIR").filter(|dir| !dir.is_empty()) {
        return Some(dir.into());
    }
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(etcetera::BaseStrategy::cache_dir(&strategy).join("fast-rlm"))
}

impl ScanCache {
    /// The cache of a session; empty when there is none that can be used.
    pub(crate) fn open(session: &Path) -> Option<Self> {
        let session = session.canonicalize().ok()?;
        let name: String = Sha256::digest(session.as_os_str().as_encoded_bytes())
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let path = cache_directory()?.join("scans").join(name);
        let bytes = read_bytes(&path, ALL).unwrap_or_default();
        let entries = read_index(&bytes).unwrap_or_default();
        Some(Self {
            path,
            bytes,
            entries,
            fresh: Vec::new(),
        })
    }

    /// What a scan of `file` found, if the file is still the same.
    pub(crate) fn get(&self, file: &LogFile, log: LogId) -> Option<Part> {
        let entry = self.entry(file)?;
        let frame = self.bytes.get(entry.start..entry.start.checked_add(entry.length)?)?;
        codec::decode(&unpack(frame)?, log)
    }

    /// Whether [`ScanCache::get`] is worth asking.
    pub(crate) fn has(&self, file: &LogFile) -> bool {
        self.entry(file).is_some()
    }

    fn entry(&self, file: &LogFile) -> Option<&Entry> {
        let entry = self.entries.get(file.path.as_os_str().as_encoded_bytes())?;
        (entry.size == file.size && entry.modified == file.modified).then_some(entry)
    }

    /// Remembers what a scan of `file` found.
    pub(crate) fn put(&mut self, file: &LogFile, part: &Part) {
        let Ok(frame) = pack(&codec::encode(part)) else { return };
        let path = file.path.as_os_str().as_encoded_bytes().to_vec();
        let entry = Entry {
            path,
            size: file.size,
            modified: file.modified,
            start: 0,
            length: frame.len(),
        };
        if is_settled(file.modified) {
            self.fresh.push((entry, frame));
        }
    }

    /// A cache for new results beside this one, while this one is read by many threads.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            path: self.path.clone(),
            ..Self::default()
        }
    }

    /// With the new results of another.
    pub(crate) fn with(self, fresh: Self) -> Self {
        Self {
            fresh: fresh.fresh,
            ..self
        }
    }

    /// Writes what was added; entries of `kept` files stay, others are dropped.
    ///
    /// # Errors
    /// When the directory or the file cannot be written; nothing of the session depends on it.
    pub(crate) fn save(self, kept: &[LogFile]) -> io::Result<()> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let mut all: Vec<(Entry, &[u8])> = Vec::new();
        let by_path = self
            .fresh
            .iter()
            .map(|(entry, frame)| (entry.path.as_slice(), (entry, frame)));
        let fresh: HashMap<&[u8], (&Entry, &Vec<u8>)> = by_path.collect();
        for file in kept {
            if let Some((entry, frame)) = fresh.get(file.path.as_os_str().as_encoded_bytes()) {
                all.push(((*entry).clone(), frame));
            } else if let Some(entry) = self.entry(file) {
                let frame = self
                    .bytes
                    .get(entry.start..entry.start + entry.length)
                    .unwrap_or_default();
                all.push((entry.clone(), frame));
            }
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let mut file = private_beside(&self.path)?;
        file.write_all(&with_index(all)?)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        make_room(directory);
        Ok(())
    }
}

fn is_settled(modified: i128) -> bool {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let age = i128::try_from(now.as_nanos()).unwrap_or_default() - modified;
    age > i128::try_from(SETTLED.as_nanos()).unwrap_or_default()
}

/// The whole file: magic, length of the index, the index, the frames.
fn with_index(mut all: Vec<(Entry, &[u8])>) -> io::Result<Vec<u8>> {
    let mut index = Writer::default();
    index.number(all.len() as u64);
    for (entry, frame) in &mut all {
        index.bytes(&entry.path);
        index.number(entry.size);
        index.number(u64::try_from(entry.modified).unwrap_or_default());
        index.number(frame.len() as u64);
    }
    let index = pack(&index.into_bytes())?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(u64::try_from(index.len()).unwrap_or_default().to_le_bytes());
    bytes.extend(index);
    all.iter().for_each(|(_, frame)| bytes.extend(*frame));
    Ok(bytes)
}

fn read_index(bytes: &[u8]) -> Option<HashMap<Vec<u8>, Entry>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let index = unpack(rest.get(..length)?)?;
    let mut start = MAGIC.len() + 8 + length;
    let mut reader = Reader::new(&index);
    let mut entries = HashMap::new();
    for _ in 0..reader.number()? {
        let path = reader.bytes()?.to_vec();
        let (size, modified) = (reader.number()?, i128::from(reader.number()?));
        let length = usize::try_from(reader.number()?).ok()?;
        entries.insert(
            path.clone(),
            Entry {
                path,
                size,
                modified,
                start,
                length,
            },
        );
        start = start.checked_add(length)?;
    }
    Some(entries)
}

/// Compressed, with a checksum.
fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.include_contentsize(true)?;
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn unpack(frame: &[u8]) -> Option<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(frame).ok()??;
    let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST)?;
    // A session has an entry for each transcript: what unpacks them is made once a thread.
    thread_local!(static UNPACKER: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) });
    UNPACKER.with_borrow_mut(|unpacker| {
        let unpacker = match unpacker {
            Some(unpacker) => unpacker,
            None => unpacker.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        unpacker.decompress(frame, size).ok()
    })
}

/// Removes the oldest caches while all together are too large.
fn make_room(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in files {
        if total <= ALL {
            return;
        }
        total -= size;
        // Another process may have removed it: either way it is gone.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests;
