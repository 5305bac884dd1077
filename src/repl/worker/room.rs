//! The directory that a worker may write to, and how much is in it while it runs.

use crate::disk::private_dir::PrivateDir;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes on disk that a worker's files may have together, those included that have no name any more.
const MOST_BYTES: u64 = 256 << 20;
/// Its files and directories.
const MOST_FILES: usize = 4_096;
/// A directory of its own, which is removed when this is dropped.
pub(super) struct Room {
    path: PathBuf,
    _dir: PrivateDir,
}

impl Room {
    pub(super) fn new() -> io::Result<Self> {
        let dir = PrivateDir::new("python")?;
        // What makes the directory ours is none of the worker's business.
        let path = dir.path().join("work");
        fs::create_dir(&path)?;
        Ok(Self { path, _dir: dir })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why there is too much in it, if there is; `process` is whose files these are.
    pub(super) fn excess(&self, process: u32) -> Option<String> {
        let mut found = Found::default();
        let walked = found.below(&self.path);
        // Files that were removed and are still open. A process that has ended has none.
        let open = fs::read_dir(format!("/proc/{process}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        let nameless = open.filter_map(|entry| fs::metadata(entry.path()).ok());
        nameless
            .filter(|file| file.is_file() && file.nlink() == 0)
            .for_each(|file| found.count(&file));
        match walked {
            _ if found.bytes > MOST_BYTES => {
                Some(format!("its files are larger than {} MB together", MOST_BYTES >> 20))
            }
            _ if found.files > MOST_FILES => Some(format!("it made more than {MOST_FILES} files")),
            Err(error) => Some(format!("its directory cannot be looked at: {error}")),
            Ok(()) => None,
        }
    }
}

#[derive(Default)]
struct Found {
    files: usize,
    bytes: u64,
}

impl Found {
    fn count(&mut self, file: &Metadata) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(file.blocks().saturating_mul(512));
    }

    /// Counts all that is there, or more than may be. What cannot be seen is an error: things could be hidden in it.
    fn below(&mut self, top: &Path) -> io::Result<()> {
        let mut pending = vec![top.to_owned()];
        while let Some(dir) = pending.pop() {
            let entries = match fs::read_dir(&dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries.flatten() {
                let Ok(file) = entry.metadata() else { continue };
                self.count(&file);
                if self.files > MOST_FILES || self.bytes > MOST_BYTES {
                    return Ok(());
                }
                if file.is_dir() {
                    pending.push(entry.path());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

    #[test]
    fn too_many_or_hidden_files_are_an_excess() {
        let room = Room::new().unwrap();
        let own = std::process::id();
        fs::write(room.path().join("one"), "x").unwrap();
        assert_eq!(room.excess(own), None);
        for number in 0..MOST_FILES {
            fs::write(room.path().join(number.to_string()), "").unwrap();
        }
        assert!(room.excess(own).unwrap().contains("more than 4096 files"));
        let room = Room::new().unwrap();
        // Deeper than any path can tell.
        let mut inner = open(room.path(), DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..2_500 {
            mkdirat(&inner, "d", Mode::RWXU).unwrap();
            inner = openat(&inner, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        assert!(room.excess(own).unwrap().contains("cannot be looked at"));
    }
}
