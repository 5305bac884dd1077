//! Hostile, wide and huge text on the real screens, in a real pseudo-terminal: nothing of the data acts on the
//! terminal, everything lines up, and what was recorded can be copied back.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)] // What fails, fails the test.

// Each of its users needs its own part of it.
#[path = "pty/mod.rs"]
mod pty;
#[allow(dead_code)]
mod viewer_files;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fast_rlm::text::{SafeText, cell_width, cut, wrap_line};
use pty::Pty;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use viewer_files::{Place, lines};

const STILL: &[&str] = &["--tui", "--no-animation", "--no-cache"];

/// A step of the run `r1` with this code and this output.
fn step_with(number: u64, code: &str, output: &str) -> String {
    json!({
        "level": 30, "time": "2026-01-01T00:00:00Z", "run_id": "r1", "depth": 0, "step": number,
        "event_type": "execution_result", "code": code, "output": output, "reasoning": output, "hasError": false,
        "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11, "cost": 0.001},
    })
    .to_string()
}

fn state_of(text: &str) -> Value {
    json!({
        "version": 2,
        "queries": [{"query": text, "final": text, "log_file": "logs/a.jsonl", "run_id": "r1"}],
        "pending_query": text,
        "code_log": [{"q": 0, "step": 1, "ok": true, "code": text}],
        "variables": {text: {"pickle_b64": "", "type": text, "preview": text, "comment": text, "note": text, "committed": true}},
        "functions": {format!("f{text}"): text},
        "dropped": {format!("d{text}"): text},
    })
}

/// A session in which `text` stands wherever text can stand.
fn full_of(text: &str) -> Place {
    let child = json!({"run_id": text, "parent_run_id": "r1", "depth": 1, "time": "2026-01-01T00:00:00Z", "event_type": "agent_start"});
    let end = json!({"run_id": "r1", "event_type": "agent_end", "outcome": "error", "error": text});
    let odd = json!({"run_id": "r1", "event_type": text});
    let place = Place::new();
    place.put("s/state.json", state_of(text).to_string());
    let log = [
        step_with(0, text, text),
        child.to_string(),
        step_with(1, text, text),
        odd.to_string(),
        end.to_string(),
    ];
    place.put("s/logs/a.jsonl", lines(&log));
    place
}

/// A session with one step.
fn one_step(code: &str, output: &str) -> Place {
    Place::with_log(&lines(&[step_with(1, code, output)]))
}

fn start(place: &Place, env: &[(&str, &str)]) -> Pty {
    let pty = Pty::open(&place.path("s"), STILL, env);
    pty.wait_for("Q1");
    pty
}

/// Goes through the screens and panes, and waits after each key until all is drawn.
fn look_around(pty: &mut Pty) {
    for keys in [
        "\r", "i", "\x1b", "r", "\x1b", "o", "v", "\x1b", "t", "\x1b", "\x1b", "m", "\x1b[B", "\x1b[B", "\x1b", "!",
        "\x1b", "x", "\x1b", "\\",
    ] {
        pty.send(keys);
        std::thread::sleep(Duration::from_millis(60));
    }
    pty.settle();
}

#[test]
fn no_sequence_of_the_data_reaches_the_terminal() {
    const ATTACKS: [(&str, &str); 12] = [
        ("\x1b]52;c;ZXZpbA==\x07", "\x1b]52;"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1b]8;"),
        ("\x1b]0;evil\x07", "\x1b]0;"),
        ("\x1b[6n", "\x1b[6n"),
        ("\x1bc", "\x1bc"),
        ("\x1bP1;1|evil\x1b\\", "\x1bP"),
        ("\u{9b}31m", "\u{9b}"),
        ("\u{9d}0;evil\u{9c}", "\u{9d}"),
        ("\x1b[", "\x1b[\x1b"),
        ("\x1b[?1049l", "\x1b[?1049l"),
        ("\u{202e}evil\u{2066}", "\u{202e}"),
        ("a\u{200b}\u{2060}b", "\u{200b}"),
    ];
    let all: String = ATTACKS.iter().map(|(attack, _)| format!("x{attack}y ")).collect();
    let place = full_of(&format!("{all}שלום مرحبا"));
    let mut pty = start(&place, &[]);
    look_around(&mut pty);
    let written = pty.written();
    for (_, trace) in ATTACKS {
        assert!(!written.contains(trace), "{trace:?} was written");
    }
    assert!(
        written.contains("␛]52") && written.contains("‹U+202E›"),
        "nothing of it is shown"
    );
    pty.send("\x03\x03");
    assert_eq!(pty.exit_code(), 0);
    let (stats, json) = (place.stats(), place.run("s", &["--json"]));
    let harmful = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2066}' | '\u{200b}');
    assert!(!stats.contains(harmful), "{stats:?}");
    assert!(!json.stdout.iter().any(|byte| *byte < b' ' && *byte != b'\n'));
}

#[test]
fn hebrew_and_arabic_stay_as_they_are() {
    let place = full_of("שלום עולם، مرحبا بالعالم");
    assert!(place.stats().contains("שלום עולם، مرحبا بالعالم"));
    let mut pty = start(&place, &[]);
    pty.send("\r");
    pty.wait_for("שלום");
}

/// What counts cells, what cuts and what wraps agree, on everything that is hard to measure.
#[test]
fn wide_text_is_cut_and_wrapped_by_whole_characters_at_every_width() {
    let marks = format!("a{}", "\u{301}".repeat(200));
    let hard = [
        "日本語と漢字",
        "⚠️ 1️⃣ ©️",
        "👨‍👩‍👧‍👦👩🏽‍🚀",
        "🇩🇪🇯🇵🇩",
        "👍🏽👍🏿",
        marks.as_str(),
        "a\u{200d}b",
        "ｶﾞｷﾞ",
        "한국어",
    ];
    for text in hard.map(SafeText::line) {
        let text = text.as_str();
        for width in 0..=20 {
            let (head, cells) = cut(text, width);
            assert!(
                cells <= width && cell_width(head) == cells && text.starts_with(head),
                "{text:?} cut at {width}"
            );
            let rows = wrap_line(text, width);
            let whole: String = rows.iter().map(|row| &text[row.bytes.clone()]).collect();
            assert_eq!(whole, text, "wrapped at {width}");
            for row in rows {
                let part = text[row.bytes].trim_end();
                let fits = cell_width(part) <= width.max(1);
                assert!(
                    fits || cut(part, cell_width(part) - 1).1 == 0,
                    "{part:?} is wider than {width}"
                );
            }
        }
    }
}

#[test]
fn wide_text_leaves_every_border_in_its_place() {
    let place = full_of("日本語 👨‍👩‍👧‍👦 ⚠️ 🇩🇪 👍🏽 क्षि e\u{301} | 漢字かな交じり文と👩🏽‍🚀の話 ");
    let mut pty = start(&place, &[]);
    for keys in ["\r", "i", "\x1b", "r", "\x1b", "\x1b[B", "\x1b[B"] {
        pty.send(keys);
        pty.settle();
        for row in pty.rows() {
            // What this terminal takes for wider is cut off at the next cell that was placed.
            let last = row.trim_end().chars().next_back().unwrap_or(' ');
            let opens = row.starts_with(['│', '┃']);
            assert!(!opens || "│┃┓╮┛╯▐█".contains(last), "{row}");
        }
    }
}

#[test]
fn tabs_expand_a_carriage_return_restarts_and_copies_are_what_was_recorded() {
    let output = "a\tb\nprogress 10%\rprogress 99%\nend";
    let place = one_step("if x:\n\ty = 1", output);
    let mut pty = start(&place, &[("SSH_TTY", "/dev/pts/0")]);
    pty.send("\r");
    pty.wait_for("progress 99%");
    assert!(!pty.screen_text().contains("10%"));
    pty.wait_for("a   b");
    // The focus goes round: the output is one of the panes.
    let copied = BASE64_STANDARD.encode(output);
    for _ in 0..4 {
        pty.send("wy");
        pty.wait_for("OSC 52");
        pty.settle();
    }
    assert!(pty.written().contains(&copied));
}

#[test]
fn lines_beyond_sixteen_bits_and_of_a_megabyte_are_reached_and_survive_a_resize() {
    let many: String = (1..=70_000).map(|line| format!("line {line}\n")).collect();
    let place = one_step(&format!("x = '{}tail'", "y".repeat(1 << 20)), &(many + "the end"));
    let mut pty = start(&place, &[]);
    pty.send("\r");
    pty.wait_for("line 1");
    for _ in 0..4 {
        pty.send("wG");
        pty.settle();
    }
    pty.wait_for("the end");
    pty.wait_for("tail'");
    pty.resize(20, 60);
    pty.settle();
    pty.resize(30, 100);
    pty.wait_for("the end");
    pty.wait_for("line 69999");
}

#[test]
fn one_long_line_of_shell_code_is_shown_at_once_and_text_over_lines_keeps_its_colour() {
    let base64 = "QUJD".repeat(2560);
    let place = one_step(
        &format!("!echo {base64} | base64 -d\ntext = '''\none\ntwo\n'''\nlast = 1"),
        "done",
    );
    let mut pty = start(&place, &[("COLORTERM", "truecolor")]);
    pty.send("\r");
    pty.wait_for("!echo");
    pty.wait_for("QUJDQUJD");
    for _ in 0..4 {
        pty.send("wG");
        pty.settle();
    }
    pty.wait_for("last = 1");
}

#[test]
fn releases_are_no_keys_and_following_never_clears_the_screen() {
    let place = one_step("x = 1", "one");
    let mut pty = start(&place, &[]);
    pty.send("\x1b[63;1:3u");
    pty.settle();
    assert!(!pty.screen_text().contains("Everywhere"));
    pty.send("\x1b[63;1:1u\x1b[63;1:3u");
    pty.wait_for("Everywhere");
    // An escape and what follows at once would be one key.
    pty.send("\x1b");
    pty.settle();
    pty.send("\r");
    pty.wait_for("step 1");
    let clears = |pty: &Pty| pty.written().matches("\x1b[2J").count();
    let before = clears(&pty);
    for number in 2..12 {
        let all: Vec<String> = (1..=number).map(|n| step_with(n, "x = 1", "more")).collect();
        place.put("s/logs/a.jsonl", lines(&all));
        std::thread::sleep(Duration::from_millis(20));
    }
    pty.wait_for("step 11");
    assert_eq!(clears(&pty), before);
}

#[test]
fn colours_are_those_that_the_terminal_has() {
    let place = full_of("text");
    let colours = |env: &[(&str, &str)]| {
        let mut pty = start(&place, env);
        look_around(&mut pty);
        let written = pty.written();
        let any = |parts: &[&str]| parts.iter().any(|part| written.contains(part));
        (
            any(&["38;2;", "48;2;"]),
            any(&["38;5;", "48;5;"]),
            any(&["\x1b[3", "\x1b[4", "\x1b[9", ";3", ";4"]),
        )
    };
    let (truecolor, ..) = colours(&[("COLORTERM", "truecolor"), ("TERM", "xterm-256color")]);
    assert!(truecolor);
    let (truecolor, indexed, _) = colours(&[("COLORTERM", ""), ("TERM", "xterm-256color")]);
    assert_eq!((truecolor, indexed), (false, true));
    let (truecolor, _, any) = colours(&[("COLORTERM", ""), ("TERM", "xterm")]);
    assert_eq!((truecolor, any), (false, true));
    let none = colours(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]);
    assert_eq!((none.0, none.1), (false, false));
}

#[test]
fn a_state_that_is_replaced_all_the_time_is_followed_and_never_seen_half() {
    let place = Place::new();
    let state = |count: usize| {
        let queries: Vec<Value> = (0..count)
            .map(|_| json!({"query": format!("of {count}"), "final": count}))
            .collect();
        json!({"version": 2, "queries": queries, "pending_query": null}).to_string()
    };
    let replace = |count: usize| {
        let new = place.put("s/state.json.tmp", state(count));
        std::fs::rename(new, place.path("s/state.json")).unwrap();
    };
    replace(1);
    let mut pty = start(&place, &[]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for count in (2..100).chain([42]) {
                replace(count);
                std::thread::sleep(Duration::from_millis(20));
            }
            done.store(true, Ordering::SeqCst);
        });
        while !done.load(Ordering::SeqCst) {
            let stats = place.stats();
            let of = stats
                .lines()
                .find_map(|line| line.strip_prefix("Queries"))
                .unwrap()
                .trim()
                .replace(" completed", "");
            assert_eq!(stats.matches(&format!("of {of}\n")).count().to_string(), of, "{stats}");
            assert!(!stats.contains("Problems"), "{stats}");
        }
    });
    pty.wait_for("42 queries");
    pty.wait_for("of 42");
    assert!(!pty.screen_text().contains("problem"), "{}", pty.screen_text());
    pty.settle();
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn refused_arguments_do_not_act_on_the_terminal_and_keep_its_colours() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["a", "b\u{1b}]0;pwned\u{7}\u{1b}[2Jz\u{9b}\u{202e}", "--no\u{1b}]t"];
    let mut terminal = Pty::viewer(dir.path(), &words[..2], &[]);
    assert_eq!(terminal.exit_code(), 2);
    let told = terminal.written();
    assert!(
        told.contains("\u{1b}[31m") && told.contains("b␛]0;pwned␇␛[2Jz‹U+009B›‹U+202E›"),
        "{told:?}"
    );
    for acts in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{9b}", "\u{202e}"] {
        assert!(!told.contains(acts), "{told:?}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let ran = command.args(["x", words[2]]).output().unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(2) && told.contains("--no␛]t"), "{told:?}");
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

#[test]
fn the_json_of_the_viewer_holds_nothing_that_acts() {
    let text = "a\u{9b}31m\u{202e}\u{200b}ä";
    let out = full_of(text).run("s", &["--json"]).stdout;
    let out = String::from_utf8(out).unwrap();
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["queries"][0]["query"], json!(text));
    assert!(!out.contains(['\u{9b}', '\u{202e}', '\u{200b}']), "{out:?}");
}
