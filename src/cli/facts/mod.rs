//! `--json`: placeholder until the JSON writer lands.

use std::io;

pub(super) fn write_session<T>(_out: &mut dyn io::Write, _session: &T) -> io::Result<()> {
    Ok(())
}

pub(super) fn write_sessions<T>(_out: &mut dyn io::Write, _dir: &std::path::Path, _rows: &[T]) -> io::Result<()> {
    Ok(())
}
