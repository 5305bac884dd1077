//! Where a query's session lives, and directories that were named on the command line.

use super::args::Args;
use super::setup::Failure;
use crate::client::EphemeralDir;
use crate::engine::Home;
use crate::store::check_session_id;
use std::path::Path;

/// Where the session of these arguments lives; without a directory of its own, in one that goes with the program.
pub(super) fn home(args: &Args) -> Result<(Home, Option<EphemeralDir>), Failure> {
    if let Some(id) = &args.session_id {
        check_session_id(id)?;
    }
    let named = [("--session-dir", &args.session_dir), ("--log-dir", &args.log_dir)];
    for (option, dir) in named {
        dir.as_deref()
            .map_or(Ok(()), |dir| can_be_directory(option, dir))
            .map_err(Failure::Usage)?;
    }
    let (dir, ephemeral) = match (&args.session_dir, &args.session_id) {
        (Some(dir), Some(id)) => (dir.join(id), None),
        (Some(dir), None) => (dir.clone(), None),
        (None, _) => {
            let ephemeral = EphemeralDir::new()?;
            (ephemeral.path().to_owned(), Some(ephemeral))
        }
    };
    let home = Home {
        log_dir: args.log_dir.clone(),
        absolute_logs: args.absolute_logs,
        wait: args.wait.unwrap_or_default(),
        prefix: args.prefix.clone().unwrap_or_else(|| "run".into()),
        // A session that ends with the program needs no log to be resumed from.
        storage: args.session_dir.clone(),
        ..Home::new(dir)
    };
    Ok((home, ephemeral))
}

/// Whether what was named is a directory or can be made one, or why it never can: it, or what it would be in, is
/// something else.
pub(in crate::cli) fn can_be_directory(option: &str, named: &Path) -> Result<(), String> {
    let is_there = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_ok();
    match named.ancestors().find(is_there) {
        Some(there) if !there.is_dir() => {
            let (named, there) = (named.display(), there.display());
            Err(format!(
                "{option} {named}: {there} is no directory: name one that is, or that is not there yet"
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_can_be_no_directory_and_hold_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        for wrong in ["file", "file/below", "file/far/below", "link", "link/below"] {
            let told = can_be_directory("--dir", &dir.path().join(wrong));
            assert!(told.is_err_and(|told| told.contains("is no directory")), "{wrong}");
        }
        for fine in ["", "new", "new/below"] {
            assert_eq!(can_be_directory("--dir", &dir.path().join(fine)), Ok(()), "{fine}");
        }
        assert_eq!(can_be_directory("--dir", Path::new("new")), Ok(()));
    }
}
