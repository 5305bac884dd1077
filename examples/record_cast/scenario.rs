//! What is shown: the overview, a run with its sub-agents, when they worked, what is remembered, and a question.

use std::time::Duration;

/// A step of the scenario.
pub(crate) enum Act {
    /// Until the screen shows this.
    Await(&'static str),
    /// For people to look.
    Pause(Duration),
    /// Keys, as a terminal sends them.
    Press(&'static str),
    /// Text, as a person types it.
    Type(&'static str),
}

const UP: Act = Act::Press("\x1b[A");
const DOWN: Act = Act::Press("\x1b[B");
const RIGHT: Act = Act::Press("\x1b[C");
const HOME: Act = Act::Press("\x1b[H");
const ENTER: Act = Act::Press("\r");
const ESC: Act = Act::Press("\x1b");

const fn look(ms: u64) -> Act {
    Act::Pause(Duration::from_millis(ms))
}

/// All of it.
pub(crate) const SCENARIO: &[Act] = &[
    Act::Await("? keys"),
    look(2500),
    UP,
    look(500),
    UP,
    look(500),
    HOME,
    look(1200),
    // The first run: its steps, a sub-agent, when each worked.
    ENTER,
    Act::Await("code"),
    look(1500),
    DOWN,
    look(900),
    DOWN,
    look(900),
    DOWN,
    look(900),
    DOWN,
    look(1200),
    RIGHT,
    look(1600),
    Act::Press("t"),
    Act::Await("agents"),
    look(2500),
    ESC,
    look(700),
    ESC,
    Act::Await("completed"),
    look(700),
    // What it remembers.
    Act::Press("m"),
    Act::Await("★"),
    look(1200),
    DOWN,
    look(700),
    DOWN,
    look(1500),
    ESC,
    Act::Await("completed"),
    look(700),
    // A question, answered by a script.
    Act::Press("a"),
    look(900),
    Act::Type("What did the goat do?"),
    look(700),
    ENTER,
    Act::Await("Q7"),
    look(3500),
    ESC,
    look(600),
    Act::Press("q"),
];
