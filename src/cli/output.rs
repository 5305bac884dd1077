//! Writing to standard output and error.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use crate::text::SafeText;

/// Usage, or a target that cannot be read.
pub(super) const WRONG: u8 = 2;

/// Writes to standard output in large pieces. That a reader has seen enough (`| head`) is no error.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ExitCode {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is left in the buffer has no reader either.
            drop(out.into_parts());
            ExitCode::SUCCESS
        }
        Err(error) => {
            drop(out.into_parts());
            unwritten(&error)
        }
    }
}

/// Says that standard output takes nothing.
pub(super) fn unwritten(cause: &io::Error) -> ExitCode {
    note(&format!("cannot write to standard output: {cause}"));
    ExitCode::FAILURE
}

/// Says in one line on standard error what is wrong.
pub(super) fn complain(what: &str) -> ExitCode {
    note(what);
    ExitCode::from(WRONG)
}

/// Says something in one line on standard error.
pub(super) fn note(what: &str) {
    let line = format!("fast-rlm-log: {}\n", SafeText::line(what));
    // There is nowhere else to say it.
    let _ = io::stderr().write_all(line.as_bytes());
}
