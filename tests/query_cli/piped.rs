//! Prompts and input files that come by standard input.

use super::Place;
use crate::pty::Pty;
use crate::running::{Program, script};
use portable_pty::CommandBuilder;
use serde_json::json;

impl Place {
    /// A model that answers with what it was given.
    fn echoes(&self) -> Program {
        let replies = json!([{"code": "FINAL(context if isinstance(context, str) else repr(context))"}]);
        let script = script::write(self.path(), "echo.json", &json!({"replies": replies}));
        Program::new(self.path()).scripted(&script)
    }
}

#[test]
fn a_prompt_is_read_from_a_pipe() {
    let place = Place::new();
    assert_eq!(place.echoes().piped("über\n日本".as_bytes()).answer(), "über\n日本");
    assert_eq!(place.echoes().arg("-").piped(b"by name").answer(), "by name");
    let nothing = place.echoes().piped(b" \n");
    nothing.refused(2, &["--primary-agent"]);
    assert_eq!(nothing.out, "");
    place.echoes().arg("-").piped(b"").refused(2, &["prompt is empty"]);
    place
        .echoes()
        .piped(b"\xff\xfe")
        .refused(2, &["cannot read the prompt"]);
    let both = place.echoes().arg("-").option("--input-file", "-");
    both.piped(b"x").refused(2, &["standard input can be one of them"]);
}

#[test]
fn an_input_file_is_read_from_a_pipe_and_kept_for_replays() {
    let place = Place::new();
    let asked = place.echoes().arg("What is it?").option("--input-file", "-");
    let asked = asked.session(&place.session_dir()).piped(b"a line\nanother");
    assert_eq!(asked.answer(), "a line\nanother");
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir());
    let replayed = replay.run();
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    // Without a session it goes with the program.
    let asked = place
        .echoes()
        .arg("What is it?")
        .option("--input-file", "-")
        .arg("--json");
    let asked = asked.piped(b"once").json();
    assert_eq!((&asked["final"], &asked["log_file"]), (&json!("once"), &json!(null)));
}

#[test]
fn a_file_may_be_the_whole_input() {
    let place = Place::new();
    place.file("task.txt", "Say hello.");
    let about = || place.echoes().option("--input-file", "task.txt");
    assert_eq!(about().run().answer(), "Say hello.");
    // What is piped in is the prompt, and nothing is none.
    assert_eq!(about().piped(b"Why?").answer(), "Say hello.");
    assert_eq!(about().piped(b"").answer(), "Say hello.");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fast-rlm"));
    let model = format!("scripted:{}", place.path().join("echo.json").display());
    command.args(["--input-file", "task.txt", "--primary-agent", &model]);
    command.cwd(place.path());
    command.env("XDG_CONFIG_HOME", place.path().join("no-configuration"));
    let mut screen = Pty::narrow(command, 100);
    screen.wait_for("Say hello.");
    assert_eq!(screen.exit_code(), 0);
    let unsaid = place.echoes().option("--input-file", "-").piped(b"a line");
    unsaid.refused(2, &["--primary-agent"]);
}

#[test]
fn a_mistyped_command_is_no_question() {
    let place = Place::new();
    for (typed, meant) in [("replai", "replay"), ("sesions", "sessions"), ("whatif", "what-if")] {
        let ran = place.echoes().arg(typed).run();
        ran.refused(2, &[&format!("did you mean {meant}?")]);
    }
    assert_eq!(place.echoes().arg("--").arg("replai").run().answer(), "replai");
    for asked in ["replai the record", "hello", "Replai"] {
        assert_eq!(place.echoes().arg(asked).run().answer(), asked);
    }
}
