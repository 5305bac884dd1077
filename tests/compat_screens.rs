//! Every screen of real sessions, at three sizes: rows line up, borders close, nothing raw reaches the terminal, and
//! what the sessions hold is there to be seen.
//!
//! The sessions of an existing installation are found through `FAST_RLM_COMPAT_DIR`, with an answer key beside them;
//! without it those tests say that they are skipped. The demo session is always there: its screens are snapshots.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "compat_screens/facts.rs"]
mod facts;
#[path = "compat_screens/frame.rs"]
mod frame;
#[path = "compat_screens/viewer.rs"]
mod viewer;

use facts::Sessions;
use ratatui::buffer::Buffer;
use std::path::Path;
use viewer::Viewer;

const SIZES: [(u16, u16); 3] = [(120, 36), (80, 24), (40, 12)];

#[test]
fn every_screen_of_every_session_lines_up() {
    let Some(sessions) = Sessions::find() else { return };
    for session in sessions.all() {
        for (width, height) in SIZES {
            let mut viewer = Viewer::open(&session.path, width, height);
            viewer.tour(&mut |name, buf| frame::check(&format!("{} {width}x{height} {name}", session.name), buf));
        }
    }
}

#[test]
fn cards_show_what_the_answer_key_says() {
    let Some(sessions) = Sessions::find() else { return };
    for session in sessions.all() {
        for (width, height) in SIZES {
            let mut viewer = Viewer::open(&session.path, width, height);
            let cards = viewer.cards();
            for query in session.queries() {
                let card = cards.iter().find(|card| card.label == query.label);
                let text = card.map_or("", |card| card.text.as_str());
                for figure in query.card_figures(width) {
                    assert!(
                        text.contains(&figure),
                        "{} {} {width}: {figure:?} in\n{text}",
                        session.name,
                        query.label
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_shows_every_step_and_its_totals() {
    let Some(sessions) = Sessions::find() else { return };
    for session in sessions.all() {
        for query in session.queries().iter().filter(|query| query.run.is_some()) {
            let mut viewer = Viewer::open(&session.path, 120, 36);
            viewer.open_run(&query.label);
            let walk = viewer.walk();
            assert_eq!(walk.steps, query.all_steps(), "{} {}", session.name, query.label);
            assert_eq!(walk.failed, query.failed_steps(), "{} {}", session.name, query.label);
            for figure in query.run_figures() {
                assert!(
                    walk.root.contains(&figure),
                    "{} {}: {figure:?} in\n{}",
                    session.name,
                    query.label,
                    walk.root
                );
            }
        }
    }
}

#[test]
fn the_screens_of_the_demo() {
    let demo = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"));
    for (width, height) in SIZES {
        let mut viewer = Viewer::open(demo, width, height);
        viewer.tour(&mut |name, buf| frame::check(&format!("demo {width}x{height} {name}"), buf));
        for (name, keys) in viewer::DEMO_SCREENS {
            let mut viewer = Viewer::open(demo, width, height);
            viewer.keys(keys);
            let text = frame::text(&viewer.frame());
            insta::with_settings!({snapshot_path => "compat_screens/snapshots", prepend_module_to_snapshot => false}, {
                insta::assert_snapshot!(format!("{name}_{width}x{height}"), text);
            });
        }
    }
}

#[test]
fn in_ascii_only_data_loses_its_characters() {
    let demo = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"));
    let data = viewer::all_text(demo);
    let (mut unicode, mut plain) = (Vec::new(), Vec::new());
    let tour = |ascii: bool, frames: &mut Vec<(String, Buffer)>| {
        let mut viewer = Viewer::drawn(demo, 120, 36, ascii);
        viewer.tour(&mut |name, buf| frames.push((name.to_owned(), buf.clone())));
    };
    tour(false, &mut unicode);
    tour(true, &mut plain);
    assert_eq!(unicode.len(), plain.len());
    for ((name, unicode), (_, plain)) in unicode.iter().zip(&plain) {
        for (own, ascii) in unicode.content().iter().zip(plain.content()) {
            assert!(ascii.symbol().is_ascii(), "{name}: {:?}", ascii.symbol());
            // A bar of an unknown figure is drawn with question marks.
            let lost = ascii.symbol() == "?" && !matches!(own.symbol(), "?" | "░");
            assert!(
                !lost || data.contains(own.symbol()),
                "{name}: {:?} has no ASCII form",
                own.symbol()
            );
        }
    }
}
