//! `cargo run --example record_cast [FILE]`: a demo of the terminal program as an asciicast (`screenshots/demo.cast` unless
//! told otherwise). `asciinema play screenshots/demo.cast` shows it.
//!
//! The real program runs in a pseudo-terminal on the bundled session. Keys are pressed when the screen shows what they are
//! meant for, so that the recording does not depend on how fast the machine is; only pauses are timed. The program must
//! have been built before (`cargo build`): it is looked for beside this one.

mod scenario;
mod terminal;

use scenario::{Act, SCENARIO};
use std::error::Error;
use std::path::PathBuf;
use terminal::Terminal;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/screenshots/demo.cast")),
        PathBuf::from,
    );
    let mut terminal = Terminal::start(&program()?)?;
    for act in SCENARIO {
        match act {
            Act::Await(text) => terminal.wait_for(text)?,
            Act::Pause(time) => std::thread::sleep(*time),
            Act::Press(keys) => terminal.press(keys)?,
            Act::Type(text) => terminal.type_slowly(text)?,
        }
    }
    std::fs::write(file, terminal.finish()?)?;
    Ok(())
}

/// `fast-rlm-log` of the same build.
fn program() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let beside = own.parent().and_then(|examples| examples.parent());
    let program = beside
        .ok_or("an example lies in target/PROFILE/examples")?
        .join("fast-rlm-log");
    if program.is_file() {
        return Ok(program);
    }
    Err(format!("{} is not built: cargo build", program.display()).into())
}
