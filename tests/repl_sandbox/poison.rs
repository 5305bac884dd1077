//! Saved values that run code when they are restored, to break whatever runs them.

use crate::desk::{Desk, saved};
use fast_rlm::repl::{Limits, RestoreReport, RestoreSet, SavedVariable, StartOptions};
use std::time::Duration;

/// Code of saved values that takes the interpreter apart when they are restored, by name; the last one never ends.
pub(crate) const POISONS: [(&str, &str); 14] = [
    ("wipes", "globals().clear()"),
    ("blinds", "import builtins; builtins.len = None"),
    ("strips", "import builtins; builtins.__dict__.clear()"),
    ("unsteps", "import sys; sys.modules['_rlm.steps'].__dict__.clear()"),
    ("unsweeps", "import sys; del sys.modules['_rlm.sweep'].run"),
    (
        "swaps",
        "import sys; f = sys.modules['_rlm.steps'].run; f.__code__ = (lambda command: None).__code__",
    ),
    ("unclasses", "import sys; sys.modules['_rlm.names'].Names.after = None"),
    ("unsleeps", "import asyncio; asyncio.Task = None"),
    ("unparses", "import ast; ast.parse = None"),
    ("unmains", "import __main__; __main__.__dict__.clear()"),
    ("unloads", "import sys; sys.modules.clear()"),
    (
        "audits",
        "import sys; sys.addaudithook(lambda event, args: 1 / 0 if event == 'compile' else None)",
    ),
    ("exits", "import sys; sys.exit()"),
    ("loops", "while True: pass"),
];

/// A session's values: the poisons, with good ones before, between and behind.
fn poisoned() -> Vec<SavedVariable> {
    let poison = |code: &str| format!("cbuiltins\nexec\n(V{code}\ntR.");
    let mut all = vec![saved("good_0", b"K\x00.")];
    for (number, (name, code)) in (1_u8..).zip(POISONS) {
        all.push(saved(name, poison(code).as_bytes()));
        all.push(saved(&format!("good_{number}"), &[b'K', number, b'.']));
    }
    all
}

/// A start with all of them, in which an item has five seconds.
pub(crate) fn poisoned_start() -> StartOptions {
    StartOptions {
        limits: Limits {
            housekeeping_timeout: Duration::from_secs(5),
            ..Limits::default()
        },
        restore: RestoreSet {
            variables: poisoned(),
            ..RestoreSet::default()
        },
        ..StartOptions::default()
    }
}

/// Every poison is left out with a reason, every other value is there, and the REPL works on.
pub(crate) async fn only_poisons_failed(mut desk: Desk, restored: &RestoreReport) {
    let failed: Vec<_> = restored.failed.iter().map(|failure| failure.name.as_str()).collect();
    for (name, _) in POISONS {
        assert!(failed.contains(&name), "{name}: {:?}", restored.failed);
    }
    assert_eq!(failed.len(), POISONS.len(), "{:?}", restored.failed);
    let reason = |name: &str| {
        &restored
            .failed
            .iter()
            .find(|failure| failure.name == name)
            .unwrap()
            .reason
    };
    for (name, told) in [
        ("unsweeps", "it changes _rlm.sweep.run"),
        ("unsleeps", "it changes asyncio.Task"),
        ("blinds", "it changes what Python has built in"),
        ("exits", "SystemExit"),
        ("loops", "it took more than 5 s"),
    ] {
        assert!(reason(name).contains(told), "{name}: {}", reason(name));
    }
    let values = desk
        .print("print([globals()[f'good_{n}'] for n in range(15)], len('four'), sum([1, 2]))")
        .await;
    let numbers: Vec<String> = (0..=POISONS.len()).map(|number| number.to_string()).collect();
    assert_eq!(
        values.split_whitespace().collect::<String>(),
        format!("[{}]43", numbers.join(","))
    );
    let swept = desk.repl.sweep().await.expect("it can be saved");
    assert_eq!(swept.variables.len(), POISONS.len() + 1);
}

/// Names, notes and sources that are longer than anybody writes cost themselves alone, or nothing.
pub(crate) async fn long_words_cost_no_other_name(mut desk: Desk) {
    desk.print(
        "class Odd: pass\nglobals()['n' * 7_000_000] = 1\nglobals()['ü' * 7_000_000] = Odd()\nkept = 2\nodd = Odd()\n\
         noted = Odd()\ncommit('noted', note='w' * 3_000_000)",
    )
    .await;
    let source = format!("def long():\n    return len({:?})", "x".repeat(2_000_000));
    desk.print(&source).await;
    let swept = desk.repl.sweep().await.expect("it can be saved");
    let mut saved: Vec<_> = swept.variables.iter().map(|variable| variable.name.as_str()).collect();
    saved.sort_unstable();
    assert_eq!(saved, ["kept", "noted", "odd"]);
    let defined: Vec<_> = swept.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(defined, ["Odd", "long"]);
    assert_eq!(swept.dropped.len(), 2);
    for dropped in &swept.dropped {
        assert!(
            dropped.reason.contains("its name is longer than 10000 characters"),
            "{}",
            dropped.reason
        );
        assert!(dropped.name.chars().count() < 200);
    }
    desk.print("del globals()['n' * 7_000_000], globals()['ü' * 7_000_000]")
        .await;
    assert!(desk.repl.sweep().await.expect("it can be saved").dropped.is_empty());
}
