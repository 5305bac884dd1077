//! What comes by standard input: the prompt (`-`, or a pipe and no prompt), or the file that is asked about
//! (`--input-file -`), which may come by another pipe, too.

use super::args::Args;
use super::setup::Failure;
use crate::disk::part_file::PartFile;
use crate::disk::whole::{LARGEST_NAMED, copy};
use crate::engine::{BeginError, InputError};
use crate::text::secret::{RedactingWriter, Secrets};
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Standard input, where a prompt or a file is named.
const DASH: &str = "-";

/// The prompt, and where it comes from; `None` where there is none: nothing was named, and nothing is piped. A file
/// that is named needs none: it may be the whole input.
pub(super) fn prompt(args: &Args) -> Result<Option<String>, Failure> {
    let piped = || !io::stdin().is_terminal();
    match args.prompt.as_deref() {
        Some(DASH) if takes_file(args) => Err(Failure::Usage(
            "both the prompt and the input file are -: standard input can be one of them".into(),
        )),
        Some(DASH) => text("the prompt").map(Some),
        None if !takes_file(args) && piped() => {
            let text = text("the prompt")?;
            Ok(Some(text).filter(|text| !text.trim().is_empty()).or(without(args)))
        }
        None => Ok(without(args)),
        named => Ok(named.map(str::to_owned)),
    }
}

/// The prompt of a query without one: about a file it may be empty. A file that is piped in comes with one, for whoever
/// wrote only `-` has probably forgotten it.
fn without(args: &Args) -> Option<String> {
    let names_file = args.input_file.is_some() && !takes_file(args);
    names_file.then(String::new)
}

/// Standard input is the file that is asked about.
pub(super) fn takes_file(args: &Args) -> bool {
    args.input_file.as_deref() == Some(Path::new(DASH))
}

fn text(what: &str) -> Result<String, Failure> {
    tell_how_to_end(what);
    let mut bytes = Vec::new();
    let read = copy(io::stdin().lock(), &mut bytes, LARGEST_NAMED);
    let told = |why: &dyn Display| Failure::Usage(format!("cannot read {what} from standard input: {why}"));
    read.map_err(|cause| told(&cause))?;
    String::from_utf8(bytes).map_err(|_| told(&"it is not valid UTF-8"))
}

/// A person who types it must know how.
fn tell_how_to_end(what: &str) {
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "fast-rlm: reading {what} from standard input; Ctrl-D in a line of its own ends it"
        );
    }
}

/// Keeps what comes by standard input in a file of the session in `dir`, so that its query can be replayed, forked and
/// resumed. It is asked about as it is kept: without secrets.
pub(super) fn kept_input(dir: &Path, secrets: &Secrets) -> Result<Kept, Failure> {
    tell_how_to_end("the input file");
    keep(io::stdin().lock(), dir, "txt", secrets)
}

/// Keeps what comes by a pipe that is named, as a shell's `<(command)` is, under the ending that it has.
pub(super) fn kept_pipe(pipe: &Path, dir: &Path, secrets: &Secrets) -> Result<Kept, Failure> {
    let opened = File::open(pipe).map_err(|cause| {
        let path = pipe.to_owned();
        BeginError::from(InputError::Read { path, cause })
    })?;
    let ending = pipe.extension().and_then(OsStr::to_str);
    keep(opened, dir, ending.unwrap_or("txt"), secrets)
}

/// A piped input that is in a file now.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    /// A secret was in it, and is not in the file.
    pub(super) hidden: bool,
}

fn keep(from: impl Read, dir: &Path, ending: &str, secrets: &Secrets) -> Result<Kept, Failure> {
    let inputs = dir.join("inputs");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| Failure::Write { path, cause }
    };
    fs::create_dir_all(&inputs).map_err(failed(&inputs))?;
    let path = inputs.join(format!("stdin-{}.{ending}", crate::engine::now()));
    // A part of an input is none. What was piped was for nobody else's eyes.
    let file = PartFile::inside(&inputs, "stdin", 0o600).map_err(failed(&path))?;
    let mut masked = RedactingWriter::new(secrets.clone(), file);
    let copied = copy(from, &mut masked, LARGEST_NAMED).and_then(|()| masked.finish());
    let put = copied.and_then(|(file, hidden)| file.put(&path).map(|()| hidden));
    let hidden = put.map_err(failed(&path))?;
    Ok(Kept { path, hidden })
}
