//! Which pictures there are, and the keys that lead there.

/// One picture.
pub(crate) struct Scene {
    /// Its file name, without `-dark.svg`.
    pub(crate) name: &'static str,
    /// The window's title.
    pub(crate) title: &'static str,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    /// Several sessions are opened rather than one.
    pub(crate) several: bool,
    /// The session comes with its event log.
    pub(crate) log: bool,
    /// Keys from the first frame on.
    pub(crate) keys: &'static [&'static str],
}

const fn scene(name: &'static str, keys: &'static [&'static str]) -> Scene {
    Scene {
        name,
        title: "fast-rlm-log --demo --tui",
        size: (120, 36),
        several: false,
        log: false,
        keys,
    }
}

/// What every theme is shown with.
pub(crate) const THEMED: Scene = Scene {
    size: (100, 26),
    ..scene("theme", &[])
};

/// All of them.
pub(crate) const SCENES: &[Scene] = &[
    scene("overview", &[]),
    Scene {
        size: (80, 24),
        ..scene("overview-80x24", &[])
    },
    scene("run", &["home", "enter", "down", "down"]),
    scene(
        "run-sub-agent",
        &["home", "enter", "down", "down", "down", "down", "down", "right"],
    ),
    scene("timeline", &["home", "enter", "t"]),
    scene("session-timeline", &["t"]),
    scene("diff", &["home", "enter", "]", "d", "enter"]),
    Scene {
        log: true,
        ..scene("scrub", &["end", "up", "enter", "down", "p"])
    },
    Scene {
        log: true,
        ..scene("fork", &["end", "up", "enter", "down", "f", "enter"])
    },
    scene("memory", &["m", "down"]),
    scene("search", &["\\", "g", "o", "a", "t", "enter"]),
    scene("export", &["x"]),
    scene("problems", &["!"]),
    scene("help", &["?"]),
    scene("palette", &[":", "e"]),
    Scene {
        title: "fast-rlm-log sessions --tui",
        several: true,
        ..scene("picker", &[])
    },
];
