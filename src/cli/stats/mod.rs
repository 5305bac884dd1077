//! `--stats`: the facts as text, a line a field, aligned; stable, and plain when it goes into a pipe.

mod notation;
mod session;
mod sessions;
mod sheet;
mod transcript;

pub(super) use sessions::{SessionRow, measure, write_sessions};

use std::io::{self, Write};

use crate::model::{Session, TargetKind};

use super::terminal::Look;

/// The facts of a session or of a single transcript.
pub(super) fn write_session(out: &mut dyn Write, session: &Session, look: Look) -> io::Result<()> {
    match session.facts.target {
        TargetKind::Session => session::write(out, session, look),
        TargetKind::Transcript => transcript::write(out, session, look),
    }
}
