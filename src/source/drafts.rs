//! What a person wrote and did not send, kept from one run of the program to the next: one small file a session in
//! the user's state directory, for its owner only. The session itself is not touched.

use crate::disk::advice::advice;
use crate::disk::atomic::{self, WriteError};
use crate::disk::whole::read_bytes;
use crate::text::secret::Secrets;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a file that are read: a draft may hold a large paste.
const LARGEST: u64 = 64 << 20;
/// Bytes of earlier drafts that are kept, the latest first.
const EARLIER: usize = 1 << 20;

/// What is kept of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// What is in the box.
    pub draft: Draft,
    /// What was sent or cleared, oldest first.
    pub earlier: Vec<Draft>,
}

impl Kept {
    /// Without these secrets: a key that was typed or pasted into the box is written nowhere.
    fn redacted(&self, secrets: &Secrets) -> Self {
        let hide = |draft: &Draft| draft.iter().map(|piece| piece.redacted(secrets)).collect();
        Self {
            draft: hide(&self.draft),
            earlier: self.earlier.iter().map(hide).collect(),
        }
    }
}

/// A draft, in pieces.
pub type Draft = Vec<Piece>;

/// A piece of a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Text.
    Text(String),
    /// A paste that is shown folded.
    Pasted(String),
    /// An attached file.
    File(String),
}

impl Piece {
    fn redacted(&self, secrets: &Secrets) -> Self {
        let hide = |text: &str| secrets.redact(text).into_owned();
        match self {
            Self::Text(text) => Self::Text(hide(text)),
            Self::Pasted(text) => Self::Pasted(hide(text)),
            Self::File(path) => Self::File(hide(path)),
        }
    }

    fn len(&self) -> usize {
        let (Self::Text(text) | Self::Pasted(text) | Self::File(text)) = self;
        text.len()
    }
}

/// Drafts could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The system names no place for them.
    #[error("drafts cannot be kept: no state directory is known; set XDG_STATE_HOME")]
    NoPlace,
    /// Reading failed.
    #[error("kept drafts cannot be read from {}: {cause}; {}", path.display(), advice(cause))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is none of ours.
    #[error("kept drafts in {} cannot be understood: {what}; move the file away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What was kept for the session in a directory; nothing when nothing was.
///
/// # Errors
///
/// [`KeepError`].
pub fn load(session: &Path) -> Result<Kept, KeepError> {
    load_from(&place(session)?)
}

/// Keeps drafts for the session in a directory, without the keys of the environment.
///
/// # Errors
///
/// [`KeepError`]; what was kept before is still there.
pub fn keep(session: &Path, kept: &Kept) -> Result<(), KeepError> {
    keep_in(&place(session)?, &kept.redacted(&Secrets::of_environment()))
}

fn load_from(path: &Path) -> Result<Kept, KeepError> {
    let failed = |cause| KeepError::Read {
        path: path.to_owned(),
        cause,
    };
    let text = match read_bytes(path, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
        text => text.map_err(failed)?,
    };
    serde_json::from_slice(&text).map_err(|error| KeepError::Damaged {
        path: path.to_owned(),
        what: error.to_string(),
    })
}

fn keep_in(path: &Path, kept: &Kept) -> Result<(), KeepError> {
    let failed = |cause| KeepError::Read {
        path: path.to_owned(),
        cause,
    };
    if kept.draft.is_empty() && kept.earlier.is_empty() {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    make_private(directory).map_err(failed)?;
    let earlier = latest(&kept.earlier);
    let text = serde_json::json!({"draft": kept.draft, "earlier": earlier}).to_string();
    Ok(atomic::write_private(path, text.as_bytes())?)
}

/// The latest drafts that fit together.
fn latest(earlier: &[Draft]) -> &[Draft] {
    let mut room = EARLIER;
    let fits = |draft: &&Draft| {
        let size: usize = draft.iter().map(Piece::len).sum();
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let count = earlier.iter().rev().take_while(fits).count();
    earlier.get(earlier.len() - count..).unwrap_or_default()
}

fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// The session's file: its name tells nothing, and two paths to one directory share it.
fn place(session: &Path) -> Result<PathBuf, KeepError> {
    use etcetera::BaseStrategy;
    let dirs = etcetera::choose_base_strategy().map_err(|_| KeepError::NoPlace)?;
    let state = dirs.state_dir().unwrap_or_else(|| dirs.data_dir());
    let session = session.canonicalize().unwrap_or_else(|_| session.to_owned());
    let digest = Sha256::digest(session.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Ok(state.join("fast-rlm").join("drafts").join(name + ".json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        Kept {
            draft: vec![
                Piece::Text("a\u{1b}".into()),
                Piece::Pasted("x\n".into()),
                Piece::File("/d/a b.csv".into()),
            ],
            earlier: vec![vec![Piece::Text("old".into())]],
        }
    }

    #[test]
    fn what_is_kept_comes_back_and_nothing_is_left_of_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("drafts/x.json");
        assert_eq!(load_from(&path).unwrap(), Kept::default());
        keep_in(&path, &kept()).unwrap();
        assert_eq!(load_from(&path).unwrap(), kept());
        keep_in(&path, &Kept::default()).unwrap();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it_whatever_was_there() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("drafts/x.json");
        keep_in(&path, &kept()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        keep_in(&path, &kept()).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn keys_are_not_kept() {
        let secrets = Secrets::default();
        secrets.register("X_API_KEY", "sk-0123456789").unwrap();
        let typed = Kept {
            draft: vec![Piece::Text("my key is sk-0123456789 ok".into())],
            earlier: vec![vec![
                Piece::Pasted("sk-0123456789".into()),
                Piece::File("/d/sk-0123456789".into()),
            ]],
        };
        let kept = typed.redacted(&secrets);
        assert_eq!(kept.draft, [Piece::Text("my key is [secret X_API_KEY] ok".into())]);
        assert!(!format!("{kept:?}").contains("0123456789"), "{kept:?}");
    }

    #[test]
    fn a_damaged_file_is_named_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        std::fs::write(&path, "{").unwrap();
        let error = load_from(&path).unwrap_err().to_string();
        assert!(error.contains("x.json") && error.contains("line 1"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }

    #[test]
    fn of_many_earlier_drafts_the_latest_are_kept() {
        let draft = |n: usize| vec![Piece::Text(format!("{n}{}", "x".repeat(EARLIER / 3)))];
        let all: Vec<Draft> = (0..5).map(draft).collect();
        assert_eq!(latest(&all), &all[3..]);
    }
}
