//! A panic on demand, in debug builds: the test of the terminal guard needs real ones, in the drawing thread and in a
//! task.

use super::crew::Crew;
use crossterm::event::{KeyCode, KeyEvent};

/// Panics on F12 where `FAST_RLM_TEST_PANIC` says `here`, or in a task where it says `task`.
#[allow(clippy::panic)]
pub(super) fn panic_if_asked(key: KeyEvent, crew: &Crew) {
    if key.code != KeyCode::F(12) {
        return;
    }
    match std::env::var("FAST_RLM_TEST_PANIC").as_deref() {
        Ok("here") => panic!("provoked here"),
        Ok("task") => crew.take(|| panic!("provoked in a task")),
        _ => {}
    }
}
