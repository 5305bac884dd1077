//! The file: an uncompressed tar of plain files with known names. Its last entry is the SHA-256 of everything before
//! it; bundles of older versions have none.

use super::file_error;
use crate::disk::advice::on_named;
use crate::disk::atomic::directory_of;
use crate::disk::files::open_regular;
use crate::disk::part_file::PartFile;
use crate::lab::LabError;
use crate::store::{Digest, EVENTS_FILE, FLOW_FILE};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path};

/// What a bundle may hold; a file is taken for anybody's.
const MOST_FILES: usize = 100_000;
/// Bytes of a name.
const LONGEST_NAME: u64 = 4_096;
/// The entry that holds the checksum, in hexadecimal.
const CHECKSUM: &str = "sha256";
/// Bytes of that.
const DIGITS: u64 = 64;

/// A bundle in the making, which nobody sees before it is whole.
pub(super) struct Packer(tar::Builder<Hashing>);

struct Hashing {
    file: PartFile,
    hash: Sha256,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Packer {
    /// A bundle that becomes `file`, which must not be there.
    pub(super) fn new(file: &Path) -> io::Result<Self> {
        directory_of(file).metadata()?;
        let file = PartFile::beside(file)?;
        let hash = Sha256::new();
        Ok(Self(tar::Builder::new(Hashing { file, hash })))
    }

    pub(super) fn add(&mut self, file: &mut File, name: impl AsRef<Path>) -> io::Result<()> {
        self.0.append_file(name, file)
    }

    /// Adds the checksum, and gives the bundle its name.
    pub(super) fn finish(mut self, file: &Path) -> io::Result<()> {
        let digest = format!("{:x}\n", self.0.get_ref().hash.clone().finalize());
        let mut header = tar::Header::new_gnu();
        header.set_size(digest.len() as u64);
        header.set_mode(0o644);
        self.0.append_data(&mut header, CHECKSUM, digest.as_bytes())?;
        self.0.into_inner()?.file.put(file)
    }
}

/// Unpacks a bundle into `dir`, and gives its digest. Only plain files of known names are taken: a bundle's
/// paths lead nowhere else.
pub(super) fn unpack(file: &Path, dir: &Path) -> Result<Digest, LabError> {
    let bad = |what: String| LabError::BadBundle {
        path: file.to_owned(),
        what,
    };
    let opened = || {
        open_regular(file).map_err(|cause| match cause.kind() {
            // A directory, or a device.
            io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => bad(format!("{cause} ({})", on_named(&cause))),
            _ => file_error(file, "reading", cause),
        })
    };
    let read = |cause| file_error(file, "reading", cause);
    let mut looked_at = tar::Archive::new(opened()?.0);
    let sum = look_at(&mut looked_at).map_err(bad)?;
    let found = digest(&mut opened()?.0, sum.as_ref().map_or(u64::MAX, |sum| sum.at)).map_err(read)?;
    if let Some(sum) = sum {
        let told = sum.read(opened()?.0).map_err(read)?;
        if told.parse().ok() != Some(found) {
            return Err(bad("it was changed or damaged: its checksum does not fit".into()));
        }
    }
    let mut bundle = tar::Archive::new(opened()?.0);
    for entry in bundle.entries().map_err(|error| bad(error.to_string()))? {
        let mut entry = entry.map_err(|error| bad(error.to_string()))?;
        let path = entry.path().map_err(|error| bad(error.to_string()))?.into_owned();
        if path == Path::new(CHECKSUM) {
            continue;
        }
        if !entry.header().entry_type().is_file() || !is_known(&path) {
            return Err(bad(format!("{} has no place in it", path.display())));
        }
        write(&mut entry, &dir.join(&path)).map_err(|cause| file_error(&path, "unpacking", cause))?;
    }
    Ok(found)
}

/// Where the checksum stands.
struct Sum {
    /// The byte at which its entry begins.
    at: u64,
    /// The byte at which it does.
    body: u64,
}

impl Sum {
    fn read(&self, mut file: File) -> io::Result<String> {
        let mut told = String::new();
        file.seek(io::SeekFrom::Start(self.body))?;
        file.take(DIGITS).read_to_string(&mut told)?;
        Ok(told)
    }
}

/// Looks at the headers alone: a name longer than a header holds comes as an entry of its own, which is read as a
/// whole.
fn look_at(bundle: &mut tar::Archive<File>) -> Result<Option<Sum>, String> {
    let mut sum = None;
    let entries = bundle.entries_with_seek().map_err(|error| error.to_string())?;
    for (number, entry) in entries.raw(true).enumerate() {
        let entry = entry.map_err(|error| match number {
            0 => "it is no file that `fast-rlm export` wrote".to_owned(),
            _ => error.to_string(),
        })?;
        let kind = entry.header().entry_type();
        let is_name = kind.is_gnu_longname() || kind.is_pax_local_extensions();
        let size = entry.header().size().map_err(|error| error.to_string())?;
        match () {
            () if number >= MOST_FILES => return Err(format!("it holds more than {MOST_FILES} files")),
            () if is_name && size > LONGEST_NAME => return Err(format!("a name in it has {size} bytes")),
            () if !is_name && !kind.is_file() => return Err("it holds something that is no plain file".into()),
            () if sum.is_some() => return Err("something was added behind its checksum".into()),
            () => {}
        }
        if entry.path_bytes().as_ref() == CHECKSUM.as_bytes() {
            sum = Some(Sum {
                at: entry.raw_header_position(),
                body: entry.raw_file_position(),
            });
        }
    }
    Ok(sum)
}

/// The digest of the first bytes of a file.
fn digest(file: &mut File, bytes: u64) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    io::copy(&mut file.take(bytes), &mut hash)?;
    Digest::from_bytes(&hash.finalize()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn write(entry: &mut impl Read, path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    io::copy(entry, &mut File::create(path)?).map(drop)
}

fn is_known(path: &Path) -> bool {
    let parts: Vec<Component<'_>> = path.components().collect();
    match parts.as_slice() {
        [Component::Normal(name)] => [EVENTS_FILE, FLOW_FILE, "state.json"].iter().any(|known| name == known),
        [Component::Normal(logs), Component::Normal(_)] => *logs == "logs",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_bundle_lead_nowhere_else() {
        for known in ["events.db", "state.json", "logs/run.jsonl"] {
            assert!(is_known(Path::new(known)), "{known}");
        }
        for other in ["../x", "/etc/passwd", "logs/../../x", "logs/a/b", "other", ""] {
            assert!(!is_known(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn any_changed_byte_is_found_and_nothing_can_be_added() {
        let dir = tempfile::tempdir().unwrap();
        let [state, file, into] = ["state.json", "bundle", "into"].map(|name| dir.path().join(name));
        fs::write(&state, "{}").unwrap();
        let mut packer = Packer::new(&file).unwrap();
        packer.add(&mut File::open(&state).unwrap(), "state.json").unwrap();
        packer.finish(&file).unwrap();
        let whole = fs::read(&file).unwrap();
        unpack(&file, &into).unwrap();
        assert_eq!(fs::read(into.join("state.json")).unwrap(), b"{}");
        // The name, the time, the content, the checksum itself.
        for at in [0, 140, 512, 2 * 512 + 512] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&file, changed).unwrap();
            assert!(unpack(&file, &into).is_err(), "byte {at}");
        }
        let mut more = whole[..4 * 512].to_vec();
        more.extend(&whole[..1024]);
        more.resize(more.len() + 1024, 0);
        fs::write(&file, more).unwrap();
        let told = unpack(&file, &into).unwrap_err().to_string();
        assert!(told.contains("behind its checksum"), "{told}");
        let packer = Packer::new(&file).unwrap();
        assert!(packer.finish(&file).is_err(), "what is there is not written over");
    }
}
