//! Session directories: state.json, transcripts, finding logs, atomic writes, the lock. Knows nothing of engine or
//! screens.

pub(crate) mod advice;
pub mod atomic;
pub(crate) mod cache;
pub mod config;
pub(crate) mod descriptors;
pub mod fault;
pub(crate) mod files;
mod final_value;
pub(crate) mod json;
mod lenient;
pub mod lock;
pub mod logs;
pub(crate) mod making;
pub(crate) mod part_file;
pub(crate) mod private_dir;
pub mod state_doc;
pub mod state_file;
pub mod transcript;
pub mod transcript_writer;
pub(crate) mod whole;

/// Whether a file is UTF-16 by its first bytes.
pub(crate) fn starts_as_utf16(file: &std::fs::File) -> bool {
    let mut head = [0; 4];
    files::read_at(file, &mut head, 0).is_ok_and(|read| is_utf16(head.get(..read).unwrap_or_default()))
}

/// The first bytes of a file are UTF-16: a byte order mark, or every other one of ASCII text is NUL.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [first, 0, second, 0, ..] => *first != 0 && *second != 0,
        [0, first, 0, second, ..] => *first != 0 && *second != 0,
        _ => false,
    }
}
