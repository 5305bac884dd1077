//! Every screen of the session, and every step of its runs, looked at in a terminal; and exports made there.

use crate::Place;
use crate::pty::Pty;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Steps of the session, its sub-agents' included, that are looked at least.
const STEPS: usize = 14;
/// The session's runs.
const RUNS: usize = 3;
/// A list is gone through no further than this.
const MOST: usize = 16;

/// What the terminal was sent meanwhile.
pub(crate) fn screens(place: &Place) -> Vec<u8> {
    let cache = place.path("cache");
    let env = [("FAST_RLM_CACHE_DIR", cache.to_str().unwrap())];
    let args = ["runs/one", "--tui", "--no-animation"];
    let mut screen = Pty::viewer(place.dir.path(), &args, &env);
    screen.wait_for("Tell me everything");
    screen.wait_until_gone("reading");
    let seen = runs(&mut screen);
    assert!(seen.len() >= STEPS, "{seen:?}");
    lab(&mut screen);
    session(&mut screen);
    exports(&mut screen, place);
    screen.send("q");
    assert_eq!(screen.exit_code(), 0);
    screen.written().into_bytes()
}

/// Presses a key; whether the screen is another one then.
fn press(screen: &mut Pty, keys: &str) -> bool {
    let before = screen.screen_text();
    screen.send(keys);
    // A key that does nothing shows nothing: what does something does it within this time.
    let patience = Instant::now() + Duration::from_millis(500);
    while screen.screen_text() == before && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut last = String::new();
    // Long enough for what is read from files on the way.
    while screen.screen_text() != last {
        last = screen.screen_text();
        std::thread::sleep(Duration::from_millis(25));
    }
    last != before
}

/// Presses a key as long as that changes something.
fn press_on(screen: &mut Pty, keys: &str) {
    for _ in 0..MOST {
        if !press(screen, keys) {
            return;
        }
    }
}

/// All steps of all runs with the panes over them; what the header called each step.
fn runs(screen: &mut Pty) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    press(screen, "g");
    press(screen, "\r");
    screen.wait_for("code");
    for _ in 0..RUNS {
        press(screen, "g");
        // What the agent was given, the step's reasoning, the agent's final: the key that opens a pane closes it.
        for pane in ["i", "r", "o"] {
            press(screen, pane);
            press(screen, "G");
            press(screen, pane);
        }
        for _ in 0..MOST {
            seen.insert(screen.screen_text().lines().next().unwrap_or_default().to_owned());
            if !press(screen, "\x1b[B") {
                break;
            }
        }
        press(screen, "]");
    }
    seen
}

/// A run scrubbed through, what a fork of it would begin with, and two runs compared.
fn lab(screen: &mut Pty) {
    press(screen, "g");
    press(screen, "p");
    screen.wait_for("← → step");
    press_on(screen, "\x1b[C");
    press(screen, "\x1b");
    press(screen, "f");
    press(screen, "\x1b");
    press(screen, "d");
    press(screen, "\r");
    press(screen, "G");
    press(screen, "\x1b");
    press(screen, "\x1b");
}

/// The screens of the whole session.
fn session(screen: &mut Pty) {
    press(screen, "m");
    screen.wait_for("memory");
    press_on(screen, "\x1b[Bjjj");
    press(screen, "\x1b");
    for key in ["t", "!"] {
        assert!(press(screen, key), "{key}");
        press(screen, "G");
        press(screen, "\x1b");
    }
    press(screen, "\\");
    press(screen, "tool:");
    screen.wait_for(" hit");
    press(screen, "\r");
    press(screen, "\x1b");
    press(screen, "\x1b");
}

/// A file of each form, as it is and as it is shown.
fn exports(screen: &mut Pty, place: &Place) {
    for form in 0..3 {
        for raw in [false, true] {
            press(screen, "x");
            screen.wait_for("Export");
            for _ in 0..form {
                press(screen, "\x1b[C");
            }
            if raw {
                press(screen, "v");
            }
            press(screen, "\r");
            screen.wait_for("Written: ");
            press(screen, "\r");
        }
    }
    let written = std::fs::read_dir(place.dir.path()).unwrap();
    let names: Vec<_> = written.map(|entry| entry.unwrap().path()).collect();
    for form in ["md", "html", "json"] {
        let of_form = names
            .iter()
            .filter(|path| path.extension().is_some_and(|kind| kind == form));
        assert_eq!(of_form.count(), 2, "{form}: {names:?}");
    }
}
