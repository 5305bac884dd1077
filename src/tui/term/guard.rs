//! Modes of the terminal: set on entering, and taken back from wherever the program ends.

use super::quiet;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// What is switched on beside raw mode and the alternate screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Presses, drags and the wheel are reported. Plain movement never is: it would wake the program for nothing.
    pub mouse: bool,
}

/// The alternate screen, no cursor, bracketed paste, word of whether the terminal has the attention; what a terminal
/// takes for wider than it is stays in its row.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h\x1b[?7l";
const ENTER_MOUSE: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// The end of a frame that may have been begun, no styles, and all modes off, whichever were on.
const LEAVE: &str =
    "\x1b[?2026l\x1b[0m\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Whether the terminal is ours now. The lock is held while modes change, so that two threads that end the program at
/// once do not do it twice.
static OURS: Mutex<bool> = Mutex::new(false);

/// How long giving back waits for a write that is under way: a stalled terminal must not keep the program alive.
const PATIENCE: Duration = Duration::from_millis(150);

/// Takes the terminal over, or sets everything anew if it is ours already; on failure it is as before.
pub(super) fn enter(modes: Modes) -> io::Result<()> {
    let mut ours = lock();
    if *ours {
        // A shell may have changed the modes behind our back: crossterm sets raw mode anew only after leaving it.
        let _ = crossterm::terminal::disable_raw_mode();
    }
    crossterm::terminal::enable_raw_mode()?;
    *ours = true;
    let written = write(ENTER).and_then(|()| if modes.mouse { write(ENTER_MOUSE) } else { Ok(()) });
    if let Err(error) = written {
        drop(ours);
        restore();
        return Err(error);
    }
    quiet::begin();
    Ok(())
}

/// Gives the terminal back, if it is ours. Safe to call from any thread, any number of times.
pub fn restore() {
    let mut ours = lock_in_time();
    let was_ours = ours.as_mut().is_none_or(|ours| std::mem::take(&mut **ours));
    if !was_ours {
        return;
    }
    // Nothing can be done about failures here: the terminal is likely gone.
    let _ = write(LEAVE);
    drop_pending_input();
    let _ = crossterm::terminal::disable_raw_mode();
    quiet::end();
}

/// Writes a frame, if the terminal is ours: once it was given back, no thread may draw on it.
pub(super) fn write_frame(bytes: &[u8]) -> io::Result<()> {
    let ours = lock();
    if !*ours {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn lock() -> MutexGuard<'static, bool> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_in_time() -> Option<MutexGuard<'static, bool>> {
    let since = Instant::now();
    loop {
        match OURS.try_lock() {
            Ok(ours) => return Some(ours),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if since.elapsed() > PATIENCE => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Reports of the mouse that were under way would be typed into the shell.
fn drop_pending_input() {
    #[cfg(unix)]
    {
        let _ = rustix::termios::tcdrain(io::stdout());
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// Writes past any lock that a panicking thread may hold: `Stdout`'s is reentrant for its own thread only, so a second
/// descriptor is used.
fn write(text: &str) -> io::Result<()> {
    #[cfg(unix)]
    {
        let out = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        std::fs::File::from(out).write_all(text.as_bytes())
    }
    #[cfg(not(unix))]
    {
        let mut out = io::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}
