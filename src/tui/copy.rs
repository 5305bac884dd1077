//! Copying text: to the desktop's clipboard where there is one, else through the terminal (OSC 52).
//!
//! The caller says what is copied, and shows what [`Copied`] says: which way it went.

#[cfg(feature = "clipboard")]
use crate::source::need_threads;
use crossterm::QueueableCommand;
use crossterm::clipboard::CopyToClipboard;
use std::ffi::OsString;
use std::fmt;
use std::io::Write;

/// Most bytes of text that OSC 52 is used for: terminals drop longer sequences, some from 100,000 bytes of base64 on,
/// the strictest above 74,994.
pub const OSC_52_LIMIT: usize = 74_994 / 4 * 3;

/// Which way text went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the desktop's clipboard.
    Native,
    /// To the terminal, which may keep it from its clipboard without saying so.
    Osc52,
}

/// Text was copied. Displays as the line to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Which way.
    pub way: Way,
    /// Bytes.
    pub bytes: usize,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = crate::text::plural(self.bytes as u128, "byte", "bytes");
        match self.way {
            Way::Native => write!(f, "copied {bytes} to the clipboard"),
            Way::Osc52 => write!(f, "copied {bytes} through the terminal (OSC 52; it must allow that)"),
        }
    }
}

/// Why nothing was copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// No clipboard of the desktop's, and too long for the terminal.
    #[error("{bytes} bytes are too many to copy through the terminal (at most {OSC_52_LIMIT}): open it with e instead")]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// The terminal could not be written to.
    #[error("cannot copy through the terminal: {0}")]
    Terminal(#[from] std::io::Error),
}

/// The way to the clipboard. Keep it as long as the program runs: on some desktops the copied text goes with it.
pub struct Clipboard {
    native: Option<Box<dyn Native>>,
}

/// A desktop's clipboard.
trait Native: Send {
    /// Whether it took the text.
    fn set(&mut self, text: &str) -> bool;
}

#[cfg(feature = "clipboard")]
impl Native for arboard::Clipboard {
    fn set(&mut self, text: &str) -> bool {
        self.set_text(text).is_ok()
    }
}

impl Clipboard {
    /// Connects to the desktop's clipboard, unless the session is a remote one (`SSH_CONNECTION`, `SSH_TTY`): then
    /// the desktop in front of the person is behind the terminal.
    pub fn open(environment: impl Fn(&str) -> Option<OsString>) -> Self {
        let remote = ["SSH_CONNECTION", "SSH_TTY"]
            .iter()
            .any(|name| environment(name).is_some());
        Self {
            native: if remote { None } else { native() },
        }
    }

    /// Copies `text`. What goes to `terminal` is one escape sequence that holds the text in base64.
    ///
    /// # Errors
    ///
    /// Without a desktop's clipboard: when the text is over [`OSC_52_LIMIT`] or the terminal cannot be written to.
    pub fn copy(&mut self, text: &str, terminal: &mut dyn Write) -> Result<Copied, CopyError> {
        let bytes = text.len();
        if self.native.as_mut().is_some_and(|native| native.set(text)) {
            return Ok(Copied {
                way: Way::Native,
                bytes,
            });
        }
        if bytes > OSC_52_LIMIT {
            return Err(CopyError::TooLong { bytes });
        }
        terminal.queue(CopyToClipboard::to_clipboard_from(text))?.flush()?;
        Ok(Copied { way: Way::Osc52, bytes })
    }
}

#[cfg(feature = "clipboard")]
fn native() -> Option<Box<dyn Native>> {
    // It takes a thread on some desktops, and would panic without.
    need_threads(2).ok()?;
    let clipboard = arboard::Clipboard::new().ok()?;
    Some(Box::new(clipboard))
}

#[cfg(not(feature = "clipboard"))]
fn native() -> Option<Box<dyn Native>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    struct Desktop(Arc<Mutex<Vec<String>>>);

    impl Native for Desktop {
        fn set(&mut self, text: &str) -> bool {
            self.0.lock().unwrap().push(text.to_owned());
            !text.is_empty()
        }
    }

    fn remote() -> Clipboard {
        Clipboard::open(|name| (name == "SSH_TTY").then(|| "/dev/pts/1".into()))
    }

    #[test]
    fn a_remote_session_copies_through_the_terminal() {
        let mut terminal = Vec::new();
        let copied = remote().copy("a\u{1b}[2J\tb", &mut terminal).unwrap();
        assert_eq!((copied.way, copied.bytes), (Way::Osc52, 7));
        assert_eq!(String::from_utf8(terminal).unwrap(), "\u{1b}]52;c;YRtbMkoJYg==\u{1b}\\");
    }

    #[test]
    fn a_text_over_the_limit_is_refused_and_not_cut() {
        let mut terminal = Vec::new();
        let error = remote().copy(&"x".repeat(OSC_52_LIMIT + 1), &mut terminal).unwrap_err();
        assert!(terminal.is_empty() && error.to_string().contains("56244"), "{error}");
        assert!(remote().copy(&"x".repeat(OSC_52_LIMIT), &mut terminal).is_ok());
        assert!(terminal.len() < 75_010);
    }

    #[test]
    fn a_desktop_goes_first_and_the_terminal_second() {
        let held = Arc::new(Mutex::new(Vec::new()));
        let mut clipboard = Clipboard {
            native: Some(Box::new(Desktop(held.clone()))),
        };
        let mut terminal = Vec::new();
        assert_eq!(clipboard.copy("text", &mut terminal).unwrap().way, Way::Native);
        assert!(terminal.is_empty());
        assert_eq!(*held.lock().unwrap(), ["text"]);
        assert_eq!(clipboard.copy("", &mut terminal).unwrap().way, Way::Osc52);
    }

    #[test]
    fn the_line_says_which_way_it_went() {
        let line = |way| Copied { way, bytes: 1_234 }.to_string();
        assert_eq!(line(Way::Native), "copied 1,234 bytes to the clipboard");
        assert!(line(Way::Osc52).contains("OSC 52"));
    }
}
