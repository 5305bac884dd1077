//! Which Python there is, and how this kernel can shut it in.

use crate::repl::error::PrepareError;
use crate::repl::kernel;
use serde::Deserialize;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The kernel's Python needs it.
const OLDEST: (u32, u32) = (3, 11);

/// An interpreter that can be used.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Interpreter {
    /// Itself, and not what finds it: version managers put scripts on `PATH`.
    pub(super) executable: PathBuf,
    version: (u32, u32, u32),
    /// Version of Landlock; 0 without.
    landlock: u32,
    seccomp: bool,
}

impl Interpreter {
    /// Asks the program of this name.
    pub(super) fn find(program: &str) -> Result<Self, PrepareError> {
        let refused = |reason: String| Err(PrepareError::NoPython(reason));
        if !cfg!(target_os = "linux") {
            return refused("the python3 backend needs Linux".into());
        }
        let source = format!("{}\nimport json\nprint(json.dumps(probe()))\n", kernel::HARDEN);
        let asked = Command::new(program)
            .args(["-c", &source])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .output();
        let answer = match asked {
            Ok(answer) => answer,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refused(format!("{program} is not installed, or not on PATH"));
            }
            Err(error) => return refused(format!("{program} cannot be started: {error}")),
        };
        let words = String::from_utf8_lossy(&answer.stderr);
        let last = words.trim().lines().last().unwrap_or("it said nothing");
        let Ok(found) = serde_json::from_slice::<Self>(&answer.stdout) else {
            return refused(format!("{program} cannot be used ({last})"));
        };
        let (major, minor, patch) = found.version;
        if (major, minor) < OLDEST {
            return refused(format!("{program} is Python {major}.{minor}.{patch}, which is too old"));
        }
        Ok(found)
    }

    pub(super) fn isolation(&self) -> String {
        let (major, minor, patch) = self.version;
        let files = match self.landlock {
            0 => "files of this user NOT protected (no Landlock)",
            _ => "of the files only Python's own readable (Landlock)",
        };
        let rest = match self.seccomp {
            true => "no network and no processes (seccomp)",
            false => "network and processes NOT denied (no seccomp)",
        };
        format!(
            "The REPL is Python {major}.{minor}.{patch} ({}) in a process of its own, not the sandbox: {files}, {rest}, \
             time and memory limited",
            self.executable.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_too_old_is_said_with_what_to_install() {
        let told = |program: &str| Interpreter::find(program).unwrap_err().to_string();
        let missing = told("no-such-python-here");
        assert!(
            missing.contains("no-such-python-here is not installed") && missing.contains("apt install"),
            "{missing}"
        );
        assert!(told("false").contains("cannot be used"));
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("python3");
        let text =
            "#!/bin/sh\necho '{\"executable\": \"x\", \"version\": [3, 9, 2], \"landlock\": 0, \"seccomp\": true}'\n";
        std::fs::write(&old, text).unwrap();
        std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let told = told(old.to_str().unwrap());
        assert!(
            told.contains("Python 3.9.2, which is too old") && told.contains("3.11"),
            "{told}"
        );
    }

    #[test]
    fn what_is_not_isolated_is_said_aloud() {
        let bare = Interpreter {
            executable: "/usr/bin/python3".into(),
            version: (3, 12, 1),
            landlock: 0,
            seccomp: false,
        };
        assert_eq!(bare.isolation().matches("NOT").count(), 2);
    }
}
