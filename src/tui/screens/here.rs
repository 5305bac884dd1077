//! What the keys do on each screen, where that is not what the table of actions says in general.

use crate::model::DiffMark;
use crate::tui::action::{Action as A, Here, Use};

const fn does(action: A, hint: &'static str, doc: &'static str) -> Use {
    Use::new(action, hint, doc)
}

const fn plain(action: A) -> Use {
    Use::plain(action)
}

/// The queries of the session.
pub(super) const OVERVIEW: Here = Here {
    uses: &[
        does(A::MoveUp, "query", "Previous query"),
        does(A::MoveDown, "query", "Next query"),
        does(A::Open, "open", "Open the run of the query"),
        does(A::MoveRight, "open", "Open the run of the query"),
        plain(A::Ask),
        plain(A::Resume),
        plain(A::PageUp),
        plain(A::PageDown),
        does(A::First, "first", "To the first query"),
        does(A::Last, "last", "To the last query, and stay there"),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[
        (|glyphs| glyphs.linked, "a query with its transcript"),
        (|glyphs| glyphs.missing, "its transcript is missing"),
        (|glyphs| glyphs.failed, "it failed, or has no FINAL"),
        (|glyphs| glyphs.running, "it goes on, or waits for an answer"),
    ],
};

/// The transcript of a run.
pub(super) const RUN: Here = Here {
    uses: &[
        plain(A::StepPrevious),
        plain(A::StepNext),
        plain(A::Parent),
        plain(A::FirstChild),
        plain(A::SiblingNext),
        plain(A::SiblingPrevious),
        does(
            A::Open,
            "zoom",
            "Unfold what is folded, else give the focused part all the room",
        ),
        plain(A::Input),
        plain(A::Reasoning),
        plain(A::Final),
        plain(A::CodeUp),
        plain(A::CodeDown),
        plain(A::OutputUp),
        plain(A::OutputDown),
        does(
            A::NextPane,
            "next pane",
            "Focus the next of code, output, tree and figures",
        ),
        does(A::PageUp, "page up", "Focused part: one page up"),
        does(A::PageDown, "page down", "Focused part: one page down"),
        does(A::First, "first", "Focused part: to its begin"),
        does(A::Last, "last", "Focused part: to its end"),
        plain(A::Fold),
        plain(A::Raw),
        plain(A::LineNumbers),
        plain(A::Wrap),
        does(A::ZoomIn, "zoom in", "Give the focused part all the room"),
        does(A::ZoomOut, "zoom out", "All parts again"),
        does(A::ZoomReset, "zoom reset", "All parts again"),
        plain(A::RunPrevious),
        plain(A::RunNext),
        does(A::Timeline, "timeline", "When each agent of this run worked"),
        plain(A::Replay),
        plain(A::Fork),
        plain(A::Diff),
        plain(A::Resume),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[],
};

/// A pane over the transcript: what an agent was given, its reasoning, its FINAL.
pub(super) const PANE: Here = Here {
    uses: &[
        does(A::StepPrevious, "scroll", "Scroll up"),
        does(A::StepNext, "scroll", "Scroll down"),
        does(A::Parent, "left", "Scroll left"),
        does(A::FirstChild, "right", "Scroll right"),
        plain(A::PageUp),
        plain(A::PageDown),
        does(A::First, "first", "To its begin"),
        does(A::Last, "last", "To its end"),
        does(A::Back, "close", "Close the pane"),
        does(A::Open, "close", "Close the pane"),
        does(A::Input, "input", "What this agent was given, or close it"),
        does(A::Reasoning, "reasoning", "Reasoning of this step, or close it"),
        does(A::Final, "final", "Final output of this agent, or close it"),
        plain(A::Raw),
        plain(A::Fold),
        plain(A::LineNumbers),
        plain(A::Wrap),
        plain(A::RunPrevious),
        plain(A::RunNext),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[],
};

/// A run step by step, with its names.
pub(super) const SCRUB: Here = Here {
    uses: &[
        does(A::Parent, "step", "To the step before"),
        does(A::FirstChild, "step", "To the step after"),
        does(A::StepPrevious, "name", "Previous name; in a text, scroll up"),
        does(A::StepNext, "name", "Next name; in a text, scroll down"),
        does(A::Open, "transcript", "To this step in the transcript"),
        does(A::Replay, "run again", "Run it again from its record, and compare"),
        does(A::Fork, "fork", "Fork the session before this step"),
        plain(A::Diff),
        plain(A::CodeUp),
        plain(A::CodeDown),
        does(A::OutputUp, "value", "Scroll the value up"),
        does(A::OutputDown, "value", "Scroll the value down"),
        does(
            A::NextPane,
            "next pane",
            "Focus the next of names, code and output, and value",
        ),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[
        (
            |glyphs| glyphs.failed,
            "at a step: its code raised; at a name: it could not be saved",
        ),
        (|glyphs| glyphs.check, "run again, the step came out as recorded"),
        (|glyphs| glyphs.differs, "run again, it did not"),
        (|_| "+", "the step added this name"),
        (|_| "~", "it bound it to something else"),
        (|_| "-", "the name is gone"),
        (|glyphs| glyphs.star, "commit() was called on it"),
        (|glyphs| glyphs.function, "a function"),
    ],
};

/// Agents over time.
pub(super) const TIMELINE: Here = Here {
    uses: &[
        does(A::MoveUp, "agent", "Previous agent"),
        does(A::MoveDown, "agent", "Next agent"),
        does(A::Open, "open", "To this agent in its run"),
        plain(A::ZoomIn),
        plain(A::ZoomOut),
        plain(A::ZoomReset),
        does(A::MoveLeft, "earlier", "Earlier, when zoomed in"),
        does(A::MoveRight, "later", "Later, when zoomed in"),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[],
};

/// What the session remembers.
pub(super) const MEMORY: Here = Here {
    uses: &[
        plain(A::EntryPrevious),
        plain(A::EntryNext),
        does(A::Open, "step", "To the step that bound it last"),
        plain(A::DetailDown),
        plain(A::DetailUp),
        does(A::NextPane, "next pane", "Focus the list, or the detail"),
        does(A::MoveLeft, "list", "Focus the list"),
        does(A::MoveRight, "detail", "Focus the detail"),
        plain(A::Raw),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        does(A::SearchNext, "next", "Next entry with a match"),
        does(A::SearchPrevious, "previous", "Previous entry with a match"),
    ],
    legend: &[
        (|glyphs| glyphs.star, "commit() was called on it"),
        (|_| "#", "its code has a comment on it"),
        (|glyphs| glyphs.function, "a function"),
        (|glyphs| glyphs.failed, "dropped: it could not be saved"),
    ],
};

/// The list of sessions.
pub(super) const PICKER: Here = Here {
    uses: &[
        does(A::MoveUp, "session", "Previous session"),
        does(A::MoveDown, "session", "Next session"),
        does(A::Open, "open", "Open the session"),
        does(A::Search, "filter", "Only sessions that match"),
        plain(A::Sort),
        plain(A::NewSession),
        plain(A::Rename),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[
        (|glyphs| glyphs.running, "a query goes on, waits, or was interrupted"),
        (
            |glyphs| glyphs.failed,
            "it cannot be opened, or its last query has no answer",
        ),
    ],
};

/// Damage and oddities.
pub(super) const PROBLEMS: Here = Here {
    uses: &[
        does(A::MoveUp, "problem", "Previous problem"),
        does(A::MoveDown, "problem", "Next problem"),
        does(A::Open, "step", "To the step that it is about"),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        plain(A::SearchNext),
        plain(A::SearchPrevious),
    ],
    legend: &[],
};

/// Two runs side by side.
pub(super) const DIFF: Here = Here {
    uses: &[
        does(A::MoveUp, "row", "Previous row; in the texts, scroll up"),
        does(A::MoveDown, "row", "Next row; in the texts, scroll down"),
        does(A::SearchNext, "next difference", "Next row that differs"),
        does(A::SearchPrevious, "previous", "Previous row that differs"),
        does(A::Open, "texts", "Into the texts, which scroll together"),
        does(A::Back, "back", "Back to the rows, then to where one came from"),
        does(A::NextPane, "next pane", "Focus the next of rows, left and right"),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
        plain(A::LineNumbers),
    ],
    legend: &[
        (|_| DiffMark::Plan.as_str(), "other code"),
        (|_| DiffMark::Result.as_str(), "the same code with another result"),
        (|_| DiffMark::Left.as_str(), "the left side only"),
        (|_| DiffMark::Right.as_str(), "the right side only"),
    ],
};

/// The question before leaving.
pub(super) const LEAVING: Here = Here {
    uses: &[
        does(A::Open, "cancel and leave", "Cancel what runs, and leave"),
        does(A::Back, "stay", "Stay here"),
    ],
    legend: &[],
};

/// The dialog of a fork, where leaving closes it.
pub(super) const FORK_CLOSES: Here = Here {
    uses: &[does(A::Back, "close", "Close")],
    legend: &[],
};

/// The line of that search.
pub(super) const SEARCH_LINE: Here = Here {
    uses: &[
        does(A::Accept, "to the hits", "To the hits"),
        does(A::SelectNext, "to the hits", "To the hits"),
        does(A::SelectPrevious, "to the hits", "To the hits"),
        does(
            A::Cancel,
            "to the hits, or back",
            "To the hits, or back where there are none",
        ),
    ],
    legend: &[],
};

/// What the search of the whole session found.
pub(super) const HITS: Here = Here {
    uses: &[
        does(A::MoveUp, "up", "Previous row"),
        does(A::MoveDown, "down", "Next row"),
        does(A::SearchNext, "next", "Next hit"),
        does(A::SearchPrevious, "previous", "Previous hit"),
        does(A::Open, "open", "To the place of the hit"),
        does(A::Search, "search all", "Search for something else"),
        does(A::SearchSession, "search all", "Search for something else"),
        plain(A::PageUp),
        plain(A::PageDown),
        plain(A::First),
        plain(A::Last),
    ],
    legend: &[],
};

/// The export that is being chosen.
pub(super) const EXPORT: Here = Here {
    uses: &[
        does(A::Open, "write", "Write the file"),
        does(A::MoveUp, "row", "Previous row"),
        does(A::MoveDown, "row", "Next row"),
        does(A::MoveLeft, "choose", "Previous choice"),
        does(A::MoveRight, "choose", "Next choice"),
        does(A::Raw, "as recorded", "The text as recorded, or as on screen"),
        does(A::Back, "close", "Close without writing"),
    ],
    legend: &[],
};

/// The export while it is written.
pub(super) const EXPORTING: Here = Here {
    uses: &[does(A::Back, "stop", "Stop: no file is left")],
    legend: &[],
};

/// The export that is written.
pub(super) const EXPORTED: Here = Here {
    uses: &[does(A::Open, "close", "Close"), does(A::Back, "close", "Close")],
    legend: &[],
};

/// The export that failed.
pub(super) const NOT_EXPORTED: Here = Here {
    uses: &[
        does(A::Open, "choose again", "Back to the choices"),
        does(A::Back, "close", "Close"),
    ],
    legend: &[],
};
