//! Tests of keys from files, and of the presets.

use super::*;

fn parse(text: &str) -> Result<Keymap, KeymapError> {
    Keymap::parse(Path::new("keymap.toml"), text)
}

fn action(keymap: &Keymap, context: Context, key: &str) -> Option<Action> {
    keymap.lookup(context, Chord::parse(key).unwrap())
}

#[test]
fn a_file_replaces_the_keys_it_names_and_no_others() {
    let keymap = parse("[everywhere]\nsearch = [\"ctrl-f\"]\n").unwrap();
    assert_eq!(action(&keymap, Context::Run, "ctrl-f"), Some(Action::Search));
    assert_eq!(action(&keymap, Context::Run, "/"), None);
    assert_eq!(action(&keymap, Context::Run, "m"), Some(Action::Memory));
    let one = parse("[everywhere]\nsearch = \"ctrl-f\"\n").unwrap();
    assert_eq!(action(&one, Context::Run, "ctrl-f"), Some(Action::Search));
}

#[test]
fn the_vim_preset_moves_with_hjkl_and_scrolls_with_control_keys() {
    let keymap = Keymap::preset("vim").unwrap();
    for (key, run, memory, everywhere) in [
        ("h", Action::Parent, Action::MoveLeft, Action::MoveLeft),
        ("j", Action::StepNext, Action::EntryNext, Action::MoveDown),
        ("k", Action::StepPrevious, Action::EntryPrevious, Action::MoveUp),
        ("l", Action::FirstChild, Action::MoveRight, Action::MoveRight),
    ] {
        assert_eq!(action(&keymap, Context::Run, key), Some(run), "{key}");
        assert_eq!(action(&keymap, Context::Memory, key), Some(memory), "{key}");
        for context in [Context::Everywhere, Context::Picker] {
            assert_eq!(action(&keymap, context, key), Some(everywhere), "{key} in {context:?}");
        }
        for context in [Context::Box, Context::Prompt] {
            assert_eq!(action(&keymap, context, key), None, "{key} types");
        }
    }
    for (key, scrolls) in [
        ("ctrl-y", Action::CodeUp),
        ("ctrl-e", Action::CodeDown),
        ("ctrl-u", Action::OutputUp),
        ("ctrl-d", Action::OutputDown),
    ] {
        assert_eq!(action(&keymap, Context::Run, key), Some(scrolls), "{key}");
    }
}

/// In every preset, each action that has keys by default has one that leads to it in its context; and what holds
/// everywhere can be reached from every screen, but for the moves that a screen has of its own.
#[test]
fn every_action_is_reachable_in_every_preset() {
    for preset in PRESETS {
        let keymap = Keymap::preset(preset).unwrap();
        for entry in ACTIONS.iter().filter(|entry| !entry.keys.is_empty()) {
            let own = entry.context == Context::Everywhere;
            let screens = [Context::Everywhere, Context::Run, Context::Memory, Context::Picker];
            let contexts = if own { &screens[..] } else { &[entry.context] };
            for context in contexts {
                let found = keymap
                    .keys(entry.action)
                    .iter()
                    .filter_map(|key| keymap.lookup(*context, *key));
                let reached = found.clone().any(|found| found == entry.action);
                let moves = found.clone().all(|found| share_a_default(found, entry.action));
                assert!(reached || moves, "{} in {context:?} with {preset}", entry.name);
            }
        }
    }
}

#[test]
fn arrow_keys_mean_the_same_in_every_preset() {
    let (arrows, vim) = (Keymap::preset("arrows").unwrap(), Keymap::preset("vim").unwrap());
    for context in Context::ALL {
        for key in [
            "up",
            "down",
            "left",
            "right",
            "pgup",
            "pgdn",
            "home",
            "end",
            "enter",
            "esc",
            "tab",
            "shift-tab",
        ] {
            assert_eq!(
                action(&arrows, context, key),
                action(&vim, context, key),
                "{key} in {context:?}"
            );
        }
    }
}

#[test]
fn a_files_preset_counts_unless_another_was_chosen() {
    let nodes = parse_nodes(Path::new("k.toml"), "preset = \"vim\"\n[run]\nfork = [\"F\"]\n").unwrap();
    let built = |chosen: Option<&str>| {
        let mut builder = KeymapBuilder::default();
        if let Some(chosen) = chosen {
            builder.preset(chosen).unwrap();
        }
        let built = builder.file(Path::new("k.toml"), &nodes, chosen.is_some());
        built.unwrap().build().unwrap()
    };
    assert_eq!(action(&built(None), Context::Run, "j"), Some(Action::StepNext));
    assert_eq!(
        action(&built(Some("arrows")), Context::Run, "j"),
        Some(Action::CodeDown)
    );
}

#[test]
fn conflicts_are_refused_with_file_line_and_both_names() {
    let error = parse("# mine\n[everywhere]\nsearch = [\"M\"]\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "keymap.toml:3: m would mean both search and memory in [everywhere]; give one of them another key"
    );
    let mut builder = KeymapBuilder::default();
    for (path, text) in [
        ("a.toml", "[run]\nfork = [\"1\"]\n"),
        ("b.toml", "\n[run]\ndiff = [\"1\"]\n"),
    ] {
        let path = Path::new(path);
        builder.tables(path, &parse_nodes(path, text).unwrap()).unwrap();
    }
    let error = builder.build().unwrap_err().to_string();
    assert!(
        error.starts_with("b.toml:3: ") && error.ends_with("(the other one is in a.toml:2)"),
        "{error}"
    );
}

#[test]
fn a_binding_that_a_screen_would_hide_is_refused() {
    for text in [
        "[everywhere]\nsearch = [\"j\"]\n",
        "[run]\nfork = [\"m\"]\n",
        "preset = \"vim\"\n[everywhere]\nsearch = [\"ctrl-d\"]\n",
    ] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, KeymapError::Conflict { .. }), "{error}");
        assert!(error.to_string().starts_with("keymap.toml:"), "{error}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_that_names_it_and_its_line() {
    for (text, part) in [
        ("preset = \"emacs\"", "keymap.toml:1: there is no preset \"emacs\""),
        ("\n[runs]\nfork = []", "keymap.toml:2: there is no context [runs]"),
        ("[run]\n\nserach = []", "keymap.toml:3: [run] has no action \"serach\""),
        ("[everywhere]\nserach = []", "did you mean \"search\""),
        (
            "[run]\nfork = [\"hyper-x\"]",
            "keymap.toml:2: \"hyper-x\" for fork is no key",
        ),
        ("[run]\nfork = 3", "keymap.toml:2: fork wants a list of keys"),
        ("run = 3", "keymap.toml:1: run wants"),
        ("[run", "keymap.toml:1"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_types_stays_what_types_and_codes_that_terminals_share_are_one_key() {
    for text in ["[box]\nsend = \"a\"\n", "[prompt]\ncancel = \"space\"\n"] {
        let told = parse(text).unwrap_err().to_string();
        assert!(
            told.starts_with("keymap.toml:2:") && !told.contains("has no action"),
            "{told}"
        );
    }
    assert!(parse("[box]\nsend = \"alt-a\"\n").is_ok());
    for (code, key) in [("ctrl-m", "enter"), ("ctrl-i", "tab"), ("ctrl-[", "esc")] {
        assert_eq!(Chord::parse(code), Chord::parse(key));
    }
    assert_eq!(Chord::parse("\u{1b}"), None);
}
