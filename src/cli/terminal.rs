//! What standard output and error lead to.

#[cfg(feature = "engine")]
use crate::text::SafeText;
use crate::text::cut;
use std::io::IsTerminal;

/// Columns of text that goes into a pipe or a file.
const PIPED_COLUMNS: usize = 120;
/// Fewer columns than this are no use to text.
const FEWEST_COLUMNS: usize = 40;

/// Columns of a terminal that does not say how many it has.
const USUAL_COLUMNS: usize = 80;

/// How text is written to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Columns that one line may take where it is cut.
    pub(super) columns: usize,
    /// Labels and names stand out.
    pub(super) styled: bool,
    /// ASCII only.
    pub(super) ascii: bool,
    /// Times in UTC.
    pub(super) utc: bool,
}

impl Look {
    pub(super) fn new(ascii: bool, utc: bool) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let columns = if terminal { columns() } else { PIPED_COLUMNS };
        Self {
            columns,
            styled: terminal && !is_set("NO_COLOR") && !is_dumb(),
            ascii: ascii || (terminal && !is_utf8_locale()),
            utc,
        }
    }
}

/// Columns of the terminal that standard output leads to; `None` where it leads elsewhere: then nothing is cut.
#[cfg(feature = "engine")]
pub(super) fn width() -> Option<usize> {
    std::io::stdout().is_terminal().then(columns)
}

/// A path as it can be pasted into a command.
#[cfg(feature = "engine")]
pub(super) fn shell_word(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    // Else it would be an option.
    let here = if text.starts_with('-') { "./" } else { "" };
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    let word = match text.chars().all(plain) {
        true => format!("{here}{text}"),
        false => format!("'{here}{}'", text.replace('\'', r"'\''")),
    };
    SafeText::line(&word).as_str().to_owned()
}

/// Why the terminal program cannot run here; `None` when it can.
pub(super) fn refuses_screens() -> Option<String> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Some("--tui needs a terminal, not a pipe or a file: use --stats for text, or --json".into());
    }
    if is_dumb() {
        return Some("--tui needs a terminal, and TERM is not set or is `dumb`: use --stats for text".into());
    }
    None
}

/// Standard output and input are a terminal.
pub(super) fn is_interactive() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// What fits in one row of the terminal that standard error leads to, of a line that is drawn again and again: of a
/// longer one every drawing would leave a row behind. The last column stays free: some terminals go on to the next row
/// there.
pub(super) fn one_row(line: &str) -> &str {
    cut(line, error_columns().unwrap_or(USUAL_COLUMNS).saturating_sub(1)).0
}

/// Columns of the terminal that standard error leads to, if it says so.
#[cfg(unix)]
fn error_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn error_columns() -> Option<usize> {
    let (columns, _) = ratatui::crossterm::terminal::size().ok()?;
    Some(columns.into())
}

fn columns() -> usize {
    let columns = ratatui::crossterm::terminal::size().map_or(USUAL_COLUMNS, |(columns, _)| usize::from(columns));
    columns.max(FEWEST_COLUMNS)
}

fn is_dumb() -> bool {
    cfg!(unix) && std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The locale's characters are UTF-8; so are those of a locale that says nothing, but for `C` and `POSIX`.
fn is_utf8_locale() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
