//! What a scan found, as bytes and back.

use std::collections::HashMap;
use std::sync::Arc;

use super::pieces::{Reader, Writer};
use crate::disk::transcript::{Part, SegmentEnd};
use crate::model::{
    AgentEnd, BodyRef, Cost, Final, FinalShape, Line, LineKind, LogId, Problem, ProblemKind, StepLine, Timings, Usage,
};

const SHAPES: [FinalShape; 6] = [
    FinalShape::Text,
    FinalShape::Number,
    FinalShape::Bool,
    FinalShape::List,
    FinalShape::Object,
    FinalShape::Raw,
];
/// Kinds that scans report.
const KINDS: [ProblemKind; 5] = [
    ProblemKind::Unreadable,
    ProblemKind::Incomplete,
    ProblemKind::Repaired,
    ProblemKind::Number,
    ProblemKind::Notice,
];

pub(super) fn encode(part: &Part) -> Vec<u8> {
    let mut out = Writer::default();
    let SegmentEnd {
        lines,
        unreadable,
        next,
        torn,
        whole_lines,
    } = part.end;
    [lines, unreadable, next, u64::from(torn), whole_lines]
        .into_iter()
        .for_each(|number| out.number(number));
    let mut names: HashMap<&str, u64> = HashMap::new();
    out.number(part.lines.len() as u64);
    for line in &part.lines {
        write_line(&mut out, &mut names, line);
    }
    out.number(part.problems.len() as u64);
    for problem in &part.problems {
        let kind = KINDS
            .iter()
            .position(|kind| *kind == problem.kind)
            .unwrap_or(KINDS.len() - 1);
        out.number(kind as u64);
        out.optional(problem.line, Writer::number);
        out.optional(problem.byte, Writer::number);
        out.text(&problem.what);
    }
    out.into_bytes()
}

pub(super) fn decode(bytes: &[u8], log: LogId) -> Option<Part> {
    let mut from = Reader::new(bytes);
    let end = SegmentEnd {
        lines: from.number()?,
        unreadable: from.number()?,
        next: from.number()?,
        torn: from.flag()?,
        whole_lines: from.number()?,
    };
    let mut names = Vec::new();
    let lines = from.list(|from| read_line(from, &mut names, log))?;
    let problems = from.list(|from| {
        let kind = *KINDS.get(usize::try_from(from.number()?).ok()?)?;
        let (line, byte) = (from.optional(Reader::number)?, from.optional(Reader::number)?);
        Some(Problem {
            kind,
            log: Some(log),
            line,
            byte,
            what: from.text()?,
        })
    })?;
    Some(Part { lines, problems, end })
}

/// A name's number; a new one is followed by the name.
fn write_name<'a>(out: &mut Writer, names: &mut HashMap<&'a str, u64>, name: &'a str) {
    let next = names.len() as u64;
    let number = *names.entry(name).or_insert(next);
    out.number(number);
    if number == next {
        out.text(name);
    }
}

fn read_name(from: &mut Reader<'_>, names: &mut Vec<Arc<str>>) -> Option<Arc<str>> {
    let number = usize::try_from(from.number()?).ok()?;
    if number == names.len() {
        names.push(from.text()?.into());
    }
    names.get(number).cloned()
}

fn write_line<'a>(out: &mut Writer, names: &mut HashMap<&'a str, u64>, line: &'a Line) {
    let BodyRef {
        log: _,
        line: number,
        offset,
        len,
    } = line.at;
    [number, offset, len, u64::from(line.depth)]
        .into_iter()
        .for_each(|number| out.number(number));
    write_name(out, names, &line.run_id);
    out.optional(line.parent.as_deref(), |out, parent| write_name(out, names, parent));
    out.optional(line.time, Writer::signed);
    match &line.kind {
        LineKind::Start => out.number(0),
        LineKind::End(end) => {
            out.number(1);
            [&end.outcome, &end.error, &end.limit]
                .into_iter()
                .for_each(|text| out.optional(text.as_deref(), Writer::text));
            out.optional(end.unanswered.first(), |out, (usage, cost)| {
                write_usage(out, usage);
                write_cost(out, *cost);
            });
        }
        LineKind::Step(step) => {
            out.number(2);
            write_step(out, step);
        }
        LineKind::Final(value) => {
            out.number(3);
            write_final(out, value);
        }
        LineKind::Unknown(event) => {
            out.number(4);
            out.text(event);
        }
    }
}

fn read_line(from: &mut Reader<'_>, names: &mut Vec<Arc<str>>, log: LogId) -> Option<Line> {
    let at = BodyRef {
        log,
        line: from.number()?,
        offset: from.number()?,
        len: from.number()?,
    };
    let depth = u32::try_from(from.number()?).ok()?;
    let run_id = read_name(from, names)?;
    let parent = from.optional(|from| read_name(from, names))?;
    let time = from.optional(Reader::signed)?;
    let kind = match from.number()? {
        0 => LineKind::Start,
        1 => LineKind::End(AgentEnd {
            outcome: from.optional(Reader::text)?,
            error: from.optional(Reader::text)?,
            limit: from.optional(Reader::text)?,
            unanswered: Vec::from_iter(from.optional(|from| Some((read_usage(from)?, read_cost(from)?)))?),
        }),
        2 => LineKind::Step(read_step(from)?),
        3 => LineKind::Final(read_final(from)?),
        4 => LineKind::Unknown(from.text()?),
        _ => return None,
    };
    Some(Line {
        at,
        run_id,
        parent,
        depth,
        time,
        kind,
    })
}

fn write_step(out: &mut Writer, step: &StepLine) {
    let flags = u64::from(step.executed)
        | u64::from(step.failed) << 1
        | u64::from(step.no_code) << 2
        | u64::from(step.number.is_none()) << 3;
    [step.number.unwrap_or_default(), flags, step.code_digest]
        .into_iter()
        .for_each(|number| out.number(number));
    out.optional(step.usage, |out, usage| write_usage(out, &usage));
    write_cost(out, step.cost);
    let Timings {
        call_start,
        call_end,
        exec_start,
        exec_end,
    } = step.timings;
    [call_start, call_end, exec_start, exec_end]
        .into_iter()
        .for_each(|time| out.optional(time, Writer::signed));
    out.optional(step.task.as_deref(), Writer::text);
}

fn write_usage(out: &mut Writer, usage: &Usage) {
    let Usage {
        prompt,
        completion,
        total,
        cached,
        reasoning,
    } = *usage;
    [prompt, completion, total, cached, reasoning]
        .into_iter()
        .for_each(|number| out.number(number));
}

fn write_cost(out: &mut Writer, cost: Cost) {
    out.optional(cost.whole(), Writer::signed);
    out.signed(cost.part().unwrap_or_default());
}

fn read_usage(from: &mut Reader<'_>) -> Option<Usage> {
    Some(Usage {
        prompt: from.number()?,
        completion: from.number()?,
        total: from.number()?,
        cached: from.number()?,
        reasoning: from.number()?,
    })
}

fn read_cost(from: &mut Reader<'_>) -> Option<Cost> {
    Some(match (from.optional(Reader::signed)?, from.signed()?) {
        (Some(nano), _) => Cost::Known(nano),
        (None, part) => Cost::of_part(part),
    })
}

fn read_step(from: &mut Reader<'_>) -> Option<StepLine> {
    let (number, flags, code_digest) = (from.number()?, from.number()?, from.number()?);
    let usage = from.optional(read_usage)?;
    let cost = read_cost(from)?;
    let timings = Timings {
        call_start: from.optional(Reader::signed)?,
        call_end: from.optional(Reader::signed)?,
        exec_start: from.optional(Reader::signed)?,
        exec_end: from.optional(Reader::signed)?,
    };
    Some(StepLine {
        number: (flags & 8 == 0).then_some(number),
        executed: flags & 1 != 0,
        failed: flags & 2 != 0,
        no_code: flags & 4 != 0,
        usage,
        cost,
        timings,
        code_digest,
        task: from.optional(Reader::text)?,
    })
}

fn write_final(out: &mut Writer, value: &Final) {
    match value {
        Final::Unset => out.number(0),
        Final::None => out.number(1),
        Final::Null => out.number(2),
        Final::Value { shape, text } => {
            let shape = SHAPES
                .iter()
                .position(|known| known == shape)
                .unwrap_or(SHAPES.len() - 1);
            out.number(3 + shape as u64);
            out.text(text);
        }
    }
}

fn read_final(from: &mut Reader<'_>) -> Option<Final> {
    Some(match from.number()? {
        0 => Final::Unset,
        1 => Final::None,
        2 => Final::Null,
        shape => {
            let shape = *SHAPES.get(usize::try_from(shape - 3).ok()?)?;
            Final::Value {
                shape,
                text: from.text()?,
            }
        }
    })
}
