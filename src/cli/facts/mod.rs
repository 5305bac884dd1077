//! `--json`: the facts of `--stats` and of every step, whole, for scripts. Documented in docs/log-json.md.
//!
//! Runs are written one by one, so that the text of a large session is never held as a whole. Text is as recorded:
//! what a terminal would act on is escaped.

mod memory;
mod run;
mod session;
mod sessions;

use super::stats::SessionRow;
use crate::model::Session;
use crate::text::shown_json;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Format of the documents; a change that breaks readers raises the number.
const FORMAT: &str = "fast-rlm-log/1";

/// The facts of a session or of a single transcript, as one JSON object.
pub(super) fn write_session(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    session::write(out, session)
}

/// A directory of sessions, as one JSON object.
pub(super) fn write_sessions(out: &mut dyn Write, dir: &Path, rows: &[SessionRow]) -> io::Result<()> {
    put(out, &sessions::Listing::of(dir, rows))?;
    out.write_all(b"\n")
}

fn put(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(shown_json(&serde_json::to_string(value)?).as_bytes())
}
