//! The table of actions as a page of the documentation.

use super::{Chord, Keymap};
use crate::tui::action::{ACTIONS, Action, Context, Entry};

const INTRODUCTION: &str = "\
# Keys

Letters work in both cases, except `n`/`N` and `g`/`G`, and except where they type. A screen's own keys come before
those that work everywhere. `?` shows the keys that work on the present screen, with the
meaning that they have there, then the rest.

There are two presets: `arrows`, whose keys are listed below, and `vim`, in which `h j k l` move everywhere, so that in a
run `Ctrl-Y` and `Ctrl-E` scroll the code, `Ctrl-U` and `Ctrl-D` the output (in the memory, the detail). `--keymap vim`
chooses it, or `keymap = \"vim\"` in a [configuration file](config.md). `[keys.CONTEXT]` there gives actions other keys:

```toml
keymap = \"vim\"
[keys.everywhere]
search = [\"/\", \"ctrl-f\"]  # replaces the keys of an action; [] takes them away
timeline = \"f2\"            # one key needs no list
```

A keymap file says the same without `keys.`, and its preset as `preset = \"vim\"`; it is `keymap.toml` in the user's
configuration directory for `fast-rlm`, or the file that `--keymap` names. The configuration's keys come over it. An
action without a key is reached through the palette.

A key is a character (`m`, `/`, `G`) or one of `up down left right pgup pgdn home end enter esc backspace delete insert
tab space f1` to `f12`, with `ctrl-`, `alt-` or `shift-` before it. Two actions on one key are an error that names file
and line, and so is a binding that a screen's own key would hide: `fast-rlm-log` does not start with either, and
`fast-rlm config` tells it.

`Ctrl-C` closes the pane or the dialog that is open; else it clears a draft (which undo brings back); else it cancels
the run that is active; else it quits. A second one within two seconds quits without asking.

Mouse: a click selects, a double click opens, the wheel scrolls the pane under the pointer, the scrollbar can be
dragged; Shift-drag selects text in most terminals. `--no-mouse` leaves the mouse to the terminal.
";

/// All actions with their default keys and the names that a keymap file uses, as Markdown.
pub fn markdown() -> String {
    let keymap = Keymap::default();
    let mut out = INTRODUCTION.to_owned();
    for context in Context::ALL {
        out.push_str(&format!(
            "\n## [{}]\n\n| keys | name | |\n| --- | --- | --- |\n",
            context.name()
        ));
        for entry in ACTIONS.iter().filter(|entry| entry.context == context) {
            out.push_str(&row(&keymap, entry));
        }
    }
    out
}

fn row(keymap: &Keymap, entry: &Entry) -> String {
    format!(
        "| {} | `{}` | {} |\n",
        keys(keymap, entry.action),
        entry.name,
        entry.doc
    )
}

fn keys(keymap: &Keymap, action: Action) -> String {
    let key = |chord: &Chord| format!("`{}`", chord.label(false));
    keymap.keys(action).iter().map(key).collect::<Vec<_>>().join(" ")
}
