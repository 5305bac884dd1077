//! What the terminal program says when it cannot start; what it cannot do later is told on its screen.

use super::Book;
use super::pty::Pty;

impl Book {
    /// Starts the screens and keeps why they do not come.
    fn refused(&mut self, what: &str, args: &[&str], env: &[(&str, &str)]) {
        let mut pty = Pty::start(args, env);
        let code = i32::try_from(pty.exit_code()).unwrap();
        let said = pty.written().replace('\r', "");
        assert!(said.starts_with("fast-rlm-log: "), "{what}: {said}");
        self.keep(what, code, said.trim_end());
    }
}

#[test]
fn themes_and_keys_that_cannot_be_used() {
    let mut book = Book::new();
    for (name, content) in [
        ("syntax.toml", "[styles\n"),
        ("form.toml", "[styles]\ntext = \"red\"\n"),
        ("role.toml", "[styles]\nnothing = { fg = \"#ff0000\" }\n"),
        ("colour.toml", "[styles]\ntext = { fg = \"reddish\" }\n"),
        ("base.toml", "base = \"mauve\"\n"),
    ] {
        let path = book.put(name, content);
        book.refused(name, &["--tui", "--theme", path.to_str().unwrap()], &[]);
    }
    book.refused("a theme that is misspelt", &["--tui", "--theme", "papre"], &[]);
    book.refused(
        "a theme that is misspelt, of text",
        &["--stats", "--theme", "papre"],
        &[],
    );
    book.refused(
        "a keymap that is misspelt, of JSON",
        &["--json", "--keymap", "vmi"],
        &[],
    );
    book.refused("no such theme", &["--tui", "--theme", "/nowhere.toml"], &[]);
    for (name, content) in [
        ("keys_syntax.toml", "[everywhere\n"),
        ("preset.toml", "preset = \"emacs\"\n"),
        ("shape.toml", "[everywhere]\nquit = 7\n"),
        ("context.toml", "[somewhere]\nquit = [\"x\"]\n"),
        ("action.toml", "[everywhere]\nfly = [\"x\"]\n"),
        ("key.toml", "[everywhere]\nquit = [\"hyper-x\"]\n"),
        ("types.toml", "[box]\nsend = [\"a\"]\n"),
        ("conflict.toml", "[everywhere]\nquit = [\"?\"]\n"),
    ] {
        let path = book.put(name, content);
        book.refused(name, &["--tui"], &[("FAST_RLM_KEYMAP", path.to_str().unwrap())]);
    }
    book.refused("no such preset", &["--tui"], &[("FAST_RLM_KEYMAP", "emacs")]);
    book.refused("no such keymap", &["--tui"], &[("FAST_RLM_KEYMAP", "/nowhere.toml")]);
    book.refused("a terminal that cannot draw", &["--tui"], &[("TERM", "dumb")]);
    book.close("screens");
}
