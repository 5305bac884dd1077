//! Looking for files to attach: a directory's entries, or everything below it, within bounds.

use super::Stop;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

/// Entries that are listed at most.
const MOST: usize = 5_000;

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathQuery {
    /// The directory; empty for the working directory.
    pub dir: PathBuf,
    /// Directories below it, too, the nearest first.
    pub deep: bool,
    /// Names that begin with a dot, too.
    pub hidden: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files and directories, sorted within each directory.
    pub found: Vec<Found>,
    /// There are more than are listed.
    pub more: bool,
}

/// A file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Relative to the directory of the query.
    pub path: PathBuf,
    /// A directory.
    pub is_dir: bool,
    /// Bytes of a file.
    pub size: u64,
}

/// The bytes of a file, links followed; `None` when there is no such file.
pub fn file_size(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Lists files and directories; devices, pipes and sockets are left out, and links to directories are not followed
/// below the first level.
///
/// # Errors
///
/// The directory itself cannot be read. Those below that cannot are left out.
pub fn list_paths(query: &PathQuery, stop: &Stop) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut waiting = VecDeque::from([PathBuf::new()]);
    while let Some(below) = waiting.pop_front() {
        let entries = match entries(query, &below) {
            Err(error) if below.as_os_str().is_empty() => return Err(error),
            entries => entries.unwrap_or_default(),
        };
        for entry in entries {
            if listing.found.len() == MOST || stop.is_stopped() {
                listing.more = true;
                return Ok(listing);
            }
            if query.deep && entry.is_dir && !is_link(&directory(query, &entry.path)) {
                waiting.push_back(entry.path.clone());
            }
            listing.found.push(entry);
        }
    }
    Ok(listing)
}

fn directory(query: &PathQuery, below: &Path) -> PathBuf {
    match query.dir.as_os_str().is_empty() {
        true => Path::new(".").join(below),
        false => query.dir.join(below),
    }
}

/// The entries of one directory, sorted by name. What vanishes meanwhile is left out.
fn entries(query: &PathQuery, below: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory(query, below))?.flatten().take(MOST) {
        let name = entry.file_name();
        if !query.hidden && name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // Through links: what counts is what would be opened.
        let Ok(metadata) = std::fs::metadata(entry.path()) else {
            continue;
        };
        if metadata.is_file() || metadata.is_dir() {
            found.push(Found {
                path: below.join(name),
                is_dir: metadata.is_dir(),
                size: metadata.len(),
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("data/deep")).unwrap();
        for name in ["b.csv", "a.csv", ".hidden", "data/c.csv", "data/deep/d.csv"] {
            std::fs::write(dir.path().join(name), "1234").unwrap();
        }
        dir
    }

    fn names(dir: &Path, deep: bool, hidden: bool) -> Vec<String> {
        let query = PathQuery {
            dir: dir.to_owned(),
            deep,
            hidden,
        };
        let listing = list_paths(&query, &Stop::default()).unwrap();
        listing
            .found
            .iter()
            .map(|found| found.path.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn the_nearest_go_first_and_hidden_ones_only_when_asked_for() {
        let dir = tree();
        assert_eq!(names(dir.path(), false, false), ["a.csv", "b.csv", "data"]);
        assert_eq!(names(dir.path(), false, true), [".hidden", "a.csv", "b.csv", "data"]);
        let deep = names(dir.path(), true, false);
        assert_eq!(
            deep,
            ["a.csv", "b.csv", "data", "data/c.csv", "data/deep", "data/deep/d.csv"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_go_in_no_circle_and_pipes_are_no_files() {
        let dir = tree();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("data/up")).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            dir.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .unwrap();
        let deep = names(dir.path(), true, false);
        assert!(
            deep.contains(&"data/up".into()) && !deep.contains(&"pipe".into()),
            "{deep:?}"
        );
        assert_eq!(deep.len(), 7);
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let query = PathQuery {
            dir: "/nonexistent".into(),
            deep: false,
            hidden: false,
        };
        assert!(list_paths(&query, &Stop::default()).is_err());
    }
}
