//! Files that are read as a whole, up to a bound: neither a pipe nor a device that data names holds the program, and no
//! file fills its memory. What a person names on the command line may be a pipe, as a shell's `<(command)` is one.

use super::files::{metadata, open_regular};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;

/// Most of a session's file that is held in memory, as a state.json is that is written on: pickles of 1 GiB may be in it.
#[cfg(feature = "engine")]
pub(crate) const LARGEST_STATE: u64 = 2 << 30;
/// Most of a file that a person names.
#[cfg(feature = "engine")]
pub(crate) const LARGEST_NAMED: u64 = 256 << 20;

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// Those of [`open_regular`] and of reading; [`io::ErrorKind::FileTooLarge`] beyond the bound.
pub(crate) fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_regular(path)?;
    check_size(&metadata, most)?;
    bounded(file, most)
}

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`read_bytes`]; [`io::ErrorKind::InvalidData`] when it is not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read_bytes(path, most)?)
}

/// The text of a file that a person named, which may be a pipe. Waits for whoever writes into that, so it is read before
/// an interrupt has anything else to do than to end the program.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn read_named(path: &Path, most: u64) -> io::Result<String> {
    text(bounded(open_named(path, most)?, most)?)
}

/// Opens what a person named: a regular file, a pipe, or the device that is empty.
fn open_named(path: &Path, most: u64) -> io::Result<File> {
    let seen = metadata(path)?;
    if !is_stream(&seen) {
        let (file, metadata) = open_regular(path)?;
        check_size(&metadata, most)?;
        return Ok(file);
    }
    File::open(path)
}

/// Whether a person named a pipe.
#[cfg(all(unix, feature = "engine"))]
pub(crate) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// A pipe, or the device that is always empty.
#[cfg(unix)]
fn is_stream(seen: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let is_null = || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == seen.rdev());
    let kind = seen.file_type();
    kind.is_fifo() || (kind.is_char_device() && is_null())
}

#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}

fn check_size(metadata: &Metadata, most: u64) -> io::Result<()> {
    match metadata.len() {
        bytes if bytes > most => Err(too_large(&bytes.to_string(), most)),
        _ => Ok(()),
    }
}

/// Files grow, and the size of a pipe is not known.
fn bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    copy(file, &mut bytes, most)?;
    Ok(bytes)
}

/// Copies everything, which may be `most` bytes.
///
/// # Errors
/// Those of reading and writing; [`io::ErrorKind::FileTooLarge`] beyond the bound.
pub(crate) fn copy(from: impl Read, to: &mut impl Write, most: u64) -> io::Result<()> {
    match io::copy(&mut from.take(most.saturating_add(1)), to)? {
        copied if copied > most => Err(too_large(&format!("more than {most}"), most)),
        _ => Ok(()),
    }
}

fn too_large(bytes: &str, most: u64) -> io::Error {
    let what = format!("it has {bytes} bytes, and may have {most}");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let not_utf8 = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8");
    String::from_utf8(bytes).map_err(not_utf8)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    fn fifo(dir: &Path) -> io::Result<std::path::PathBuf> {
        let path = dir.join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0)?;
        Ok(path)
    }

    fn kind_of(odd: &Path) -> io::ErrorKind {
        match odd.is_dir() {
            true => io::ErrorKind::IsADirectory,
            false => io::ErrorKind::InvalidInput,
        }
    }

    #[test]
    fn what_data_names_is_a_regular_file_within_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_text(&file, 5).unwrap(), "12345");
        let error = read_bytes(&file, 4).unwrap_err().to_string();
        assert_eq!(error, "it has 5 bytes, and may have 4");
        let zero = dir.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
        for odd in [fifo(dir.path()).unwrap(), zero, dir.path().to_owned()] {
            let error = read_bytes(&odd, 5).unwrap_err();
            assert_eq!(error.kind(), kind_of(&odd), "{odd:?}");
        }
    }

    #[test]
    fn what_a_person_names_may_be_a_pipe_within_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = fifo(dir.path()).unwrap();
        let write = |text: &'static str| {
            let path = path.clone();
            // The reader may have had enough.
            std::thread::spawn(move || drop(File::create(path).unwrap().write_all(text.as_bytes())))
        };
        let writer = write("12345");
        assert_eq!(read_named(&path, 5).unwrap(), "12345");
        writer.join().unwrap();
        let writer = write("123456789");
        let error = read_named(&path, 5).unwrap_err().to_string();
        assert_eq!(error, "it has more than 5 bytes, and may have 5");
        writer.join().unwrap();
        assert_eq!(read_named(Path::new("/dev/null"), 5).unwrap(), "");
        for odd in [Path::new("/dev/zero"), dir.path()] {
            assert_eq!(read_named(odd, 5).unwrap_err().kind(), kind_of(odd));
        }
    }
}
