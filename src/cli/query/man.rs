//! `fast-rlm man`: manual pages, one to standard output or all into a directory.

use super::exit::Exit;
use super::outcome::print_bytes;
use super::setup::Failure;
use crate::cli::options::pages;
use std::path::Path;

/// Prints the page of the program or a subcommand, or writes all of them into `dir`, which is made.
pub(super) fn run(subcommand: Option<&str>, dir: Option<&Path>) -> Result<Exit, Failure> {
    let pages = pages(super::command()).map_err(Failure::Output)?;
    let Some(dir) = dir else {
        let file = subcommand.map_or("fast-rlm.1".to_owned(), |name| format!("fast-rlm-{name}.1"));
        let page = pages.iter().find(|page| page.file == file);
        let page = page.ok_or_else(|| {
            let name = subcommand.unwrap_or_default();
            Failure::Usage(format!("there is no subcommand {name:?}; `fast-rlm --help` lists them"))
        })?;
        return print_bytes(&page.text);
    };
    let failed = |cause| Failure::Write {
        path: dir.to_owned(),
        cause,
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    for page in &pages {
        std::fs::write(dir.join(&page.file), &page.text).map_err(failed)?;
    }
    Ok(Exit::Done)
}
