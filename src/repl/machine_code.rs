//! Loads the compiled interpreter: the one place of this room that needs `unsafe`.

use std::path::Path;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Maps compiled machine code into the process.
///
/// The caller makes sure that the file is one that this program compiled and nobody else could change since
/// (`cache::Entry::is_ready`).
#[allow(unsafe_code)]
pub(super) fn load(engine: &Engine, file: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `Component::deserialize_file` demands that the file holds what `precompile_component` made. `Entry`
    // hands out only files in a directory that this user or root alone can write to, written by `prepare`, and whose
    // length, modification time and, where that time differs, SHA-256 are those recorded when it was written. Wasmtime
    // itself refuses files of another version or of other settings. Entries are replaced by renaming directories,
    // never written in place, so a mapped file does not change.
    unsafe { Component::deserialize_file(engine, file) }
}
