//! The terminal is taken over whole and given back whatever happens: the real program in a real pseudo-terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // What fails, fails the test.

#[path = "pty/mod.rs"]
mod pty;

use pty::{Pty, session_dir};
use rustix::process::{Pid, Signal, kill_process};

/// Everything that the program switches on.
const MODES: [&str; 6] = ["1049", "1004", "2004", "1000", "1002", "1006"];

fn start() -> Pty {
    let pty = Pty::start(&["--tui", "--no-animation"], &[]);
    pty.wait_for("? keys");
    pty
}

fn signal(pty: &Pty, signal: Signal) {
    kill_process(Pid::from_raw(pty.pid()).unwrap(), signal).unwrap();
}

/// The alternate screen is left and the modes are off, in the order in which the terminal saw it.
fn assert_restored(pty: &Pty) {
    for mode in MODES {
        assert!(!pty.is_on(mode), "mode {mode} is still on");
    }
    assert!(pty.is_on("25"), "the cursor is still hidden");
    assert!(pty.is_cooked(), "the terminal is still raw");
}

#[test]
fn quitting_restores_it_and_says_nothing() {
    let mut pty = start();
    assert!(!pty.is_cooked());
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
    let after = pty.written().split("\x1b[?1049l").last().unwrap_or_default().to_owned();
    assert_eq!(after, "");
}

#[test]
fn a_second_interrupt_quits() {
    let mut pty = start();
    pty.send("?");
    pty.wait_for("Everywhere");
    pty.send("\x03\x03");
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
}

#[test]
fn signals_that_end_it_restore_it() {
    for (which, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut pty = start();
        signal(&pty, which);
        assert_eq!(pty.exit_code(), code);
        assert_restored(&pty);
    }
}

#[test]
fn signals_that_would_end_any_program_end_it_with_the_terminal_restored() {
    for (which, name) in [
        (Signal::QUIT, "Quit"),
        (Signal::ABORT, "Aborted"),
        (Signal::USR1, "User defined signal 1"),
        (Signal::USR2, "User defined signal 2"),
        (Signal::ALARM, "Alarm clock"),
        (Signal::VTALARM, "Virtual timer expired"),
        (Signal::PROF, "Profiling timer expired"),
        (Signal::XCPU, "CPU time limit exceeded"),
    ] {
        let mut pty = start();
        signal(&pty, which);
        assert_eq!(pty.signal_of_end().as_deref(), Some(name));
        assert_restored(&pty);
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_no_end() {
    let mut pty = start();
    signal(&pty, Signal::XFSZ);
    pty.send("?");
    pty.wait_for("Everywhere");
    pty.send("\x03\x03");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn a_signal_under_an_editor_ends_both_and_leaves_no_file() {
    let (_dir, editor) = editor("exec sleep 60");
    let mut pty = open_in(&editor);
    pty.wait_for("EDITING");
    let (process, file) = noted(&editor);
    // As a terminal sends it to all that run in it: it is the editor's.
    signal(&pty, Signal::QUIT);
    signal(&pty, Signal::USR1);
    assert_eq!(pty.signal_of_end().as_deref(), Some("User defined signal 1"));
    assert!(!file.exists(), "the text is still there");
    wait_for_end(process);
}

/// Waits for the end of a process that nobody may have waited for yet.
fn wait_for_end(process: Pid) {
    let ends = (0..500).any(|_| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
        std::thread::sleep(std::time::Duration::from_millis(10));
        stat.is_empty() || stat.contains(") Z ")
    });
    assert!(ends, "the editor still runs");
}

#[test]
fn a_panic_restores_it_and_says_where_the_report_is() {
    for place in ["here", "task"] {
        let state = tempfile::tempdir().unwrap();
        let env = [
            ("FAST_RLM_TEST_PANIC", place),
            ("XDG_STATE_HOME", state.path().to_str().unwrap()),
        ];
        let mut pty = Pty::start(&["--tui"], &env);
        pty.wait_for("? keys");
        pty.send("\x1b[24~");
        assert_eq!(pty.exit_code(), 101, "{place}");
        assert_restored(&pty);
        let told = pty.written().split("\x1b[?1049l").last().unwrap_or_default().to_owned();
        assert!(told.contains("this is a bug: provoked"), "{told}");
        let (_, path) = told.split_once("A report was written to ").unwrap();
        let report = std::fs::read_to_string(path.trim()).unwrap();
        assert!(
            report.starts_with("provoked") && report.contains("provoke.rs"),
            "{report}"
        );
    }
}

#[test]
fn a_terminal_that_goes_away_ends_it() {
    let mut pty = start();
    pty.hang_up();
    pty.wait_for_end();
}

#[test]
fn it_stops_for_the_shell_and_comes_back() {
    let mut pty = Pty::shell();
    pty.send(&format!(
        "{} {} --tui\r",
        env!("CARGO_BIN_EXE_fast-rlm-log"),
        session_dir().display()
    ));
    pty.wait_for("? keys");
    pty.send("\x1a");
    pty.wait_for("Stopped");
    // The shell has bracketed paste for itself.
    let off = |mode: &&str| !pty.is_on(mode);
    assert!(MODES.iter().filter(|mode| **mode != "2004").all(off));
    pty.send("echo $((6 * 7))\r");
    pty.wait_for("42");
    pty.clear_screen_log();
    pty.send("fg\r");
    // Not the program's name: the shell says that, too.
    pty.wait_for("› queries");
    pty.send("?");
    pty.wait_for("Everywhere");
    pty.clear_screen_log();
    pty.send("qq");
    pty.wait_for("$ ");
    pty.send("exit\r");
    pty.wait_for_end();
}

#[test]
fn an_editor_gets_the_terminal_and_every_key_while_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let editor = dir.path().join("editor");
    let script = "#!/bin/sh\necho EDITING; read line; echo \"$line $1 $(stat -c %a $1)\" > \"$0.log\"\n";
    std::fs::write(&editor, script).unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut pty = Pty::start(&["--tui", "--no-animation"], &[("VISUAL", editor.to_str().unwrap())]);
    pty.wait_for("? keys");
    pty.send("\r");
    pty.wait_for("print(len(context)");
    pty.send("we");
    pty.wait_for("EDITING");
    assert!(pty.is_cooked());
    pty.send("quit? no\r");
    pty.wait_for("step");
    pty.send("qq");
    assert_eq!(pty.exit_code(), 0);
    let told = std::fs::read_to_string(editor.with_extension("log")).unwrap();
    let words: Vec<_> = told.trim().rsplitn(3, ' ').collect();
    assert_eq!((words[2], words[0]), ("quit? no", "600"), "{told}");
    assert!(!std::path::Path::new(words[1]).exists(), "{} was left behind", words[1]);
}

/// An editor that notes its process and its file, and then does this; and the directory that both are in.
fn editor(then: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let editor = dir.path().join("editor");
    let script = format!("#!/bin/sh\necho $$ $1 > \"$0.log\"\necho EDITING\n{then}\n");
    std::fs::write(&editor, script).unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = editor.to_str().unwrap().to_owned();
    (dir, path)
}

/// What the editor noted.
fn noted(editor: &str) -> (Pid, std::path::PathBuf) {
    let noted = std::fs::read_to_string(format!("{editor}.log")).unwrap();
    let (process, file) = noted.trim().split_once(' ').unwrap();
    (Pid::from_raw(process.parse().unwrap()).unwrap(), file.into())
}

fn open_in(editor: &str) -> Pty {
    let mut pty = Pty::start(&["--tui", "--no-animation"], &[("VISUAL", editor)]);
    pty.wait_for("? keys");
    pty.send("\r");
    pty.wait_for("print(len(context)");
    pty.send("we");
    pty
}

#[test]
fn a_signal_ends_the_editor_too_and_leaves_no_file() {
    for (which, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let (_dir, editor) = editor("exec sleep 60");
        let mut pty = open_in(&editor);
        pty.wait_for("EDITING");
        let (process, file) = noted(&editor);
        assert!(file.exists());
        signal(&pty, which);
        assert_eq!(pty.exit_code(), code);
        assert_restored(&pty);
        assert!(!file.exists(), "{} was left behind", file.display());
        assert!(kill_process(process, Signal::CONT).is_err(), "the editor still runs");
    }
}

#[test]
fn an_editor_that_does_not_end_is_not_waited_for() {
    let (_dir, editor) = editor("trap '' TERM HUP; exec sleep 60");
    let mut pty = open_in(&editor);
    pty.wait_for("EDITING");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (process, file) = noted(&editor);
    signal(&pty, Signal::TERM);
    assert_eq!(pty.exit_code(), 143);
    assert!(!file.exists(), "{} was left behind", file.display());
    kill_process(process, Signal::KILL).unwrap();
}

#[test]
fn a_terminal_that_goes_away_under_an_editor_leaves_no_file() {
    let (_dir, editor) = editor("exec sleep 60");
    let mut pty = open_in(&editor);
    pty.wait_for("EDITING");
    let (process, file) = noted(&editor);
    pty.hang_up();
    pty.wait_for_end();
    assert!(!file.exists(), "{} was left behind", file.display());
    assert!(kill_process(process, Signal::CONT).is_err(), "the editor still runs");
}

#[test]
fn an_editor_that_fails_is_told_of() {
    let (_dir, editor) = editor("exit 3");
    let mut pty = open_in(&editor);
    pty.wait_for("editor ended with status 3");
    pty.send("qq");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn keys_that_come_at_once_are_all_answered() {
    let mut pty = start();
    pty.send(&("\x1b[B".repeat(1300) + "q"));
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let mut pty = start();
    pty.send("?");
    pty.wait_for("Everywhere");
    pty.settle();
    let before = pty.written().len();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(pty.written().len(), before, "{:?}", pty.written().get(before..));
    pty.send("qq");
}

#[test]
fn a_storm_of_resizes_down_to_one_cell_ends_in_a_whole_frame() {
    let mut pty = start();
    pty.send("?");
    pty.wait_for("Everywhere");
    for step in 0..60u16 {
        pty.resize(1 + step * 7 % 90, 1 + step * 5 % 30);
    }
    pty.resize(30, 100);
    pty.wait_for("Everywhere");
    pty.send("qq");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn the_terminals_answer_about_its_ground_is_not_typed() {
    let mut pty = start();
    // It is asked once the first frame stands.
    pty.settle();
    assert!(pty.written().contains("\x1b]11;?"), "it was not asked");
    pty.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    pty.send("?");
    pty.wait_for("Everywhere");
    pty.send("qq");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn where_it_cannot_start_the_terminal_is_untouched() {
    for (args, env, part) in [
        (&["--tui"][..], &[("TERM", "dumb")][..], "--stats"),
        (&["--tui", "--theme", "/nonexistent.toml"], &[], "/nonexistent.toml"),
    ] {
        let mut pty = Pty::start(args, env);
        assert_eq!(pty.exit_code(), 2);
        let written = pty.written();
        assert!(written.contains(part), "{written}");
        assert!(!written.contains('\x1b'), "{written:?}");
    }
}
