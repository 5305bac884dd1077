//! The private directory of an ephemeral session, which goes in every way in which [`PrivateDir`]s do.

use super::error::Error;
use crate::disk::private_dir::{self, PrivateDir};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A directory that only this user can enter and that is removed when it is dropped, and when the program exits.
#[derive(Debug)]
pub struct EphemeralDir(PrivateDir);

impl EphemeralDir {
    /// Makes one in the system's directory for temporary files.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn new() -> Result<Self, Error> {
        PrivateDir::new("session").map(Self).map_err(|cause| Error::File {
            path: std::env::temp_dir(),
            doing: "making a directory in",
            cause,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes it now. One that is gone already is no error.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn remove(&self) -> Result<(), Error> {
        self.0.remove().map_err(|cause| Error::File {
            path: self.path().to_owned(),
            doing: "removing",
            cause,
        })
    }
}

/// Removes the directories of ephemeral sessions, and whatever else is temporary, when SIGINT, SIGTERM or SIGHUP ends the program, which it still does.
///
/// For programs that leave these signals alone; call it once, early. A program that handles them itself needs no help
/// as long as it ends by returning from `main` or by [`std::process::exit`], and must not call this: it would be ended
/// in the middle of its own handling.
///
/// # Errors
///
/// The system's own.
pub fn remove_on_signals() -> io::Result<()> {
    static LISTENING: Mutex<bool> = Mutex::new(false);
    let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
    if *listening {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        for signal in signals.forever() {
            private_dir::remove_all();
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new()
        .name("fast-rlm-signals".into())
        .spawn(listen)?;
    *listening = true;
    Ok(())
}
