//! A panic anywhere ends the program with the terminal restored and a report in a file.

use super::guard::restore;
use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a panic, as Rust's own.
const EXIT: i32 = 101;

/// Installs the hook. A panic in a task would leave the screen drawing on without its result, so every panic ends the
/// program; the first one tells.
pub fn install() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|info| {
        if TOLD.swap(true, Ordering::SeqCst) {
            return;
        }
        restore();
        tell(info);
        std::process::exit(EXIT);
    }));
}

fn tell(info: &PanicHookInfo<'_>) {
    let report = report(info);
    let mut err = std::io::stderr();
    let headline = report.lines().next().unwrap_or_default();
    let _ = writeln!(err, "fast-rlm: this is a bug: {headline}");
    let _ = match write_report(&report) {
        Ok(path) => writeln!(err, "A report was written to {}", path.display()),
        Err(error) => writeln!(err, "No report could be written ({error}); this is it:\n{report}"),
    };
}

/// What happened, where, in which version and on which system, and the way there.
fn report(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic");
    let safe = crate::text::SafeText::line(text);
    let place = info
        .location()
        .map_or_else(|| "somewhere".to_owned(), ToString::to_string);
    let mut out = format!("{safe} at {place}\n\n");
    let _ = writeln!(out, "fast-rlm {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, "{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let _ = writeln!(out, "thread: {}", std::thread::current().name().unwrap_or("unnamed"));
    let _ = write!(out, "\n{}", Backtrace::force_capture());
    out
}

/// Into the user's state directory, or else the temporary one; a new file each time, for its owner only.
fn write_report(report: &str) -> std::io::Result<PathBuf> {
    state_dir()
        .and_then(|dir| write_into(&dir, report))
        .or_else(|_| write_into(&std::env::temp_dir(), report))
}

fn write_into(dir: &Path, report: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix("fast-rlm-panic-")
        .suffix(".txt")
        .tempfile_in(dir)?;
    file.write_all(report.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path)
}

fn state_dir() -> std::io::Result<PathBuf> {
    use etcetera::BaseStrategy;
    let dirs = etcetera::choose_base_strategy().map_err(std::io::Error::other)?;
    Ok(dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join("fast-rlm"))
}
