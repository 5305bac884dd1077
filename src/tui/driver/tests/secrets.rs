//! A key that was typed into the box shows in no card.

use super::*;
use crate::model::Session;
use crate::text::secret::Secrets;
use crate::tui::live::{Desk, DriveOptions, Found};
use crate::tui::widgets::prompt::Settings;

#[test]
fn the_card_of_a_query_that_was_just_sent_shows_no_key() {
    const KEY: &str = "sk-0123456789abcdef";
    let options = DriveOptions {
        settings: Settings {
            model: Some("scripted:m.yaml".into()),
            ..Settings::default()
        },
        secrets: Secrets::default(),
        ..DriveOptions::default()
    };
    options.secrets.register("X_API_KEY", KEY).unwrap();
    let mut state = shown_demo();
    state.drives = Drives::new(options.into(), String::new());
    let dir = std::path::PathBuf::from("/runs/trip");
    let desk = Desk {
        dir: dir.clone(),
        opened: dir.clone(),
        closed: None,
    };
    state.sit_down(Some(&desk), &mut Session::default());
    let found = Found::default();
    state.update(Msg::Found { dir, found });
    press(&mut state, &["a"]);
    state.update(Msg::Paste(format!("my key is {KEY} ok")));
    // What comes at once with a paste is a part of it.
    state.set_time(Duration::from_secs(5), 0);
    let sent = press(&mut state, &["enter"]);
    assert!(
        sent.iter()
            .any(|effect| matches!(effect, Effect::Errand(Errand::Start { .. }))),
        "{sent:?}"
    );
    state.settle();
    press(&mut state, &["G"]);
    let text = frame(&mut state, 120, 36);
    assert!(!text.contains(KEY), "{text}");
    assert!(text.contains("my key is [secret X_API_KEY] ok"), "{text}");
}
