//! What the box looks like, at every size, in every state.

use super::*;
use crate::model::Cost;
use crate::tui::testing::text_of;
use crate::tui::theme::{Depth, Theme};
use ratatui::buffer::Buffer;

/// Draws it at the bottom of a screen; the caret is within the box or what lies over it.
fn draw(bench: &mut Bench, width: u16, height: u16) -> Buffer {
    let whole = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(whole);
    let ctx = bench.world.ctx();
    let rows = bench.input.height(width, height, &ctx);
    let area = Rect::new(0, height - rows, width, rows);
    bench.input.draw(area, whole, &mut buf, &ctx);
    buf
}

/// Draws it at some size and checks what must always hold.
pub(super) fn draw_checked(bench: &mut Bench, width: u16, height: u16) {
    let buf = draw(bench, width, height);
    if let Some(cursor) = bench.input.cursor() {
        assert!(buf.area.contains(cursor), "{cursor:?} in {:?}", buf.area);
    }
    assert!(!text_of(&buf).contains('\x1b'));
}

/// Its rows without the empty screen above.
pub(super) fn shown(bench: &mut Bench, width: u16, height: u16) -> String {
    let text = text_of(&draw(bench, width, height));
    let caret = bench.input.cursor();
    let rows: Vec<&str> = text.lines().skip_while(|row| row.is_empty()).collect();
    let above = usize::from(height) - rows.len();
    let caret = caret.map(|at| format!("caret {} {}", at.x, usize::from(at.y) - above));
    format!("{}\n-- {}", rows.join("\n"), caret.unwrap_or_else(|| "no caret".into()))
}

fn spent(bench: &mut Bench, nano: i64, unknown: u64) {
    let cost = &mut bench.world.session.completed.cost;
    cost.add(Cost::Known(nano));
    cost.unknown = unknown;
}

type Prepare = fn(&mut Bench);

fn states() -> Vec<(&'static str, Prepare)> {
    vec![
        ("unfocused", |bench| bench.input.focus(false)),
        ("unfocused_draft", |bench| {
            bench.type_in("what is 中 and 👩‍👧?");
            bench.input.focus(false);
        }),
        ("empty", |_| {}),
        ("suggestion", |bench| {
            bench.input.suggest(vec!["Which of them is older?".into()])
        }),
        ("draft", |bench| {
            bench.type_in("Compare the answers of the first two queries, and say ");
            bench.keys(&["alt-enter"]);
            bench.give(&Input::Paste(&"row\n".repeat(1234)));
            bench.later(200);
            bench.type_in(" why 日本語 and 👩‍👩‍👧 differ\t");
        }),
        ("hostile", |bench| {
            bench.give(&Input::Paste("\x1b[31mred\x1b[0m \u{202e}olleh\u{200b} ok"));
        }),
        ("no_model", |bench| {
            bench.input.set_settings(Settings::default());
            let why = "no model: choose one with Ctrl-O, or set primary_agent in rlm_config.yaml";
            bench.input.stand(Standing::Blocked(why.into()), &bench.world.ctx());
        }),
        ("read_only", |bench| {
            let why = "a single transcript has no box: open its session to ask";
            bench.input.stand(Standing::Closed(why.into()), &bench.world.ctx());
        }),
        ("running", |bench| {
            let running = Standing::Running {
                what: "step 3, the model writes".into(),
                since: Duration::ZERO,
            };
            bench.world.now = Duration::from_millis(83_400);
            bench.input.stand(running, &bench.world.ctx());
        }),
        ("cancelling", |bench| {
            drop(bench.input.stand(Standing::Cancelling, &bench.world.ctx()))
        }),
        ("failed", |bench| {
            let why = "the model's server said 503: overloaded";
            bench.input.stand(Standing::Failed(why.into()), &bench.world.ctx());
        }),
        ("asked", |bench| ask(bench, false)),
        ("asked_free", |bench| {
            ask(bench, true);
            bench.later(1000);
            bench.type_in("neither");
        }),
        ("recall", |bench| {
            bench.queries(&["Count the letters", "Who wrote\nthis?", "Count the words"]);
            bench.keys(&["ctrl-r"]);
            bench.type_in("co");
        }),
        ("settings", |bench| {
            bench.keys(&["ctrl-o", "down", "down", "ctrl-u", "x", "enter"])
        }),
    ]
}

fn ask(bench: &mut Bench, free: bool) {
    let question = Question {
        id: 1,
        label: "Q4 asks".into(),
        text: "Two flights fit the budget, and both are refundable.\nWhich one is to be booked?".into(),
        options: vec!["the early one".into(), "the late one".into()],
        free,
    };
    bench.input.ask(question, &bench.world.ctx());
    bench.keys(&["down", "down"]);
}

#[test]
fn every_state_at_three_widths() {
    for (name, prepare) in states() {
        let mut out = String::new();
        for (width, height) in [(120, 34), (80, 22), (40, 8)] {
            let mut bench = Bench::new();
            spent(&mut bench, 410_000_000, 3);
            prepare(&mut bench);
            out += &format!("== {width}x{height}\n{}\n", shown(&mut bench, width, height));
        }
        insta::assert_snapshot!(name, out);
    }
}

#[test]
fn everything_has_an_ascii_form() {
    let mut out = String::new();
    for (name, prepare) in states() {
        let mut bench = Bench::new();
        bench.world.options.ascii = true;
        prepare(&mut bench);
        out += &format!("== {name}\n{}\n", crate::text::ascii(&shown(&mut bench, 80, 22)));
    }
    insta::assert_snapshot!("ascii", out);
}

#[test]
fn nothing_is_told_by_colour_alone() {
    for (name, prepare) in states() {
        let text = |theme: Theme| {
            let mut bench = Bench::new();
            bench.world.theme = theme;
            prepare(&mut bench);
            shown(&mut bench, 80, 22)
        };
        let dark = text(Theme::built_in(true, Depth::True));
        assert_eq!(dark, text(Theme::built_in(false, Depth::Ansi16)), "{name}");
        assert_eq!(dark, text(Theme::built_in(true, Depth::Mono)), "{name}");
    }
}

#[test]
fn every_state_draws_at_every_size() {
    for (_, prepare) in states() {
        let mut bench = Bench::new();
        prepare(&mut bench);
        for width in 0..45 {
            for height in 0..16 {
                draw_checked(&mut bench, width, height);
            }
        }
    }
}

#[test]
fn a_long_draft_takes_its_share_and_scrolls() {
    let mut bench = Bench::new();
    for line in 0..9 {
        bench.type_in(&line.to_string());
        bench.keys(&["alt-enter"]);
    }
    let text = shown(&mut bench, 60, 20);
    assert!(bench.input.height(60, 20, &bench.world.ctx()) <= 8, "{text}");
    assert!(text.contains('8') && !text.contains("› 0"), "{text}");
    bench.keys(&["ctrl-home"]);
    assert!(shown(&mut bench, 60, 20).contains("› 0"));
}

#[test]
fn a_click_puts_the_caret_there() {
    let mut bench = Bench::new();
    bench.type_in("ab 中x");
    draw(&mut bench, 60, 20);
    let caret = bench.input.cursor().unwrap();
    let at = Position {
        x: caret.x - 3,
        ..caret
    };
    bench.give(&Input::Mouse(crate::tui::input::Mouse {
        kind: crate::tui::input::MouseKind::Press,
        at,
    }));
    bench.type_in("!");
    assert_eq!(bench.text(), "ab !中x");
}

#[test]
fn why_nothing_can_be_asked_is_read_to_its_end_where_one_writes() {
    let why = "in use by process 5300 on a host, since 2026-12-01T05:31:51Z: it is followed here, and can be asked when \
               that is done";
    for (width, rows) in [(60, 20), (80, 24), (100, 30)] {
        let mut bench = Bench::new();
        bench.input.stand(Standing::Blocked(why.into()), &bench.world.ctx());
        let frame = shown(&mut bench, width, rows);
        assert!(frame.contains("that is done"), "{frame}");
        assert!(!frame.contains('…'), "{frame}");
    }
    // More than there is room for is marked as cut.
    let mut bench = Bench::new();
    bench
        .input
        .stand(Standing::Blocked("word ".repeat(99)), &bench.world.ctx());
    assert!(shown(&mut bench, 60, 20).contains('…'));
}
