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
        let wrong = dir.as_deref().and_then(|dir| no_directory(option, dir));
        wrong.map_or(Ok(()), |wrong| Err(Failure::Usage(wrong)))?;
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

/// Why what was named can never be a directory: it, or what it would be in, is something else. One that is not there yet
/// can be made.
pub(in crate::cli) fn no_directory(option: &str, named: &Path) -> Option<String> {
    let there = named
        .ancestors()
        .find(|path| !path.as_os_str().is_empty() && path.symlink_metadata().is_ok())?;
    let wrong = || {
        let (named, there) = (named.display(), there.display());
        format!("{option} {named}: {there} is no directory: name one that is, or that is not there yet")
    };
    (!there.is_dir()).then(wrong)
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
            let told = no_directory("--dir", &dir.path().join(wrong));
            assert!(told.is_some_and(|told| told.contains("is no directory")), "{wrong}");
        }
        for fine in ["", "new", "new/below"] {
            assert_eq!(no_directory("--dir", &dir.path().join(fine)), None, "{fine}");
        }
        assert_eq!(no_directory("--dir", Path::new("new")), None);
    }
}
