//! `fast-rlm export --bundle` and `fast-rlm import`: a session with its part of the log, in one file.

use super::args::{ExportArgs, ImportArgs};
use super::target::is_directory;
use super::{Failure, print};
use crate::cli::query::{Exit, Interrupts};
use crate::lab::{export_bundle, import_bundle};

pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let _interrupts = Interrupts::listen();
    let source = args.target.open()?.log_for_reading()?;
    export_bundle(&source, &args.bundle)?;
    print(&format!("{} is in {}", source.session, args.bundle.display()))?;
    Ok(Exit::Done)
}

pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let _interrupts = Interrupts::listen();
    is_directory(&args.dir)?;
    let (id, skipped) = import_bundle(&args.bundle, &args.dir, args.session_id.as_deref())?;
    let left = match skipped {
        0 => String::new(),
        1 => " (1 event of a newer version was left out)".into(),
        n => format!(" ({n} events of a newer version were left out)"),
    };
    print(&format!("{id}{left}"))?;
    Ok(Exit::Done)
}
