//! Where keys apply: a screen's own context first, then everywhere.

/// A group of bindings. The topmost layer names the one that is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Every screen, unless its own context says otherwise.
    Everywhere,
    /// The transcript of a run.
    Run,
    /// The memory screen.
    Memory,
    /// The list of sessions.
    Picker,
    /// A one-line prompt: search, palette, filter. Printable keys type.
    Prompt,
    /// The box for questions and answers. Printable keys type.
    Box,
}

impl Context {
    /// All, in the order of the documentation.
    pub const ALL: [Context; 6] = [
        Context::Everywhere,
        Context::Run,
        Context::Memory,
        Context::Picker,
        Context::Prompt,
        Context::Box,
    ];

    /// Its name in keymap files and headings.
    pub fn name(self) -> &'static str {
        match self {
            Context::Everywhere => "everywhere",
            Context::Run => "run",
            Context::Memory => "memory",
            Context::Picker => "picker",
            Context::Prompt => "prompt",
            Context::Box => "box",
        }
    }

    /// Where its keys work, for sentences; `None` for everywhere.
    pub fn place(self) -> Option<&'static str> {
        match self {
            Context::Everywhere => None,
            Context::Run => Some("in a run"),
            Context::Memory => Some("in memory"),
            Context::Picker => Some("in the list of sessions"),
            Context::Prompt => Some("while typing in a line"),
            Context::Box => Some("in the box"),
        }
    }

    /// The context of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    /// Keys type text here: letters keep their case, and only `Ctrl-C` and `Ctrl-Z` of the bindings that hold
    /// everywhere apply.
    pub fn types_text(self) -> bool {
        matches!(self, Context::Prompt | Context::Box)
    }
}
