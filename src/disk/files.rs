//! Opening files that others name, and reading them by offset. Nothing but regular files is ever read.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file for reading, without ever waiting: a FIFO or a device would block or act when opened.
///
/// # Errors
/// That of opening it; with a readable message [`io::ErrorKind::IsADirectory`] for a directory, and
/// [`io::ErrorKind::InvalidInput`] for what is no regular file either.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let seen = metadata(path)?;
    check_regular(&seen)?;
    let file = open_regular_with(File::options().read(true), path)?;
    let opened = file.metadata()?;
    Ok((file, opened))
}

/// Opens a regular file as `options` say, without ever waiting.
///
/// # Errors
/// As [`open_regular`].
pub(crate) fn open_regular_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = never_waiting(options).open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Like [`open_regular`], of a file that lies in a directory: a link in a received session could lead to any file of the
/// user's.
///
/// # Errors
/// As [`open_regular`]; [`io::ErrorKind::InvalidInput`] for one that lies elsewhere.
#[cfg(feature = "engine")]
pub(crate) fn open_inside(directory: &Path, path: &Path) -> io::Result<(File, Metadata)> {
    metadata(path)?;
    let real = path.canonicalize()?;
    if !real.starts_with(directory.canonicalize()?) {
        let what = format!("it leads out of its session, to {}; refused", real.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    open_regular(&real)
}

/// What a path leads to.
///
/// # Errors
/// That of looking; where a link on the way leads nowhere, it is named.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    std::fs::metadata(path).map_err(|error| match dangling(path) {
        Some(what) if error.kind() == io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, what),
        _ => error,
    })
}

/// The first link of a path that leads to nothing, in words.
fn dangling(path: &Path) -> Option<String> {
    let on_the_way: Vec<&Path> = path.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
    let nowhere = |path: &&&Path| path.is_symlink() && !path.exists();
    let link = on_the_way.iter().rev().find(nowhere)?;
    let target = std::fs::read_link(link).ok()?;
    let which = if *link == path {
        String::new()
    } else {
        format!("{} is ", link.display())
    };
    Some(format!(
        "{which}a dangling link: it leads to {}, which is not there",
        target.display()
    ))
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    let (kind, what) = match metadata.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => (io::ErrorKind::IsADirectory, "a directory"),
        _ => (io::ErrorKind::InvalidInput, "a device, pipe or socket"),
    };
    Err(io::Error::new(kind, format!("it is {what}, not a regular file")))
}

#[cfg(unix)]
fn never_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
}

#[cfg(not(unix))]
fn never_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Fills `buffer` from `offset` on, as far as the file reaches; how much was read.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read_some_at(file, rest, offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(unix)]
fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// What tells one file from another, whatever paths lead there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] std::path::PathBuf);

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(_path: &Path, metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self((metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path, _metadata: &Metadata) -> Self {
        Self(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }
}

/// When a file was last written, in nanoseconds since the epoch; 0 where that is not known.
pub(crate) fn modified_nanos(metadata: &Metadata) -> i128 {
    let since = metadata
        .modified()
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or_default())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("gone/away", &link).unwrap();
        let error = open_regular(&link).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(
            error.to_string(),
            "a dangling link: it leads to gone/away, which is not there"
        );
        let below = open_regular(&link.join("a.jsonl")).unwrap_err().to_string();
        assert_eq!(
            below,
            format!(
                "{} is a dangling link: it leads to gone/away, which is not there",
                link.display()
            )
        );
        let plain = open_regular(&dir.path().join("nothing")).unwrap_err();
        assert!(!plain.to_string().contains("link"), "{plain}");
    }
}
/// A file that was removed can still be written to, and what is written is lost.
#[cfg(unix)]
pub(super) fn is_in_place(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    match file.metadata()?.nlink() {
        0 => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it was removed while it was written",
        )),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn is_in_place(_: &File) -> io::Result<()> {
    Ok(())
}
