//! Writing in the box: pastes of any kind and size, and drafts that outlive the program.

use crate::desk::{Desk, ask, quit, replies, say};
use crate::pty::Pty;
use serde_json::json;
use std::time::Duration;

fn start(desk: &Desk) -> Pty {
    let pty = desk.scripted(&replies(&["FINAL(str(len(context)))"]));
    pty.wait_for("first answer");
    pty
}

fn paste(pty: &mut Pty, text: &str) {
    pty.send(&format!("\x1b[200~{text}\x1b[201~"));
}

fn queries(desk: &Desk) -> usize {
    desk.state()["queries"].as_array().unwrap().len()
}

#[test]
fn ten_megabytes_are_one_chip_that_goes_and_comes_as_a_whole() {
    let desk = Desk::new();
    let mut pty = start(&desk);
    pty.send("a");
    paste(&mut pty, &"0123456789abcde\n".repeat(10 << 16));
    pty.wait_for("[pasted 655,360 lines]");
    pty.send("\x7f");
    pty.wait_for("a question, with @path");
    pty.send("\x1f");
    pty.wait_for("[pasted 655,360 lines]");
    pty.send("\x03");
    pty.wait_for("a question, with @path");
    assert_eq!(queries(&desk), 1);
    quit(pty);
}

#[test]
fn a_paste_is_sent_whole_and_sends_nothing_by_itself() {
    let desk = Desk::new();
    let mut pty = start(&desk);
    pty.send("a");
    paste(&mut pty, &"one line\r".repeat(500));
    pty.wait_for("[pasted 500 lines]");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(queries(&desk), 1);
    pty.send("\r");
    pty.wait_for("4500");
    pty.wait_for("answered in");
    assert_eq!(desk.state()["queries"][1]["final"], json!("4500"));
    quit(pty);
}

#[test]
fn a_paste_without_brackets_and_one_with_a_bracket_in_it_send_nothing() {
    let desk = Desk::new();
    let mut pty = start(&desk);
    pty.send("a");
    pty.send("alpha\rbeta\r");
    pty.wait_for("beta");
    pty.send("\x03");
    pty.wait_for("a question, with @path");
    paste(&mut pty, "gamma\x1b[201~delta\repsilon\r");
    pty.wait_for("epsilon");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(queries(&desk), 1);
    quit(pty);
}

#[test]
fn what_comes_at_once_without_brackets_comes_whole() {
    let desk = Desk::new();
    let mut pty = start(&desk);
    pty.send("a");
    pty.wait_for("a question, with @path");
    pty.send(&"w".repeat(6000));
    pty.wait_for("[pasted 6,000 bytes]");
    std::thread::sleep(Duration::from_millis(300));
    pty.send("\r");
    pty.wait_for("answered in");
    assert_eq!(desk.state()["queries"][1]["final"], json!("6000"));
    quit(pty);
}

#[test]
fn a_draft_outlives_the_program_and_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let mut pty = start(&desk);
    pty.send("a");
    pty.send("half a question");
    pty.wait_for("half a question");
    quit(pty);
    let drafts = std::fs::read_dir(desk.path().join("state/fast-rlm/drafts")).unwrap();
    let modes: Vec<u32> = drafts
        .map(|draft| draft.unwrap().metadata().unwrap().permissions().mode() & 0o777)
        .collect();
    assert_eq!(modes, [0o600]);
    let mut pty = start(&desk);
    pty.wait_for("goes on with: half a question");
    ask(&mut pty, ", whole");
    pty.wait_for("answered in");
    assert_eq!(desk.state()["queries"][1]["query"], json!("half a question, whole"));
    quit(pty);
}

#[test]
fn an_attached_file_is_the_context() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("data.txt"), "x".repeat(321)).unwrap();
    let mut pty = start(&desk);
    pty.send("a");
    pty.send("measure @data");
    pty.wait_for("@data");
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\t");
    pty.wait_for("data.txt");
    pty.wait_for("321B");
    pty.send("\t");
    pty.wait_for("[data.txt 321B]");
    std::thread::sleep(Duration::from_millis(200));
    say(&mut pty, "please");
    pty.wait_for("answered in");
    assert_eq!(desk.state()["queries"][1]["final"], json!("321"));
    quit(pty);
}
