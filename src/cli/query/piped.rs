//! What comes by standard input: the prompt (`-`, or a pipe and no prompt), or the file that is asked about
//! (`--input-file -`).

use super::args::Args;
use super::setup::Failure;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Standard input, where a prompt or a file is named.
const DASH: &str = "-";

/// The prompt, and where it comes from; `None` where there is none: nothing was named, and nothing is piped.
pub(super) fn prompt(args: &Args) -> Result<Option<String>, Failure> {
    let piped = || !io::stdin().is_terminal();
    match args.prompt.as_deref() {
        Some(DASH) if takes_file(args) => Err(Failure::Usage(
            "both the prompt and the input file are -: standard input can be one of them".into(),
        )),
        Some(DASH) => text("the prompt").map(Some),
        None if !takes_file(args) && piped() => {
            let text = text("the prompt")?;
            Ok(Some(text).filter(|text| !text.trim().is_empty()))
        }
        named => Ok(named.map(str::to_owned)),
    }
}

/// Standard input is the file that is asked about.
pub(super) fn takes_file(args: &Args) -> bool {
    args.input_file.as_deref() == Some(Path::new(DASH))
}

fn text(what: &str) -> Result<String, Failure> {
    tell_how_to_end(what);
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|cause| Failure::Usage(format!("cannot read {what} from standard input: {cause}")))?;
    Ok(text)
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

/// Keeps what is piped in a file of the session in `dir`, so that its query can be replayed, forked and resumed.
pub(super) fn kept_file(dir: &Path) -> Result<PathBuf, Failure> {
    tell_how_to_end("the input file");
    let inputs = dir.join("inputs");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| Failure::Write { path, cause }
    };
    fs::create_dir_all(&inputs).map_err(failed(&inputs))?;
    let path = inputs.join(format!("stdin-{}.txt", crate::engine::now()));
    let mut file = File::create_new(&path).map_err(failed(&path))?;
    let copied = io::copy(&mut io::stdin().lock(), &mut file).and_then(|_| file.sync_all());
    copied.map_err(failed(&path))?;
    Ok(path)
}
