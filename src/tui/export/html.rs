//! HTML in one file: no script, nothing from outside, every text escaped, runs and steps folded.

use super::Report;
use super::part::{AgentPart, FinalPart, Layout, MemoryPart, Part, ProblemPart, RunPart, SessionPart, StepPart};
use crate::model::{MemoryKind, Totals};
use crate::text::plural;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::io::{Result, Write};

const STYLE: &str = include_str!("style.css");
/// Agents nest this deep in the document; browsers flatten far deeper ones, and nobody can read them.
const DEEPEST: usize = 24;

/// The format; remembers what is open.
#[derive(Default)]
pub(super) struct Html {
    section: &'static str,
    /// For each agent that is being told: whether it opened a fold of its own.
    folds: Vec<bool>,
}

impl Layout for Html {
    const NESTED: bool = true;

    fn part(&mut self, part: &Part<'_>, out: &mut dyn Write) -> Result<()> {
        match part {
            Part::Session(part) => session(part, out),
            Part::Run(part) => run(part, out),
            Part::Agent(part) => self.agent(part, out),
            Part::Step(part) => step(part, out),
            Part::AgentEnd => match self.folds.pop() {
                Some(true) => writeln!(out, "</details>"),
                _ => Ok(()),
            },
            Part::RunEnd => writeln!(out, "</details>"),
            Part::Memory(part) => self.memory(part, out),
            Part::Problem(part) => self.problem(part, out),
            Part::End(report) => self.end(report, out),
        }
    }
}

/// The head: a policy that allows our own style sheet, by its hash, and nothing else.
fn session(part: &SessionPart<'_>, out: &mut dyn Write) -> Result<()> {
    let name = escape(&part.name);
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n"
    )?;
    if part.single {
        return Ok(());
    }
    let session = part.session;
    let completed = session.completed_count();
    let queries = plural(completed as u128, "query", "queries");
    writeln!(
        out,
        "<p class=\"facts\">{queries} completed: {}</p>",
        totals(&session.completed)
    )?;
    let lost = session.queries.len() - completed;
    if lost > 0 {
        let runs = plural(lost as u128, "run", "runs");
        writeln!(
            out,
            "<p class=\"facts\">{runs} without FINAL: {}</p>",
            totals(&session.lost)
        )?;
    }
    Ok(())
}

fn run(part: &RunPart<'_>, out: &mut dyn Write) -> Result<()> {
    let query = part.query;
    writeln!(
        out,
        "<h2>{}</h2>\n<p class=\"facts\">{}{} · {}</p>",
        query.label,
        part.started
            .as_deref()
            .map_or(String::new(), |at| format!("{} · ", escape(at))),
        escape(&part.outcome),
        totals(&query.run.totals),
    )?;
    pre(
        out,
        if query.text_cut {
            "Query (cut by its writer)"
        } else {
            "Query"
        },
        &part.text,
    )?;
    pre(out, "FINAL", part.result.words())?;
    let log = part.log_file.as_deref().map_or(String::new(), escape);
    writeln!(
        out,
        "<details class=\"run\"><summary>Transcript <span class=\"facts\">{log}</span></summary>"
    )
}

fn step(part: &StepPart<'_>, out: &mut dyn Write) -> Result<()> {
    let step = part.step;
    let (class, mark) = if step.failed {
        ("step failed", " <span class=\"mark\">✕ failed</span>")
    } else {
        ("step", "")
    };
    let first = part
        .code
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    writeln!(
        out,
        "<details class=\"{class}\"><summary>{}{mark} <span class=\"facts\">{}, {} · {}</span></summary>",
        escape(&step.label()),
        step.tokens(),
        escape(&step.cost.named()),
        escape(&first.chars().take(80).collect::<String>()),
    )?;
    if let Some(why) = &part.unreadable {
        writeln!(out, "<p>This step could not be read: {}</p>", escape(why))?;
    }
    for (title, text) in [
        ("Reasoning", &part.reasoning),
        ("Code", &part.code),
        ("Output", &part.output),
    ] {
        if !text.is_empty() {
            pre(out, title, text)?;
        }
    }
    writeln!(out, "</details>")
}

impl Html {
    fn agent(&mut self, part: &AgentPart<'_>, out: &mut dyn Write) -> Result<()> {
        let root = part.depth == 0 && part.id.0 == 0;
        let fold = !root && self.folds.len() < DEEPEST;
        self.folds.push(fold);
        if root {
            return Ok(());
        }
        let name = if part.task.is_empty() { &part.run_id } else { &part.task };
        let kind = if part.agent.orphan {
            "Agent without its parent"
        } else {
            "Sub-agent"
        };
        let title = format!(
            "{kind} {}: {} <span class=\"facts\">depth {} · {}</span>",
            part.id.0 + 1,
            escape(name),
            part.agent.depth,
            totals(&part.agent.own()),
        );
        if fold {
            writeln!(out, "<details class=\"agent\"><summary>{title}</summary>")?;
        } else {
            writeln!(out, "<p>{title}</p>")?;
        }
        match &part.result {
            FinalPart::Unset => Ok(()),
            answer => pre(out, "Its answer", answer.words()),
        }
    }

    fn memory(&mut self, part: &MemoryPart<'_>, out: &mut dyn Write) -> Result<()> {
        self.enter("Memory", out)?;
        let star = if part.entry.committed { "★ " } else { "" };
        let said = [part.note.as_deref(), part.comment.as_deref()];
        let said: Vec<_> = said.into_iter().flatten().map(escape).collect();
        writeln!(
            out,
            "<details><summary>{star}{} <span class=\"facts\">{} · {}</span></summary>",
            escape(&part.name),
            escape(part.what()),
            said.join(" · "),
        )?;
        let held = match part.entry.kind {
            MemoryKind::Dropped => "Why it was dropped",
            _ => "Value",
        };
        let title = part.entry.bound.map_or(held.to_owned(), |b| {
            format!("{held}, bound in {} step {}", b.label, b.step)
        });
        pre(out, &title, &part.text)?;
        writeln!(out, "</details>")
    }

    fn problem(&mut self, part: &ProblemPart<'_>, out: &mut dyn Write) -> Result<()> {
        self.enter("Problems", out)?;
        let path = part
            .path
            .as_deref()
            .map_or(String::new(), |path| format!("{} ", escape(path)));
        let line = part.problem.line.map_or(String::new(), |line| format!("line {line}: "));
        writeln!(out, "<p>{path}{line}{}</p>", escape(&part.what))
    }

    fn end(&mut self, report: &Report, out: &mut dyn Write) -> Result<()> {
        for masked in &report.masked {
            self.enter("Masked", out)?;
            writeln!(
                out,
                "<p>{}: {} × {}</p>",
                escape(&masked.place),
                masked.count,
                masked.kind.name()
            )?;
        }
        writeln!(out, "</body>\n</html>")
    }

    /// Opens a section, unless it is open already.
    fn enter(&mut self, section: &'static str, out: &mut dyn Write) -> Result<()> {
        if self.section == section {
            return Ok(());
        }
        self.section = section;
        writeln!(out, "<h2>{section}</h2>")
    }
}

/// Bytes of a text that are escaped at a time.
const PIECE: usize = 64 << 10;

/// A titled block; the newline after the tag is eaten by browsers, so that one of the text's own is not.
fn pre(out: &mut dyn Write, title: &str, text: &str) -> Result<()> {
    write!(out, "<h3>{}</h3>\n<pre>\n", escape(title))?;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest
            .split_at_checked(rest.floor_char_boundary(PIECE))
            .unwrap_or((rest, ""));
        out.write_all(escape(piece).as_bytes())?;
        rest = after;
    }
    writeln!(out, "</pre>")
}

fn totals(totals: &Totals) -> String {
    let steps = plural(u128::from(totals.steps), "step", "steps");
    let tokens = totals.tokens();
    escape(&format!("{steps}, {tokens}, {}", totals.cost.named()))
}

/// Text inside an element or a quoted attribute. A NUL, which HTML forbids, becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
