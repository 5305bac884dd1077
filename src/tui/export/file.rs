//! Where an export goes: a file whose name nothing but its writer chose, there whole or not at all.

use super::{Bodies, ExportError, Format, OnProgress, Options, Report, Scope, write};
use crate::disk::part_file::PartFile;
use crate::model::Session;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Longest part of a session's name that a file name keeps.
const LONGEST_NAME: usize = 40;
/// Files of one name before it gives up.
const MOST_SUFFIXES: u32 = 10_000;

/// A finished export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub report: Report,
}

/// Writes an export into `dir`, readable by its owner alone. It appears under its name when it is complete; a file
/// that is there already is never replaced: `demo.md`, then `demo-2.md`.
///
/// # Errors
///
/// As [`write()`], and when `dir` cannot be written to. Nothing is left behind.
pub fn save(
    session: &Session,
    bodies: &mut dyn Bodies,
    options: &Options,
    dir: &Path,
    progress: OnProgress<'_>,
) -> Result<Saved, ExportError> {
    let failed = |error| ExportError::Write {
        path: dir.to_owned(),
        error,
    };
    let mut file = PartFile::inside(dir, "export", 0o600).map_err(failed)?;
    let report = {
        let mut out = BufWriter::new(&mut file);
        write(session, bodies, options, &mut out, progress)?
    };
    let (stem, extension) = (stem(session, options.scope), options.format.extension());
    let place = |number: u32| match number {
        1 => dir.join(format!("{stem}.{extension}")),
        more => dir.join(format!("{stem}-{more}.{extension}")),
    };
    let path = file.put_first((1..=MOST_SUFFIXES).map(place)).map_err(failed)?;
    Ok(Saved { path, report })
}

/// The name that an export of `session` gets where nothing of that name is: `demo.html`, `demo-Q1.md`.
pub fn default_name(session: &Session, scope: Scope, format: Format) -> String {
    format!("{}.{}", stem(session, scope), format.extension())
}

fn stem(session: &Session, scope: Scope) -> String {
    let label = match scope {
        Scope::Session => None,
        Scope::Run(index) => session.queries.get(index).map(|query| query.label),
    };
    let name = safe_name(&session.facts.name);
    label.map_or(name.clone(), |label| format!("{name}-{label}"))
}

/// Letters, digits, `-` and `_` of a session's name; `session` where nothing is left.
fn safe_name(name: &str) -> String {
    let kept = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let kept: String = kept.take(LONGEST_NAME).collect();
    let kept = kept.trim_matches('-');
    if kept.is_empty() {
        "session".to_owned()
    } else {
        kept.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("demo", "demo")]
    #[case("../../etc/passwd", "etc-passwd")]
    #[case(".hidden", "hidden")]
    #[case("-rf", "rf")]
    #[case("a\u{1b}[31m b\n", "a--31m-b")]
    #[case("星丸", "session")]
    #[case("", "session")]
    fn file_names_hold_nothing_that_acts(#[case] name: &str, #[case] safe: &str) {
        assert_eq!(safe_name(name), safe);
    }
}
