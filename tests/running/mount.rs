//! File systems that are mounted for a test, where it may do that.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says why a test proves nothing here. Not `eprintln!`: the harness would hide it.
pub(crate) fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// A file system mounted for a test.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// `None`, and a word about it, where mounting is not allowed.
    pub(crate) fn new(on: &Path, args: &[&str]) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(args).arg(on).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Some(Self(on.to_owned()));
        }
        skip("no file system can be mounted here; run as root to try this");
        None
    }

    pub(crate) fn full(on: &Path, kib: u32) -> Option<Self> {
        Self::new(on, &["-t", "tmpfs", "-o", &format!("size={kib}k"), "none"])
    }

    pub(crate) fn read_only(on: &Path) -> Option<Self> {
        let mount = Self::new(on, &["--bind", on.to_str().unwrap()])?;
        let again = Command::new("mount").args(["-o", "remount,bind,ro"]).arg(on).status();
        assert!(again.unwrap().success());
        Some(mount)
    }

    pub(crate) fn resize(&self, kib: u32) {
        let size = format!("remount,size={kib}k");
        let done = Command::new("mount").args(["-o", &size]).arg(&self.0).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
