//! What a row of the tree says: a step's name, a sub-agent's task, and marks for what went wrong.

use super::TreeRow;
use crate::model::{Agent, AgentId, LiveRun, Phase, Placement, Run, Step, StepKind};
use crate::text::{Glyphs, SafeText, cell_width, compact_count, count, cut, plural};
use crate::tui::ctx::Ctx;
use crate::tui::screens::Place;
use crate::tui::screens::overview::head::head;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// The longest name anyone reads in a tree.
const NAME_CELLS: usize = 160;
/// Cells of the figure at the right: tokens.
const FIGURE: usize = 6;

/// What a place is called, whatever room there is.
pub(super) fn name(run: &Run, place: Place) -> SafeText {
    let Some(agent) = run.agent(place.agent) else {
        return SafeText::default();
    };
    match place.step {
        None => agent_name(run, place.agent, agent),
        Some(step) => agent
            .steps
            .get(step)
            .map(|step| SafeText::line(&step.label()))
            .unwrap_or_default(),
    }
}

/// A sub-agent is called by its task, else by its id; so are roots beside the query's own.
fn agent_name(run: &Run, id: AgentId, agent: &Agent) -> SafeText {
    if run.roots.first() == Some(&id) {
        return SafeText::literal("root");
    }
    if agent.task.trim().is_empty() {
        head(&agent.run_id, NAME_CELLS)
    } else {
        head(&agent.task, NAME_CELLS)
    }
}

/// A row in at most `width` cells: indentation, fold, name, marks; tokens at the right where there is room.
pub(super) fn line(run: &Run, root: &str, row: &TreeRow, selected: bool, width: usize, ctx: &Ctx<'_>) -> Styled {
    let Some(agent) = run.agent(row.place.agent) else {
        return Styled::new();
    };
    let step = row.place.step.and_then(|step| agent.steps.get(step));
    let pointer = if selected {
        Glyphs::of(ctx.options.ascii).pointer
    } else {
        " "
    };
    let mut line = Styled::words(pointer, ctx.style(Role::Accent));
    line.append(indentation(row, width, ctx));
    let (name, role) = match step {
        Some(step) => (
            name(run, row.place),
            if step.failed { Role::Failure } else { Role::Text },
        ),
        None if run.roots.first() == Some(&row.place.agent) => (SafeText::line(root), Role::Accent),
        None => (name(run, row.place), Role::Title),
    };
    let marks = match step {
        Some(step) => step_marks(agent, step, width, ctx),
        None => agent_marks(agent, row, ctx),
    };
    let figure = figure(agent, step);
    let fixed = line.width() + marks.width();
    let with_figure = width >= 20 && fixed + FIGURE + 8 <= width;
    let room = width.saturating_sub(fixed + if with_figure { FIGURE } else { 0 });
    line.push(shortened(&name, room, ctx), ctx.style(role));
    line.append(marks);
    if with_figure {
        let blanks = width.saturating_sub(line.width() + cell_width(&figure));
        line.push(
            SafeText::line(&format!("{}{figure}", " ".repeat(blanks))),
            ctx.style(Role::Dim),
        );
    }
    line
}

/// Two cells a level, as long as half of the row is left; beyond that the level's number stands in front.
fn indentation(row: &TreeRow, width: usize, ctx: &Ctx<'_>) -> Styled {
    let levels = row.depth as usize;
    let most = (width / 4).max(1);
    let glyphs = Glyphs::of(ctx.options.ascii);
    let dim = ctx.style(Role::Dim);
    let blank = if levels <= most {
        "  ".repeat(levels)
    } else {
        format!("{levels:<0$}", most * 2)
    };
    let fold = match row.open {
        Some(true) => glyphs.unfolded,
        Some(false) => glyphs.folded,
        None => " ",
    };
    Styled::of(SafeText::line(&blank), dim)
        .then(SafeText::literal(fold), dim)
        .then(SafeText::literal(" "), dim)
}

fn step_marks(agent: &Agent, step: &Step, width: usize, ctx: &Ctx<'_>) -> Styled {
    let mut marks = Styled::new();
    let in_flight = |live: &LiveRun| {
        live.step(&agent.run_id, step.number)
            .is_some_and(|step| step.kept.is_none())
    };
    if step.body.is_none() && ctx.session.live().is_some_and(in_flight) {
        marks.append(running(ctx));
    }
    if step.failed {
        marks.push(SafeText::literal(" "), ctx.style(Role::Failure));
        marks.push(
            SafeText::literal(Glyphs::of(ctx.options.ascii).failed),
            ctx.style(Role::Failure),
        );
    }
    if !step.children.is_empty() {
        let agents = step.children.len() as u128;
        let agents = if width < 30 {
            count(agents)
        } else {
            plural(agents, "agent", "agents")
        };
        marks.push(SafeText::line(&format!(" ({agents})")), ctx.style(Role::Dim));
    }
    marks
}

/// The mark of what works right now.
fn running(ctx: &Ctx<'_>) -> Styled {
    let style = ctx.style(Role::Running);
    Styled::words(" ", style).then(SafeText::literal(ctx.glyphs().running), style)
}

/// Failed steps below a folded agent show on the agent.
fn agent_marks(agent: &Agent, row: &TreeRow, ctx: &Ctx<'_>) -> Styled {
    let mut marks = Styled::new();
    let phase = ctx.session.live().and_then(|live| live.phase(&agent.run_id));
    if phase.is_some_and(Phase::is_alive) {
        marks.append(running(ctx));
    }
    if agent.placement == Placement::Guess {
        marks.push(SafeText::literal(" ?"), ctx.style(Role::Warning));
    }
    if agent.orphan {
        marks.push(SafeText::literal(" orphan"), ctx.style(Role::Warning));
    }
    if agent.subtree.failed > 0 && row.open == Some(false) {
        marks.push(SafeText::literal(" "), ctx.style(Role::Failure));
        marks.push(
            SafeText::literal(Glyphs::of(ctx.options.ascii).failed),
            ctx.style(Role::Failure),
        );
    }
    marks
}

/// Tokens of a step, or of an agent with all below it.
fn figure(agent: &Agent, step: Option<&Step>) -> String {
    match step {
        Some(step) if step.kind != StepKind::Reply => String::new(),
        Some(step) if !step.usage_known => "?".into(),
        Some(step) => compact_count(step.usage.total.into()),
        None if !agent.subtree.tokens_known() => "?".into(),
        None => compact_count(agent.subtree.usage.total.into()),
    }
}

fn shortened(name: &SafeText, room: usize, ctx: &Ctx<'_>) -> SafeText {
    let (whole, _) = cut(name.as_str(), room);
    if whole.len() == name.as_str().len() {
        return name.clone();
    }
    let (start, _) = cut(name.as_str(), room.saturating_sub(1));
    let ellipsis = if room > 0 {
        Glyphs::of(ctx.options.ascii).ellipsis
    } else {
        ""
    };
    SafeText::line(&format!("{}{ellipsis}", start.trim_end()))
}
