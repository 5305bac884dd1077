//! The terminal: taken over whole, given back whatever happens, written to in single strokes.
//!
//! [`Terminal`] is the only writer. Signals, hang-ups and panics each have a file of their own; what is drawn, and
//! when, is decided elsewhere.

mod guard;
mod hangup;
mod input;
mod loan;
mod paint;
mod panic;
mod quiet;
mod signals;

pub use guard::{Modes, restore};
pub use hangup::watch as watch_hangup;
pub use input::{Ground, GroundListener, Heard};
pub use loan::run as run_with_terminal;
pub use paint::Painter;
pub use panic::install as install_panic_hook;
pub use signals::{Signal, Signals, has_job_control, stop_group};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use std::io;

/// Asks the terminal for the colour of its ground (OSC 11).
const ASK_GROUND: &[u8] = b"\x1b]11;?\x1b\\";

/// Why the terminal program cannot start here.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// Input or output is not a terminal.
    #[error("--tui needs a terminal, and {0} is none; --stats prints the same facts as text")]
    NotATerminal(&'static str),
    /// `TERM` says that nothing can be drawn.
    #[error("--tui cannot draw on TERM={0:?}; --stats prints the same facts as text")]
    Dumb(String),
    /// The terminal refused.
    #[error("the terminal cannot be used: {0}")]
    Io(#[from] io::Error),
}

/// Whether the terminal program can run here; touches nothing.
///
/// # Errors
/// Input or output is no terminal, or `TERM` is unset or `dumb`.
pub fn check() -> Result<(), TerminalError> {
    use std::io::IsTerminal;
    if !io::stdout().is_terminal() {
        return Err(TerminalError::NotATerminal("the output"));
    }
    if !io::stdin().is_terminal() {
        return Err(TerminalError::NotATerminal("the input"));
    }
    let term = std::env::var("TERM").unwrap_or_default();
    if cfg!(unix) && (term.is_empty() || term == "dumb") {
        return Err(TerminalError::Dumb(term));
    }
    Ok(())
}

/// The terminal while it is ours. Dropping it gives it back.
pub struct Terminal {
    modes: Modes,
    painter: Painter,
}

impl Terminal {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// The terminal refused; it is as it was before.
    pub fn enter(modes: Modes) -> Result<Self, TerminalError> {
        let size = Self::size();
        guard::enter(modes)?;
        Ok(Self {
            modes,
            painter: Painter::new(size),
        })
    }

    /// The present size; 80×24 where the terminal does not say.
    pub fn size() -> Size {
        let (width, height) = crossterm::terminal::size().unwrap_or((80, 24));
        Size { width, height }
    }

    /// Paints a frame: the cells that changed, in one write. Nothing is written when nothing changed.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn paint(&mut self, frame: &Buffer, cursor: Option<Position>) -> io::Result<()> {
        let bytes = self.painter.paint(frame, cursor)?;
        if bytes.is_empty() {
            Ok(())
        } else {
            guard::write_frame(bytes)
        }
    }

    /// A buffer of the size that is painted next.
    pub fn blank(size: Size) -> Buffer {
        Buffer::empty(Rect::new(0, 0, size.width, size.height))
    }

    /// Asks for the colour of the terminal's ground; the answer comes as keys, see [`GroundListener`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask_ground(&mut self) -> io::Result<()> {
        guard::write_frame(ASK_GROUND)
    }

    /// Gives the terminal back for as long as `meanwhile` runs: to a shell, to an editor. Events must not be read then.
    /// It is not taken again where a signal has begun to end us: it may be gone.
    ///
    /// # Errors
    /// The terminal cannot be taken back.
    pub fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        signals::set_lent(true);
        let result = meanwhile();
        signals::set_lent(false);
        if !loan::is_ending() {
            self.take_back()?;
        }
        Ok(result)
    }

    /// Sets everything anew, as after `fg`: a shell may have changed it meanwhile.
    ///
    /// # Errors
    /// The terminal refused.
    pub fn take_back(&mut self) -> io::Result<()> {
        guard::enter(self.modes)?;
        self.painter.forget();
        Ok(())
    }

    /// The next frame is painted whole. A terminal whose size changed may have cut what it showed, even where it has the
    /// size again that the last frame was painted for: sizes between are not always told.
    pub fn resized(&mut self) {
        self.painter.forget();
    }
}

/// Sends the terminal what is no frame (OSC 52), in one write between two frames, from any thread.
///
/// # Errors
/// The terminal is gone.
pub fn send(bytes: &[u8]) -> io::Result<()> {
    guard::write_frame(bytes)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}
