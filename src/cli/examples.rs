//! Examples of every subcommand, for `--help` and the manual. A test parses each of them.

use clap::Command;

/// A command line, and what it is good for.
type Example = (&'static str, &'static str);

/// Subcommands by their names, one level after another, and their examples.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &[Example])] = &[
    ("warmup", &[
        ("fast-rlm warmup", "prepare Python, for example while an image is built"),
    ]),
    ("doctor", &[
        ("fast-rlm doctor", "what is ready, with the configured model"),
        ("fast-rlm doctor --primary-agent claude-sonnet-4-5", "the same for another model"),
    ]),
    ("models", &[
        ("fast-rlm models", "every model, one a line"),
        ("fast-rlm models --json", "by backend, for scripts"),
    ]),
    ("answer", &[
        ("fast-rlm answer runs/trip \"the 7:40\"", "answer, and let the query run on"),
        ("fast-rlm answer runs/trip --drop", "close the query without an answer"),
    ]),
    ("config", &[
        ("fast-rlm config", "every option with its value, and where that came from"),
        ("fast-rlm config --json", "the same for scripts"),
        ("fast-rlm config --config other.toml", "as that file would have it"),
    ]),
    ("config path", &[
        ("fast-rlm config path", "the files, the strongest first, and which are there"),
    ]),
    ("config schema", &[
        ("fast-rlm config schema", "the JSON schema, for an editor"),
    ]),
    ("completions", &[
        ("fast-rlm completions bash", "for ~/.local/share/bash-completion/completions/fast-rlm"),
        ("fast-rlm completions zsh", "for a file _fast-rlm in a directory of $fpath"),
        ("fast-rlm completions fish", "for ~/.config/fish/completions/fast-rlm.fish"),
    ]),
    ("man", &[
        ("fast-rlm man", "this program's page, for `man -l -`"),
        ("fast-rlm man replay", "that of a subcommand"),
        ("fast-rlm man --dir man1", "all pages, one a file"),
    ]),
    ("sessions", &[
        ("fast-rlm sessions runs", "every session under runs"),
        ("fast-rlm sessions runs --query harbour --since 7d", "those of the last week that speak of a harbour"),
        ("fast-rlm sessions runs --json", "for scripts"),
    ]),
    ("sessions gc", &[
        ("fast-rlm sessions gc runs", "what could be freed"),
        ("fast-rlm sessions gc runs --free", "free it"),
    ]),
    ("sessions rebuild", &[
        ("fast-rlm sessions rebuild podcasts --dir runs", "bring its state.json back"),
    ]),
    ("replay", &[
        ("fast-rlm replay last --dir runs", "the session that was active last"),
        ("fast-rlm replay podcasts --dir runs --turn 2 --json", "its second query, for scripts"),
    ]),
    ("fork", &[
        ("fast-rlm fork podcasts --dir runs --at 3 --inject '[\"Ada\"]'", "the name that step 3 binds has another value"),
        ("fast-rlm fork podcasts --dir runs --at 2 --edit steps.py", "other steps from the second on"),
        ("fast-rlm fork podcasts --dir runs --at 2 --replan \"Use the index.\"", "the model goes on, having been told so"),
    ]),
    ("diff", &[
        ("fast-rlm diff podcasts s_2 --dir runs", "step by step"),
        ("fast-rlm diff podcasts s_2 --dir runs --json", "for scripts"),
    ]),
    ("what-if", &[
        ("fast-rlm what-if podcasts --dir runs --substitute 'llm_query=\"no\"'", "every sub-agent had said no"),
        ("fast-rlm what-if podcasts --dir runs --model z-ai/glm-5 --live", "another model had been asked"),
    ]),
    ("resume", &[
        ("fast-rlm resume podcasts --dir runs", "finish the query that was cut"),
    ]),
    ("export", &[
        ("fast-rlm export podcasts --dir runs --bundle podcasts.rlm", "into one file"),
    ]),
    ("import", &[
        ("fast-rlm import podcasts.rlm --dir runs --session-id podcasts2", "under another name"),
    ]),
];

/// The command with the examples of its subcommands.
pub(super) fn added(mut command: Command) -> Command {
    for (path, examples) in EXAMPLES {
        let names: Vec<&str> = path.split(' ').collect();
        command = at(command, &names, &|found| found.after_help(told(examples)));
    }
    command
}

/// Changes a subcommand, where there is one.
fn at(command: Command, names: &[&str], change: &dyn Fn(Command) -> Command) -> Command {
    match names.split_first() {
        None => change(command),
        Some((name, rest)) if command.find_subcommand(name).is_some() => {
            command.mut_subcommand(*name, |found| at(found, rest, change))
        }
        Some(_) => command,
    }
}

fn told(examples: &[Example]) -> String {
    let lines = examples
        .iter()
        .map(|(line, good_for)| format!("\n  # {good_for}\n  {line}"));
    format!("Examples:{}", lines.collect::<String>())
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    /// Splits a line as a shell would, as far as examples need it.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        for (path, examples) in EXAMPLES {
            for (line, _) in *examples {
                let words = words(line);
                assert!(line.starts_with(&format!("fast-rlm {path}")), "{line}");
                let parsed = crate::cli::query::command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn every_subcommand_has_examples() {
        let mut open = vec![(String::new(), crate::cli::query::command())];
        while let Some((path, command)) = open.pop() {
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                let path = format!("{path} {}", sub.get_name()).trim().to_owned();
                assert!(sub.get_after_help().is_some(), "{path} has no examples");
                open.push((path, sub.clone()));
            }
        }
    }
}
