//! The table: the only place where an action's name, keys and words are written.

use super::{Action as A, Context, Entry};

/// A row; keys are written in the notation of [`Chord`](crate::tui::keymap::Chord).
const fn row(
    action: A,
    context: Context,
    name: &'static str,
    keys: &'static [&'static str],
    hint: &'static str,
    doc: &'static str,
) -> Entry {
    Entry {
        action,
        name,
        context,
        keys,
        hint,
        doc,
    }
}

use Context::{Box, Everywhere as E, Memory, Picker, Prompt, Run};

/// Every action, grouped by context, in the order in which help shows them.
#[rustfmt::skip]
pub const ACTIONS: &[Entry] = &[
    row(A::MoveUp, E, "up", &["up"], "up", "Move or scroll up"),
    row(A::MoveDown, E, "down", &["down"], "down", "Move or scroll down"),
    row(A::MoveLeft, E, "left", &["left"], "left", "Move or scroll left"),
    row(A::MoveRight, E, "right", &["right"], "right", "Move or scroll right"),
    row(A::PageUp, E, "page-up", &["pgup"], "page up", "One page up"),
    row(A::PageDown, E, "page-down", &["pgdn"], "page down", "One page down"),
    row(A::First, E, "first", &["home", "g"], "first", "To the first row"),
    row(A::Last, E, "last", &["end", "G"], "last", "To the last row, and stay there"),
    row(A::Open, E, "open", &["enter"], "open", "Open what is selected"),
    row(A::Back, E, "back", &["esc", "backspace"], "back", "Back, or close what is on top"),
    row(A::Search, E, "search", &["/"], "search", "Search on this screen"),
    row(A::SearchNext, E, "search-next", &["n"], "next", "Next match"),
    row(A::SearchPrevious, E, "search-previous", &["N"], "previous", "Previous match"),
    row(A::SearchSession, E, "search-session", &["\\"], "search all", "Search the whole session"),
    row(A::Palette, E, "palette", &[":", "ctrl-p"], "palette", "Find an action by its name"),
    row(A::Help, E, "help", &["?"], "keys", "Show all keys"),
    row(A::Problems, E, "problems", &["!"], "problems", "Damage and oddities that were found"),
    row(A::Ask, E, "ask", &["a"], "ask", "Ask this session something"),
    row(A::Memory, E, "memory", &["m"], "memory", "What the session remembers"),
    row(A::Timeline, E, "timeline", &["t"], "timeline", "When each agent worked"),
    row(A::Sessions, E, "sessions", &["s"], "sessions", "The list of sessions"),
    row(A::Copy, E, "copy", &["y"], "copy", "Copy the focused pane"),
    row(A::OpenExternally, E, "open-externally", &["e"], "editor", "Open the pane in $EDITOR or $PAGER"),
    row(A::Export, E, "export", &["x"], "export", "Export the run or the session"),
    row(A::Fold, E, "fold", &["z"], "fold", "Fold or unfold"),
    row(A::Raw, E, "raw", &["v"], "raw", "As it was recorded, or rendered"),
    row(A::LineNumbers, E, "line-numbers", &["#"], "line numbers", "Line numbers on or off"),
    row(A::Wrap, E, "wrap", &[], "wrap", "Wrap long lines, or scroll sideways"),
    row(A::ZoomIn, E, "zoom-in", &["+"], "zoom in", "Zoom in"),
    row(A::ZoomOut, E, "zoom-out", &["-"], "zoom out", "Zoom out"),
    row(A::ZoomReset, E, "zoom-reset", &["0"], "zoom reset", "Zoom back to everything"),
    row(A::NextPane, E, "next-pane", &["w"], "next pane", "Focus the next pane"),
    row(A::Quit, E, "quit", &["q"], "quit", "Close what is on top, else quit"),
    row(A::Budget, E, "budget", &["b"], "more money", "Let the run spend twice as much; ask again with twice the limit that stopped one"),
    row(A::Resume, E, "resume", &["u"], "resume", "Resume the interrupted run"),
    row(A::Suspend, E, "suspend", &["ctrl-z"], "suspend", "Back to the shell; `fg` returns here"),
    row(A::Interrupt, E, "interrupt", &["ctrl-c"], "interrupt", "Close, clear, cancel the run, or quit"),

    row(A::StepPrevious, Run, "step-previous", &["up"], "step", "Previous step"),
    row(A::StepNext, Run, "step-next", &["down"], "step", "Next step"),
    row(A::Parent, Run, "parent", &["left"], "parent", "To the parent"),
    row(A::FirstChild, Run, "first-child", &["right"], "child", "To the first child"),
    row(A::SiblingNext, Run, "sibling-next", &["tab"], "sibling", "Next sibling"),
    row(A::SiblingPrevious, Run, "sibling-previous", &["shift-tab"], "sibling", "Previous sibling"),
    row(A::CodeUp, Run, "code-up", &["h"], "code", "Scroll the code up"),
    row(A::CodeDown, Run, "code-down", &["j"], "code", "Scroll the code down"),
    row(A::OutputUp, Run, "output-up", &["k"], "output", "Scroll the output up"),
    row(A::OutputDown, Run, "output-down", &["l"], "output", "Scroll the output down"),
    row(A::Input, Run, "input", &["i"], "input", "What this agent was given"),
    row(A::Reasoning, Run, "reasoning", &["r"], "reasoning", "Reasoning of this step"),
    row(A::Final, Run, "final", &["o"], "final", "Final output of this agent"),
    row(A::RunPrevious, Run, "run-previous", &["["], "run", "Previous run"),
    row(A::RunNext, Run, "run-next", &["]"], "run", "Next run"),
    row(A::Fork, Run, "fork", &["f"], "fork", "Fork the session here"),
    row(A::Diff, Run, "diff", &["d"], "diff", "Compare with another run"),
    row(A::Replay, Run, "replay", &["p"], "replay", "Replay, and scrub through the steps"),

    row(A::EntryPrevious, Memory, "entry-previous", &["up"], "select", "Previous entry"),
    row(A::EntryNext, Memory, "entry-next", &["down"], "select", "Next entry"),
    row(A::DetailDown, Memory, "detail-down", &["j"], "detail", "Scroll the detail down"),
    row(A::DetailUp, Memory, "detail-up", &["k"], "detail", "Scroll the detail up"),

    row(A::Sort, Picker, "sort", &["o"], "sort", "Sort by the next column"),
    row(A::NewSession, Picker, "new-session", &["c"], "new", "Begin a new session here"),
    row(A::Rename, Picker, "rename", &["r"], "rename", "Give the session another name"),

    row(A::Accept, Prompt, "accept", &["enter"], "accept", "Accept"),
    row(A::Cancel, Prompt, "cancel", &["esc"], "cancel", "Leave the prompt"),
    row(A::SelectPrevious, Prompt, "select-previous", &["up", "ctrl-p"], "select", "Previous in the list"),
    row(A::SelectNext, Prompt, "select-next", &["down", "ctrl-n"], "select", "Next in the list"),

    row(A::Send, Box, "send", &["enter"], "send", "Send"),
    row(A::NewLine, Box, "new-line", &["alt-enter", "ctrl-j"], "new line", "New line"),
    row(A::Undo, Box, "undo", &["ctrl-_"], "undo", "Undo"),
    row(A::Redo, Box, "redo", &["alt-/", "alt-_"], "redo", "Do again what was undone"),
    row(A::HistorySearch, Box, "history-search", &["ctrl-r"], "history", "Search the history"),
    row(A::Editor, Box, "editor", &["ctrl-g"], "editor", "Write it in $EDITOR"),
    row(A::Complete, Box, "complete", &["tab"], "complete", "Complete an @path, or unfold a paste"),
    row(A::Settings, Box, "settings", &["ctrl-o"], "settings", "Model and limits of the next query"),
    row(A::LeaveBox, Box, "leave-box", &["esc"], "leave", "Leave the box; the draft stays"),
];
