//! A program in a pseudo-terminal: what it writes, what its screen shows, and how it ends.
#![allow(dead_code)] // Each test program uses its own part.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::event::{PollFd, PollFlags};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Waiting for anything longer than this is a failure.
const LIMIT: Duration = Duration::from_secs(20);

struct Screen {
    bytes: Vec<u8>,
    parser: vt100::Parser,
}

/// A program that runs in a terminal of 100×30.
pub(crate) struct Pty {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<Screen>>,
    /// Set to make the reader let go of the terminal.
    gone: Arc<AtomicBool>,
}

/// A small session to open.
pub(crate) fn session_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo")
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

impl Pty {
    /// Starts the viewer on a small session.
    pub(crate) fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::open(&session_dir(), args, env)
    }

    /// Starts the viewer on a session of the test's own.
    pub(crate) fn open(session: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command.arg(session);
        command.args(args);
        env.iter().for_each(|(key, value)| command.env(key, value));
        Self::spawn(command, env)
    }

    /// Starts the viewer in a directory with these arguments.
    pub(crate) fn viewer(dir: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command.cwd(dir);
        command.args(args);
        env.iter().for_each(|(key, value)| command.env(key, value));
        Self::spawn(command, env)
    }

    /// Starts a shell with job control.
    pub(crate) fn shell() -> Self {
        let mut command = CommandBuilder::new("bash");
        command.args(["--norc", "--noprofile", "-i"]);
        Self::spawn(command, &[])
    }

    /// Starts a program in a terminal of so many columns.
    pub(crate) fn narrow(command: CommandBuilder, columns: u16) -> Self {
        Self::spawn_sized(command, &[], columns)
    }

    fn spawn(command: CommandBuilder, env: &[(&str, &str)]) -> Self {
        Self::spawn_sized(command, env, 100)
    }

    fn spawn_sized(mut command: CommandBuilder, env: &[(&str, &str)], columns: u16) -> Self {
        for (key, value) in [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8"), ("PS1", "$ ")] {
            if !env.iter().any(|(set, _)| *set == key) {
                command.env(key, value);
            }
        }
        let pair = native_pty_system().openpty(size(30, columns)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(30.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let screen = Arc::new(Mutex::new(Screen {
            bytes: Vec::new(),
            parser,
        }));
        let gone = Arc::new(AtomicBool::new(false));
        read_into(reader_of(pair.master.as_ref()), screen.clone(), gone.clone());
        Self {
            writer: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            child,
            screen,
            gone,
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.process_id().unwrap()).unwrap()
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Everything that was written so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap().bytes).into_owned()
    }

    /// Whether a mode was switched on last.
    pub(crate) fn is_on(&self, mode: &str) -> bool {
        let written = self.written();
        written.rfind(&format!("\x1b[?{mode}h")) > written.rfind(&format!("\x1b[?{mode}l"))
    }

    /// Forgets what the screen shows.
    pub(crate) fn clear_screen_log(&self) {
        self.screen.lock().unwrap().parser.process(b"\x1b[2J\x1b[H");
    }

    /// What the screen shows.
    pub(crate) fn screen_text(&self) -> String {
        self.screen.lock().unwrap().parser.screen().contents()
    }

    /// The screen's rows.
    pub(crate) fn rows(&self) -> Vec<String> {
        let screen = self.screen.lock().unwrap();
        let (_, columns) = screen.parser.screen().size();
        screen.parser.screen().rows(0, columns.into()).collect()
    }

    fn shows(&self, text: &str) -> bool {
        self.screen.lock().unwrap().parser.screen().contents().contains(text)
    }

    /// Waits until the screen shows a text.
    pub(crate) fn wait_for(&self, text: &str) {
        let since = Instant::now();
        while !self.shows(text) {
            assert!(
                since.elapsed() < LIMIT,
                "no {text:?} on the screen:\n{}",
                self.screen_text()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the screen shows a text, or the program has ended; whether it was shown.
    pub(crate) fn shows_or_ends(&mut self, text: &str) -> bool {
        let since = Instant::now();
        while !self.shows(text) {
            assert!(
                since.elapsed() < LIMIT,
                "no {text:?} on the screen:\n{}",
                self.screen_text()
            );
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// Waits until the screen does not show a text any more.
    pub(crate) fn wait_until_gone(&self, text: &str) {
        let since = Instant::now();
        while self.shows(text) {
            assert!(since.elapsed() < LIMIT, "{text:?} stays on the screen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until nothing was written for a while.
    pub(crate) fn settle(&self) {
        let mut before = usize::MAX;
        while before != self.written().len() {
            before = self.written().len();
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        let sized = |n: u16| std::num::NonZeroU16::new(n).unwrap();
        self.screen
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(sized(rows), sized(cols));
        self.master.as_ref().unwrap().resize(size(rows, cols)).unwrap();
    }

    /// Whether the terminal echoes and reads by lines, as a shell's does.
    pub(crate) fn is_cooked(&self) -> bool {
        let terminal = reader_of(self.master.as_ref().unwrap().as_ref());
        let modes = rustix::termios::tcgetattr(&terminal).unwrap().local_modes;
        modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO)
    }

    /// Closes the terminal under the program.
    pub(crate) fn hang_up(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
        self.writer = None;
        self.master = None;
    }

    /// Waits for the end; returns the exit code.
    pub(crate) fn exit_code(&mut self) -> u32 {
        self.wait_for_end();
        let code = self.child.wait().unwrap().exit_code();
        self.settle();
        code
    }

    /// Waits for the end; returns the signal that ended it, if one did.
    pub(crate) fn signal_of_end(&mut self) -> Option<String> {
        self.wait_for_end();
        let signal = self.child.wait().unwrap().signal().map(str::to_owned);
        self.settle();
        signal
    }

    /// Waits for the end.
    pub(crate) fn wait_for_end(&mut self) {
        let since = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(since.elapsed() < LIMIT, "it did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// A descriptor of its own on the terminal.
fn reader_of(master: &dyn MasterPty) -> File {
    // SAFETY: the master is open while it is borrowed.
    #[allow(unsafe_code)]
    let fd = unsafe { BorrowedFd::borrow_raw(master.as_raw_fd().unwrap()) };
    File::from(fd.try_clone_to_owned().unwrap())
}

/// Reads until the terminal ends, or until it is to be let go.
fn read_into(mut reader: File, screen: Arc<Mutex<Screen>>, gone: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let patience = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 20_000_000,
        };
        while !gone.load(Ordering::SeqCst) {
            let mut fds = [PollFd::new(&reader, PollFlags::IN)];
            if rustix::event::poll(&mut fds, Some(&patience)) == Ok(0) {
                continue;
            }
            let Ok(read @ 1..) = reader.read(&mut buffer) else {
                return;
            };
            let mut screen = screen.lock().unwrap();
            screen.bytes.extend_from_slice(&buffer[..read]);
            screen.parser.process(&buffer[..read]);
        }
    });
}
