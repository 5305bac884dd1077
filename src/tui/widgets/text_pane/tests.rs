//! What a pane shows, row by row.

use super::*;
use crate::tui::pattern::Pattern;
use crate::tui::testing::{World, text_of};
use crate::tui::theme::Role;
use crate::tui::widgets::StyleSpan;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

fn pane(text: &str) -> TextPane {
    TextPane::new(SafeText::block(text))
}

fn buffer(pane: &mut TextPane, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    pane.draw(area, &mut buf, &World::new().ctx());
    buf
}

/// The first column of characters of each row tells which line it is.
fn draw(pane: &mut TextPane, width: u16, height: u16) -> Vec<String> {
    let text = text_of(&buffer(pane, width, height));
    text.lines()
        .map(|row| row.trim_end_matches(['│', '┃', ' ']).to_owned())
        .collect()
}

fn numbered(lines: usize) -> String {
    (0..lines).map(|line| format!("{line}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_end_of_seventy_thousand_lines_is_reached_and_not_passed() {
    let mut pane = pane(&numbered(70_000));
    draw(&mut pane, 20, 3);
    pane.act(Action::Last);
    assert_eq!(draw(&mut pane, 20, 3), ["69997", "69998", "69999"]);
    pane.act(Action::PageDown);
    assert_eq!(draw(&mut pane, 20, 3), ["69997", "69998", "69999"]);
    pane.act(Action::PageUp);
    assert_eq!(draw(&mut pane, 20, 3), ["69995", "69996", "69997"]);
}

#[test]
fn a_line_of_a_megabyte_scrolls_by_rows() {
    let mut pane = pane(&"x".repeat(1 << 20));
    draw(&mut pane, 21, 4);
    pane.act(Action::Last);
    assert_eq!(draw(&mut pane, 21, 4).len(), 4);
    pane.act(Action::First);
    pane.act(Action::MoveDown);
    assert_eq!(pane.top, scroll::Anchor { line: 0, byte: 20 });
}

#[test]
fn a_resize_keeps_the_top_line() {
    let mut pane = pane(
        &(0..100)
            .map(|line| format!("{line} {}", "word ".repeat(20)))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    draw(&mut pane, 40, 10);
    pane.to_line(50);
    for (width, height) in [(40, 10), (13, 5), (90, 12), (1, 1), (60, 10)] {
        draw(&mut pane, width, height);
        assert_eq!(pane.top_line(), 50, "{width}x{height}");
    }
}

#[test]
fn it_follows_the_end_only_while_it_is_there() {
    let mut pane = pane(&numbered(10));
    draw(&mut pane, 20, 3);
    pane.act(Action::Last);
    pane.update(SafeText::block(&numbered(20)));
    assert_eq!(draw(&mut pane, 20, 3), ["17", "18", "19"]);
    pane.act(Action::MoveUp);
    pane.update(SafeText::block(&numbered(30)));
    assert_eq!(draw(&mut pane, 20, 3), ["16", "17", "18"]);
    pane.act(Action::Last);
    assert!(pane.is_pinned());
    assert_eq!(draw(&mut pane, 20, 3), ["27", "28", "29"]);
}

#[test]
fn scrolling_down_at_the_end_changes_nothing_and_stays_pinned() {
    let mut pane = pane(&numbered(10));
    draw(&mut pane, 20, 3);
    pane.act(Action::Last);
    pane.act(Action::MoveDown);
    assert!(pane.is_pinned());
}

#[test]
fn unwrapped_lines_scroll_sideways_without_cutting_characters() {
    let mut pane = pane("中中中中中\nabcdefghijklmnopqrstuvwxyz");
    pane.set_wrap(false);
    draw(&mut pane, 9, 2);
    pane.left = 1;
    assert_eq!(draw(&mut pane, 9, 2), [" 中中中", "bcdefghi"]);
}

#[test]
fn line_numbers_stand_at_the_first_row_of_each_line() {
    let mut pane = pane("aaaa bbbb cccc\nd");
    pane.set_line_numbers(true);
    let rows = draw(&mut pane, 13, 4);
    assert_eq!(rows.first().map(String::as_str), Some("1 aaaa bbbb"));
    assert_eq!(rows.last().map(String::as_str), Some("2 d"));
}

#[test]
fn matches_are_counted_walked_and_brought_into_sight() {
    let mut pane = pane(&numbered(1000));
    draw(&mut pane, 20, 5);
    pane.search(Pattern::new("99").as_ref());
    let at = |pane: &TextPane| pane.matches().map(|matches| (matches.current, matches.total));
    assert_eq!(at(&pane), Some((1, 19)));
    pane.act(Action::SearchNext);
    assert_eq!(at(&pane), Some((2, 19)));
    assert!(draw(&mut pane, 20, 5).iter().any(|row| row == "199"));
    pane.act(Action::SearchPrevious);
    pane.act(Action::SearchPrevious);
    assert_eq!(at(&pane), Some((19, 19)));
    assert!(draw(&mut pane, 20, 5).iter().any(|row| row == "999"));
    pane.search(None);
    assert_eq!(at(&pane), None);
}

#[test]
fn matches_show_over_highlights_and_late_highlights_are_dropped() {
    let mut pane = pane("import os");
    let keyword = Arc::new(Highlights::new(vec![StyleSpan {
        bytes: 0..6,
        role: Role::CodeKeyword,
    }]));
    pane.set_highlights(pane.generation(), keyword.clone());
    pane.search(Pattern::new("port").as_ref());
    let world = World::new();
    let buf = buffer(&mut pane, 20, 1);
    let style = |x: u16| buf[(x, 0)].style().fg;
    assert_eq!(style(0), world.theme.style(Role::CodeKeyword).fg);
    assert_eq!(style(3), world.theme.style(Role::MatchCurrent).fg);
    assert_eq!(style(7), world.theme.style(Role::Text).fg);

    let late = pane.generation();
    pane.update(SafeText::block("import sys"));
    pane.set_highlights(late, keyword);
    assert!(pane.highlights.is_none());
}

#[test]
fn the_scrollbar_jumps() {
    let mut pane = pane(&numbered(1000));
    draw(&mut pane, 20, 10);
    let press = |y| Mouse {
        kind: MouseKind::Press,
        at: Position { x: 19, y },
    };
    assert!(pane.mouse(press(9)));
    assert_eq!(draw(&mut pane, 20, 10).last().map(String::as_str), Some("999"));
    assert!(pane.mouse(press(0)));
    assert_eq!(pane.top_line(), 0);
}

#[test]
fn a_search_that_began_before_the_text_came_goes_to_its_first_match() {
    let mut pane = pane("");
    pane.search(Pattern::new("77").as_ref());
    pane.update(SafeText::block(&numbered(100)));
    assert_eq!(
        pane.matches().map(|matches| (matches.current, matches.total)),
        Some((1, 1))
    );
    assert!(draw(&mut pane, 20, 5).contains(&"77".to_owned()));
}

proptest! {
    #[test]
    fn any_size_text_and_sequence_of_actions_draws(
        text in "[a-z 中é👨\u{200d}👩\n]{0,120}",
        width in 0u16..30,
        height in 0u16..12,
        actions in proptest::collection::vec(0usize..12, 0..12),
    ) {
        const ACTIONS: [Action; 12] = [
            Action::MoveUp, Action::MoveDown, Action::PageUp, Action::PageDown, Action::First, Action::Last,
            Action::MoveLeft, Action::MoveRight, Action::Wrap, Action::LineNumbers, Action::SearchNext, Action::Help,
        ];
        let mut pane = pane(&text);
        pane.search(Pattern::new("a").as_ref());
        for action in actions {
            buffer(&mut pane, width, height);
            pane.act(ACTIONS[action]);
        }
        buffer(&mut pane, height, width);
    }
}

#[test]
fn a_text_that_a_search_waited_for_opens_at_its_match() {
    let mut pane = pane("");
    pane.search(Pattern::new("70").as_ref());
    pane.open(SafeText::block(&numbered(90)));
    assert_eq!(
        pane.matches().map(|matches| (matches.current, matches.total)),
        Some((1, 1))
    );
    assert!(draw(&mut pane, 20, 5).contains(&"70".to_owned()));
    pane.open(SafeText::block(&numbered(90)));
    assert_eq!(draw(&mut pane, 20, 3), ["0", "1", "2"], "it is waited for once");
}
