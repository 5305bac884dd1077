//! Handing text to a person's own program: a private temporary file, and the command that opens it.
//!
//! Giving the terminal away and taking it back is `term`'s.

use crate::disk::private_dir::PrivateDir;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What a program is wanted for. A pager shows a text, and cannot change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To read it.
    Read,
    /// To change it.
    Edit,
}

impl Purpose {
    /// Variables that name a program, in order.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["VISUAL", "EDITOR", "PAGER"],
            Self::Edit => &["VISUAL", "EDITOR"],
        }
    }

    /// Programs that are tried, in order, where no variable names one.
    fn defaults(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["less", "more", "vi"],
            Self::Edit => &["vi", "nano"],
        }
    }
}

/// Why text cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No variable names a program, and none of the usual ones is there.
    #[error("no program to open text with: set VISUAL, EDITOR or PAGER")]
    NoProgram,
    /// No variable names an editor, and none of the usual ones is there.
    #[error("no editor to write with: set $EDITOR")]
    NoEditor,
    /// A variable cannot be read as a command.
    #[error("{variable} is no command: {why}; it is read as words, with '…', \"…\" and \\ for quoting")]
    BadCommand {
        /// Its name.
        variable: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// The temporary file could not be written.
    #[error("cannot write a temporary file in {dir}: {error}; set TMPDIR to a directory that is writable")]
    File {
        /// Where.
        dir: PathBuf,
        /// The cause.
        #[source]
        error: io::Error,
    },
}

/// Text that lies ready to be opened. The file is removed when this is dropped.
#[derive(Debug)]
pub struct HandOff {
    words: Vec<OsString>,
    file: PathBuf,
    _dir: PrivateDir,
}

impl HandOff {
    /// Writes `text` to a temporary file that only its owner can read, and finds the program to open it with.
    /// `extension` (`py`, `json`) lets the program colour it.
    ///
    /// # Errors
    ///
    /// When there is no program, its variable cannot be read, or the file cannot be written.
    pub fn prepare(
        text: &str,
        extension: &'static str,
        purpose: Purpose,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, OpenError> {
        let words = command(purpose, environment)?;
        let failed = |error| OpenError::File {
            dir: std::env::temp_dir(),
            error,
        };
        let dir = PrivateDir::new("text").map_err(failed)?;
        let file = write(text, extension, dir.path()).map_err(failed)?;
        Ok(Self { words, file, _dir: dir })
    }

    /// The command, with the file as its last argument.
    pub fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new("less"), OsString::as_os_str));
        command.args(words).arg(&self.file);
        command
    }

    /// What went wrong with the program, in words; `None` when it did what it was asked for.
    pub fn trouble(&self, ended: &io::Result<ExitStatus>) -> Option<String> {
        let program = self
            .words
            .first()
            .map_or(Cow::Borrowed("less"), |word| word.to_string_lossy());
        match ended {
            Err(error) => Some(format!("cannot start {program}: {error}")),
            Ok(status) if status.success() => None,
            Ok(status) => Some(match status.code() {
                Some(code) => format!("{program} ended with status {code}"),
                None => format!("{program} was broken off ({status})"),
            }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

/// The mode is 0600 from the start.
fn write(text: &str, extension: &'static str, dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(format!("fast-rlm.{extension}"));
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .write(true)
        .create_new(true)
        .open(&path)?
        .write_all(text.as_bytes())?;
    Ok(path)
}

/// The first variable that is set to something, else the first usual program on the path.
fn command(purpose: Purpose, environment: impl Fn(&str) -> Option<OsString>) -> Result<Vec<OsString>, OpenError> {
    for variable in purpose.variables().iter().copied() {
        let Some(value) = environment(variable).filter(|value| !value.is_empty()) else {
            continue;
        };
        // A value that is no UTF-8 can only be a path.
        let Some(line) = value.to_str() else {
            return Ok(vec![value]);
        };
        let words = words(line).map_err(|why| OpenError::BadCommand { variable, why })?;
        if !words.is_empty() {
            return Ok(words.into_iter().map(OsString::from).collect());
        }
    }
    let path = environment("PATH").unwrap_or_default();
    let installed = |name: &&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let found = purpose.defaults().iter().find(|name| installed(name));
    found.map(|name| vec![OsString::from(*name)]).ok_or(match purpose {
        Purpose::Read => OpenError::NoProgram,
        Purpose::Edit => OpenError::NoEditor,
    })
}

/// Splits a command line into words as a shell does, without expanding anything.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word
                .get_or_insert_default()
                .push(chars.next().ok_or("it ends in a backslash")?),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("vim", &["vim"])]
    #[case("code --wait -n", &["code", "--wait", "-n"])]
    #[case("'/opt/my editor/ed' \"a b\" c\\ d", &["/opt/my editor/ed", "a b", "c d"])]
    #[case("ed ''", &["ed", ""])]
    #[case("  less\t-R ", &["less", "-R"])]
    #[case("e $HOME `id` ; rm", &["e", "$HOME", "`id`", ";", "rm"])]
    fn command_lines_are_words(#[case] line: &str, #[case] expected: &[&str]) {
        assert_eq!(words(line).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = command(Purpose::Edit, |name| (name == "EDITOR").then(|| "vi 'x".into())).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("EDITOR is no command: a quote is not closed"),
            "{error}"
        );
        assert!(words("vi \\").is_err());
    }

    #[test]
    fn visual_goes_before_editor_and_editor_before_pager() {
        let set = |names: &'static [&str]| move |name: &str| names.contains(&name).then(|| OsString::from(name));
        assert_eq!(
            command(Purpose::Read, set(&["PAGER", "EDITOR", "VISUAL"])).unwrap(),
            ["VISUAL"]
        );
        assert_eq!(command(Purpose::Read, set(&["PAGER", "EDITOR"])).unwrap(), ["EDITOR"]);
        assert_eq!(command(Purpose::Read, set(&["PAGER"])).unwrap(), ["PAGER"]);
    }

    #[test]
    fn without_variables_the_path_decides() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().as_os_str().to_owned();
        let found = |purpose| command(purpose, |name| (name == "PATH").then(|| path.clone()));
        std::fs::write(dir.path().join("more"), "").unwrap();
        assert_eq!(found(Purpose::Read).unwrap(), ["more"]);
        assert!(matches!(command(Purpose::Read, |_| None), Err(OpenError::NoProgram)));
        let none = found(Purpose::Edit).unwrap_err();
        assert_eq!(none.to_string(), "no editor to write with: set $EDITOR");
        std::fs::write(dir.path().join("nano"), "").unwrap();
        assert_eq!(found(Purpose::Edit).unwrap(), ["nano"]);
        std::fs::write(dir.path().join("vi"), "").unwrap();
        assert_eq!(found(Purpose::Edit).unwrap(), ["vi"]);
    }

    #[test]
    fn nothing_is_edited_in_a_pager() {
        let of = |name: &str| match name {
            "PAGER" => Some(OsString::from("less")),
            _ => None,
        };
        assert_eq!(command(Purpose::Read, of).unwrap(), ["less"]);
        assert!(matches!(command(Purpose::Edit, of), Err(OpenError::NoEditor)));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_opened_by_the_command_and_removed_afterwards() {
        use std::os::unix::fs::PermissionsExt as _;
        let hand_off = HandOff::prepare("words\n", "json", Purpose::Read, |name| {
            (name == "EDITOR").then(|| "cat".into())
        })
        .unwrap();
        let path = hand_off.path().to_owned();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, "fast-rlm.json");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(hand_off.command().output().unwrap().stdout, b"words\n");
        drop(hand_off);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}
