//! The progress line of a query on a terminal: it shows what is so now, in one row.

use super::Place;
use crate::pty::Pty;
use crate::running::script;
use portable_pty::CommandBuilder;
use serde_json::json;
use std::time::{Duration, Instant};

/// A query whose second reply takes a minute, in a terminal of so many columns.
fn waiting(place: &Place, columns: u16) -> Pty {
    let usage = json!({"prompt": 1_234, "completion": 200, "cost": 0.05});
    let replies = json!([{"code": "first = 1", "usage": usage}, {"code": "FINAL(1)", "delay": 60}]);
    let script = script::write(place.path(), "waiting.json", &json!({ "replies": replies }));
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fast-rlm"));
    command.args([
        "the prompt",
        "--primary-agent",
        &format!("scripted:{}", script.display()),
    ]);
    command.cwd(place.path());
    command.env("XDG_CONFIG_HOME", place.path().join("no-configuration"));
    Pty::narrow(command, columns)
}

/// Rows that are progress lines.
fn lines(screen: &Pty) -> Vec<String> {
    let rows = screen.rows().into_iter();
    rows.filter(|row| row.starts_with("step ")).collect()
}

fn wait_until(what: impl Fn() -> bool) {
    let since = Instant::now();
    while !what() {
        assert!(since.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn it_shows_the_last_event_and_the_time_that_passes() {
    let place = Place::new();
    let mut screen = waiting(&place, 100);
    screen.wait_for("✓ step 1");
    // Its call began just after the step's line was drawn.
    screen.wait_for("step 2 · 1.4k tokens");
    let first = lines(&screen);
    wait_until(|| {
        let now = lines(&screen);
        now.len() == 1 && now != first
    });
    screen.send("\x03");
    assert_eq!(screen.exit_code(), 130);
    assert_eq!(lines(&screen), Vec::<String>::new(), "it goes with the query");
}

#[test]
fn it_is_cut_to_one_row_of_a_narrow_terminal() {
    let place = Place::new();
    for columns in [20, 30] {
        let mut screen = waiting(&place, columns);
        screen.wait_for("step 2");
        let drawn = || screen.written().matches("\r\x1b[K").count();
        let before = drawn();
        wait_until(|| drawn() > before + 2);
        assert_eq!(lines(&screen).len(), 1, "{}", screen.screen_text());
        screen.send("\x03");
        assert_eq!(screen.exit_code(), 130);
    }
}
