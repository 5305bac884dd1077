//! What is printed at the end: the answer on stdout, what it took on stderr.

use super::args::Args;
use super::exit::{self, Exit};
use super::setup::Failure;
use crate::cli::terminal::shell_word;
use crate::engine::{Answer, RunError, Spent};
use crate::text::{SafeText, shown_json};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// The answer: text as it is, anything else as JSON. On a terminal, text is made safe to show; JSON always is.
pub(super) fn print_value(value: &Value, args: &Args, answer: &Answer) -> Result<Exit, Failure> {
    let text = match value {
        _ if args.json => shown_json(&record(answer, args, Some(value), None).to_string()).into_owned(),
        Value::String(text) if io::stdout().is_terminal() => SafeText::block(text).as_str().to_owned(),
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        other => shown_json(&format!("{other:#}")).into_owned(),
    };
    writeln!(io::stdout(), "{text}").map_err(Failure::Output)?;
    Ok(Exit::Done)
}

/// Why there is no answer, on stderr; with `--json` on stdout too.
pub(super) fn print_error(error: &RunError, args: &Args, dir: &Path, answer: &Answer) -> Exit {
    if args.json {
        let record = record(answer, args, None, Some(error)).to_string();
        let _ = writeln!(io::stdout(), "{}", shown_json(&record));
    }
    let unkept = matches!(error, RunError::Cancelled) && args.session_dir.is_none();
    let told = match unkept {
        true => "cancelled; without --session-dir no name or value of it is kept".to_owned(),
        false => error.to_string(),
    };
    let _ = writeln!(io::stderr(), "fast-rlm: {}", SafeText::line(&told));
    if matches!(error, RunError::Cancelled) && !unkept {
        tell_how_to_go_on(dir);
    }
    if matches!(error, RunError::Parked(_)) {
        tell_how_to_answer(dir);
    }
    exit::run(error)
}

/// The command that goes on after a query was cancelled.
pub(in crate::cli) fn tell_how_to_go_on(dir: &Path) {
    let dir = shell_word(dir);
    let line = format!("  fast-rlm \"…\" --session-dir {dir}   asks again, with the names and values that it kept");
    let _ = writeln!(io::stderr(), "{line}");
}

/// The commands that answer a parked query, or close it.
pub(super) fn tell_how_to_answer(dir: &Path) {
    let dir = shell_word(dir);
    let lines = format!(
        "  fast-rlm answer {dir} TEXT     answers it, and the query goes on\n  \
         fast-rlm answer {dir} --drop   closes it without an answer"
    );
    let _ = writeln!(io::stderr(), "{lines}");
}

/// The object of `--json`. The transcript of a session that goes with the program is gone before anybody could read it.
fn record(answer: &Answer, args: &Args, value: Option<&Value>, error: Option<&RunError>) -> Value {
    let log_file = args.keeps_transcript().then(|| answer.transcript.to_string_lossy());
    json!({
        "outcome": error.map_or("done", RunError::outcome),
        "final": value,
        "error": error.map(ToString::to_string),
        "run_id": answer.run_id,
        "log_file": log_file,
        "usage": usage(&answer.spent),
    })
}

/// Tokens and cost; costs are exact integers of nano-dollars, with the calls that reported none beside them.
pub(in crate::cli) fn usage(spent: &Spent) -> Value {
    json!({
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "calls_without_tokens": spent.unknown_tokens,
        "cost_nano_usd": i64::try_from(spent.nano).unwrap_or(i64::MAX),
        "calls_without_cost": spent.unknown_costs,
    })
}

/// Text for other programs.
pub(super) fn print_bytes(text: &[u8]) -> Result<Exit, Failure> {
    io::stdout().write_all(text).map_err(Failure::Output)?;
    Ok(Exit::Done)
}
