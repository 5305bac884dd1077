//! Markdown: headings and facts in our own words, all data in fences that it cannot leave.

use super::Report;
use super::part::{AgentPart, FinalPart, Layout, MemoryPart, Part, ProblemPart, RunPart, SessionPart, StepPart};
use crate::model::{MemoryKind, Totals};
use crate::text::plural;
use std::io::{Result, Write};

/// The format; remembers which section it is in.
#[derive(Default)]
pub(super) struct Markdown {
    section: &'static str,
}

impl Layout for Markdown {
    const NESTED: bool = true;

    fn part(&mut self, part: &Part<'_>, out: &mut dyn Write) -> Result<()> {
        match part {
            Part::Session(part) => session(part, out),
            Part::Run(part) => run(part, out),
            Part::Agent(part) => agent(part, out),
            Part::Step(part) => step(part, out),
            Part::AgentEnd | Part::RunEnd => Ok(()),
            Part::Memory(part) => self.memory(part, out),
            Part::Problem(part) => self.problem(part, out),
            Part::End(report) => self.masked(report, out),
        }
    }
}

fn session(part: &SessionPart<'_>, out: &mut dyn Write) -> Result<()> {
    let session = part.session;
    writeln!(out, "# {}\n", inline(&part.name))?;
    if part.single {
        return Ok(());
    }
    let completed = session.completed_count();
    writeln!(
        out,
        "- {} completed: {}",
        plural(completed as u128, "query", "queries"),
        totals(&session.completed)
    )?;
    let lost = session.queries.len() - completed;
    if lost > 0 {
        writeln!(
            out,
            "- {} without FINAL: {}",
            plural(lost as u128, "run", "runs"),
            totals(&session.lost)
        )?;
    }
    Ok(())
}

fn run(part: &RunPart<'_>, out: &mut dyn Write) -> Result<()> {
    let query = part.query;
    writeln!(out, "\n## {}\n", query.label)?;
    if let Some(started) = &part.started {
        writeln!(out, "- started: {started}")?;
    }
    writeln!(
        out,
        "- outcome: {}\n- {}",
        inline(&part.outcome),
        totals(&query.run.totals)
    )?;
    if let Some(path) = &part.log_file {
        writeln!(out, "- transcript: {}", inline(path))?;
    }
    let cut = if query.text_cut { " (cut by its writer)" } else { "" };
    writeln!(out, "\n**Query{cut}**\n")?;
    fence(out, "text", &part.text)?;
    writeln!(out, "\n**FINAL**\n")?;
    result(out, &part.result)
}

fn agent(part: &AgentPart<'_>, out: &mut dyn Write) -> Result<()> {
    if part.depth == 0 && part.id.0 == 0 {
        return Ok(());
    }
    let name = if part.task.is_empty() { &part.run_id } else { &part.task };
    let kind = if part.agent.orphan {
        "Agent without its parent"
    } else {
        "Sub-agent"
    };
    writeln!(
        out,
        "\n### {kind} {}, depth {}: {}\n",
        part.id.0 + 1,
        part.agent.depth,
        inline(name)
    )?;
    writeln!(out, "- {}\n\n**Its answer**\n", totals(&part.agent.own()))?;
    result(out, &part.result)
}

fn step(part: &StepPart<'_>, out: &mut dyn Write) -> Result<()> {
    let step = part.step;
    let failed = if step.failed { ", failed" } else { "" };
    writeln!(out, "\n#### {}{failed}\n", sentence(&step.label()))?;
    writeln!(out, "{}, {}", step.tokens(), step.cost.named())?;
    if let Some(why) = &part.unreadable {
        writeln!(out, "\nThis step could not be read: {}", inline(why))?;
    }
    for (title, language, text) in [
        ("Reasoning", "text", &part.reasoning),
        ("Code", "python", &part.code),
        ("Output", "text", &part.output),
    ] {
        if !text.is_empty() {
            writeln!(out, "\n{title}:\n")?;
            fence(out, language, text)?;
        }
    }
    Ok(())
}

impl Markdown {
    fn memory(&mut self, part: &MemoryPart<'_>, out: &mut dyn Write) -> Result<()> {
        self.enter("Memory", out)?;
        let entry = part.entry;
        let star = if entry.committed { " ★" } else { "" };
        writeln!(out, "\n### {}{star} ({})\n", inline(&part.name), inline(part.what()))?;
        if let Some(note) = &part.note {
            writeln!(out, "- note: {}", inline(note))?;
        }
        if let Some(comment) = &part.comment {
            writeln!(out, "- comment: {}", inline(comment))?;
        }
        if let Some(bound) = entry.bound {
            writeln!(out, "- last bound in {} step {}", bound.label, bound.step)?;
        }
        writeln!(out)?;
        let language = if entry.kind == MemoryKind::Dropped {
            "text"
        } else {
            "python"
        };
        fence(out, language, &part.text)
    }

    fn problem(&mut self, part: &ProblemPart<'_>, out: &mut dyn Write) -> Result<()> {
        self.enter("Problems", out)?;
        let place = [
            part.path.as_deref().map(inline),
            part.problem.line.map(|n| format!("line {n}")),
            part.problem.byte.map(|n| format!("byte {n}")),
        ];
        let place: Vec<_> = place.into_iter().flatten().collect();
        let colon = if place.is_empty() { "" } else { ": " };
        writeln!(out, "- {}{colon}{}", place.join(", "), inline(&part.what))
    }

    fn masked(&mut self, report: &Report, out: &mut dyn Write) -> Result<()> {
        for masked in &report.masked {
            self.enter("Masked", out)?;
            writeln!(
                out,
                "- {}: {} × {}",
                inline(&masked.place),
                masked.count,
                masked.kind.name()
            )?;
        }
        Ok(())
    }

    /// Opens a section, unless it is open already.
    fn enter(&mut self, section: &'static str, out: &mut dyn Write) -> Result<()> {
        if self.section == section {
            return Ok(());
        }
        self.section = section;
        writeln!(out, "\n## {section}\n")
    }
}

fn result(out: &mut dyn Write, result: &FinalPart) -> Result<()> {
    match result {
        FinalPart::Value(_, text) => fence(out, result.language(), text),
        other => writeln!(out, "{}", other.words()),
    }
}

fn totals(totals: &Totals) -> String {
    let steps = plural(u128::from(totals.steps), "step", "steps");
    let agents = plural(u128::from(totals.agents), "agent", "agents");
    let tokens = totals.tokens();
    format!("{steps}, {agents}, {tokens}, {}", totals.cost.named())
}

fn sentence(label: &str) -> String {
    let mut chars = label.chars();
    chars
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// A fenced block, its fence longer than any run of backticks in the text.
fn fence(out: &mut dyn Write, language: &str, text: &str) -> Result<()> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Text within a line: whatever Markdown or HTML could take for markup is escaped.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '(' | ')' | '#' | '!' | '|' | '~' | '&' => {
                out.extend(['\\', c]);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let mut out = Vec::new();
        fence(&mut out, "text", "a\n````\n# out\n").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "`````text\na\n````\n# out\n`````\n");
    }

    #[test]
    fn markup_within_a_line_is_escaped() {
        assert_eq!(inline("![x](http://e)<b>"), r"\!\[x\]\(http://e\)\<b\>");
    }
}
