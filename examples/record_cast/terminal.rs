//! A pseudo-terminal that remembers what was written to it, and when.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::json;
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// Nothing of the scenario takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was written.
struct Written {
    /// Seconds from the start, and the text.
    events: Vec<(f64, String)>,
    /// The end of a character that has not come whole.
    rest: Vec<u8>,
    screen: vt100::Parser,
}

impl Written {
    fn take(&mut self, at: f64, bytes: &[u8]) {
        self.screen.process(bytes);
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        // One drawing comes in several pieces.
        match self.events.last_mut() {
            Some((last, written)) if at - *last < 0.01 => written.push_str(&text),
            _ => self.events.push((at, text)),
        }
    }
}

/// The program in its terminal.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    written: Arc<Mutex<Written>>,
    reading: JoinHandle<()>,
    master: Box<dyn MasterPty + Send>,
    /// An empty home.
    _home: tempfile::TempDir,
}

impl Terminal {
    /// Starts the program on the bundled session.
    pub(crate) fn start(program: &Path) -> Result<Self, Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(program);
        command.args(["--demo", "--tui", "--theme", "dark", "--utc"]);
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("COLORTERM", "truecolor"),
            ("LC_ALL", "C.UTF-8"),
        ] {
            command.env(name, value);
        }
        command.env("XDG_CONFIG_HOME", home.path());
        command.env("XDG_STATE_HOME", home.path());
        let child = pair.slave.spawn_command(command)?;
        drop(pair.slave);
        let written = Arc::new(Mutex::new(Written {
            events: Vec::new(),
            rest: Vec::new(),
            screen: vt100::Parser::new(ROWS.try_into()?, COLUMNS.try_into()?, 0),
        }));
        let reading = read(pair.master.try_clone_reader()?, Arc::clone(&written));
        Ok(Self {
            child,
            writer: pair.master.take_writer()?,
            written,
            reading,
            master: pair.master,
            _home: home,
        })
    }

    /// Waits until the screen shows a text.
    pub(crate) fn wait_for(&self, text: &str) -> Result<(), Box<dyn Error>> {
        let since = Instant::now();
        loop {
            let shown = lock(&self.written).screen.screen().contents();
            if shown.contains(text) {
                return Ok(());
            }
            if since.elapsed() > PATIENCE {
                return Err(format!("no {text:?} on the screen:\n{shown}").into());
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) -> Result<(), Box<dyn Error>> {
        self.writer.write_all(keys.as_bytes())?;
        self.writer.flush()?;
        Ok(())
    }

    /// Types a text.
    pub(crate) fn type_slowly(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        for c in text.chars() {
            self.press(c.encode_utf8(&mut [0; 4]))?;
            sleep(Duration::from_millis(70));
        }
        Ok(())
    }

    /// Waits for the program's end; the recording, as an asciicast of version 2.
    pub(crate) fn finish(self) -> Result<String, Box<dyn Error>> {
        let Self {
            mut child,
            writer,
            written,
            reading,
            master,
            _home,
        } = self;
        child.wait()?;
        drop((writer, master));
        reading.join().map_err(|_| "the reader failed")?;
        let header = json!({
            "version": 2,
            "width": COLUMNS,
            "height": ROWS,
            "title": "fast-rlm-log --demo --tui",
            "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
            "idle_time_limit": 3,
        });
        let events = &lock(&written).events;
        let lines = events.iter().filter(|(_, text)| !text.is_empty());
        let lines: String = lines
            .map(|(at, text)| format!("{}\n", json!([at, "o", text])))
            .collect();
        Ok(format!("{header}\n{lines}"))
    }
}

fn lock(written: &Mutex<Written>) -> std::sync::MutexGuard<'_, Written> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(mut reader: Box<dyn Read + Send>, written: Arc<Mutex<Written>>) -> JoinHandle<()> {
    let since = Instant::now();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        // A terminal that nobody has open any more ends in an error.
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            let at = (since.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
            lock(&written).take(at, buffer.get(..read).unwrap_or_default());
        }
    })
}
