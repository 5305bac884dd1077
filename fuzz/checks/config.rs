//! Files that people write: keymaps, themes, options. They are understood or refused; saving an option keeps the rest.

use fast_rlm::source::config::{Scalar, save_options};
use fast_rlm::tui::keymap::Keymap;
use fast_rlm::tui::theme::{Depth, Theme};
use serde_json::{Map, Value};

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = Keymap::parse(&text);
    for depth in [Depth::True, Depth::Mono] {
        let _ = Theme::parse("fuzzed", &text, depth);
    }
    check_options(&text);
}

fn check_options(text: &str) {
    let path = super::scratch().join("rlm_config.yaml");
    std::fs::write(&path, text).unwrap();
    let options = [
        ("max_depth", Some(Scalar::Plain("7".into()))),
        ("primary_agent", Some(Scalar::Text("a: \"b\" # c".into()))),
        ("sub_agent", None),
    ];
    if save_options(Some(&path), &options).is_err() {
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            text,
            "a refusal changes nothing"
        );
        return;
    }
    let saved = std::fs::read_to_string(&path).unwrap();
    if let Some(mut before) = options_of(text) {
        let mut after = options_of(&saved).unwrap_or_else(|| panic!("no longer readable: {text:?} became {saved:?}"));
        assert_eq!(
            after.shift_remove("max_depth"),
            Some(7.into()),
            "{text:?} became {saved:?}"
        );
        assert_eq!(after.shift_remove("primary_agent"), Some("a: \"b\" # c".into()));
        assert_eq!(after.shift_remove("sub_agent"), None);
        ["max_depth", "primary_agent", "sub_agent"].map(|name| before.shift_remove(name));
        assert_eq!(after, before, "{text:?} became {saved:?}");
    }
}

/// The options of a text, if it is understood.
fn options_of(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    match serde_saphyr::from_str(text).ok()? {
        Value::Object(options) => Some(options),
        _ => None,
    }
}
