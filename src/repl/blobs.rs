//! Streams of bytes that the guest reads from the host: the context, and the pickles of a restore.

use super::api::{Context, ContextKind, Pickle, RestoreSet, StartOptions};
use super::error::ReplError;
use crate::disk::files::open_regular;
use base64::Engine as _;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// What can be read while a session starts.
pub(super) struct Blobs {
    context: Context,
    restore: Arc<RestoreSet>,
}

impl Blobs {
    pub(super) fn new(options: &StartOptions, restore: Arc<RestoreSet>) -> Self {
        Self {
            context: options.context.clone(),
            restore,
        }
    }

    /// Opens `context` or `variable <index>`.
    ///
    /// # Errors
    /// A sentence for the guest: there is no such blob, or it is damaged.
    pub(super) fn open(&self, name: &str) -> Result<Blob, String> {
        if name == "context" {
            return context_blob(&self.context);
        }
        let index = name
            .strip_prefix("variable ")
            .and_then(|index| index.parse::<usize>().ok());
        let variable = index.and_then(|index| self.restore.variables.get(index));
        match &variable.ok_or_else(|| format!("there is no blob {name:?}"))?.pickle {
            Pickle::Bytes(bytes) => Ok(Blob::Shared(bytes.clone(), 0)),
            Pickle::Base64(text) => {
                let decoded = base64::engine::general_purpose::STANDARD.decode(text.as_bytes());
                decoded
                    .map(|bytes| Blob::Shared(bytes.into(), 0))
                    .map_err(|e| format!("the saved pickle is damaged: {e}"))
            }
        }
    }
}

fn context_blob(context: &Context) -> Result<Blob, String> {
    match context {
        Context::Nothing => Err("there is no context".into()),
        Context::Text(text) => Ok(Blob::Text(text.clone(), 0)),
        Context::Json(value) => {
            let bytes = serde_json::to_vec(value.as_ref()).map_err(|error| error.to_string())?;
            Ok(Blob::Shared(bytes.into(), 0))
        }
        Context::File { path, .. } => open_regular(path)
            .map(|(file, _)| Blob::File(file))
            .map_err(|error| error.to_string()),
    }
}

/// How the guest is to read the context.
pub(super) fn context_kind(context: &Context) -> &'static str {
    match context {
        Context::Nothing => "nothing",
        Context::Text(_)
        | Context::File {
            kind: ContextKind::Text,
            ..
        } => "text",
        Context::Json(_)
        | Context::File {
            kind: ContextKind::Json,
            ..
        } => "json",
        Context::File {
            kind: ContextKind::JsonLines,
            ..
        } => "json_lines",
    }
}

/// Checks what the host can check before it starts an instance.
pub(super) fn check_context(context: &Context) -> Result<(), ReplError> {
    match context {
        Context::File { path, .. } => match open_regular(path) {
            Ok(_) => Ok(()),
            Err(source) => Err(ReplError::Context {
                path: path.clone(),
                source,
            }),
        },
        _ => Ok(()),
    }
}

/// A stream that is being read, with its position.
pub(super) enum Blob {
    Text(Arc<str>, usize),
    Shared(Arc<[u8]>, usize),
    File(File),
}

impl Blob {
    /// The next piece of at most `length` bytes; empty at the end.
    pub(super) fn read(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Text(text, at) => Ok(piece(text.as_bytes(), at, length)),
            Self::Shared(bytes, at) => Ok(piece(bytes, at, length)),
            Self::File(file) => {
                let mut buffer = Vec::new();
                file.take(length as u64).read_to_end(&mut buffer)?;
                Ok(buffer)
            }
        }
    }
}

fn piece(bytes: &[u8], at: &mut usize, length: usize) -> Vec<u8> {
    let rest = bytes.get(*at..).unwrap_or_default();
    let piece = rest.split_at_checked(length).map_or(rest, |(piece, _)| piece);
    *at += piece.len();
    piece.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_read_in_pieces_to_its_end() {
        let mut blob = Blob::Text("abcde".into(), 0);
        let pieces: Vec<_> = (0..4).map(|_| blob.read(2).unwrap()).collect();
        assert_eq!(pieces, [b"ab".to_vec(), b"cd".to_vec(), b"e".to_vec(), vec![]]);
    }

    #[test]
    fn a_damaged_base64_is_an_error_and_not_an_empty_pickle() {
        let variable = super::super::api::SavedVariable {
            name: "x".into(),
            pickle: Pickle::Base64("!!".into()),
            comment: None,
            note: None,
            committed: false,
        };
        let restore = Arc::new(RestoreSet {
            variables: vec![variable],
            ..RestoreSet::default()
        });
        let blobs = Blobs::new(&StartOptions::default(), restore);
        assert!(blobs.open("variable 0").err().unwrap().contains("damaged"));
        assert!(blobs.open("variable 1").is_err());
    }
}
