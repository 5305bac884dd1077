//! Changing options in a configuration file, TOML or YAML, and nothing else: comments, order, unknown options and
//! everything that is nested stay as they are.

use super::document::{self, Form};
use super::layers::read_small;
use crate::disk::advice::advice;
use crate::disk::atomic::{self, WriteError};
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A text; quoted.
    Text(String),
    /// A number or a truth value, written as it is.
    Plain(String),
}

impl Scalar {
    /// As both languages have it: JSON strings are YAML strings, and TOML strings but for one control character.
    fn written(&self) -> String {
        match self {
            Self::Text(text) => Value::String(text.clone()).to_string(),
            Self::Plain(text) => text.clone(),
        }
    }
}

/// The options were not saved; the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// It could not be read, or its directory not be made.
    #[error("cannot save in {}: {cause}; {}", path.display(), advice(cause))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It is not written as a list of options, one a line.
    #[error("cannot save in {}: line {line} sets {option} in a form that would be lost; change it there yourself", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The option.
        option: String,
    },
    /// It cannot be understood, or is written so that another option would change, too.
    #[error("cannot save in {}: something else in it would change, or it is not valid; change it there yourself", path.display())]
    Rest {
        /// The file.
        path: PathBuf,
    },
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Sets options at the top level of a file; `None` takes one out. A file that is not there is made.
///
/// # Errors
///
/// [`SaveError`]; the file is as it was.
pub fn set_options(path: &Path, options: &[(&str, Option<Scalar>)]) -> Result<(), SaveError> {
    let failed = |cause| SaveError::Read {
        path: path.to_owned(),
        cause,
    };
    // A link is followed, so that a configuration that lies elsewhere is changed there.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let text = match read_small(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
            directory.map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
            String::new()
        }
        Err(error) => return Err(failed(error)),
    };
    let form = Form::of(path);
    let changed = changed(&text, form, options).map_err(|(line, option)| SaveError::Form {
        path: path.to_owned(),
        line,
        option,
    })?;
    if !keeps_the_rest(&text, &changed, form, options) {
        return Err(SaveError::Rest { path: path.to_owned() });
    }
    Ok(atomic::write(&target, changed.as_bytes())?)
}

/// Whether two texts say the same but for the options, which say what they should. Both languages have more forms than are
/// looked for here: this is what makes sure that nothing is lost.
fn keeps_the_rest(before: &str, after: &str, form: Form, options: &[(&str, Option<Scalar>)]) -> bool {
    let (Some(mut before), Some(mut after)) = (read(before, form), read(after, form)) else {
        return false;
    };
    let set = |(name, value): &(&str, Option<Scalar>)| {
        let alone = value.as_ref().and_then(|value| read(&written(form, name, value), form));
        before.shift_remove(*name);
        after.shift_remove(*name) == alone.and_then(|mut alone| alone.shift_remove(*name))
    };
    options.iter().all(set) && before == after
}

/// The options of a text; `None` when it is not understood.
fn read(text: &str, form: Form) -> Option<Map<String, Value>> {
    let nodes = document::parse(text, form).ok()?;
    Some(nodes.into_iter().map(|node| (node.name, node.value)).collect())
}

/// The text with other values; or the line, from 1, and the option that cannot be changed without losing something.
fn changed(text: &str, form: Form, options: &[(&str, Option<Scalar>)]) -> Result<String, (usize, String)> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (name, value) in options {
        let top = top_level(&lines, form);
        let place = top.iter().position(|line| value_of(line, form, name).is_some());
        match (place, value) {
            (Some(place), value) => {
                let line = lines.get(place).map_or("", String::as_str);
                let following = lines.iter().skip(place + 1);
                let (_, comment) = split_comment(value_of(line, form, name).unwrap_or_default(), form)
                    .filter(|(old, _)| is_plain(old) && (form == Form::Toml || !is_nested(following)))
                    .ok_or_else(|| (place + 1, (*name).to_owned()))?;
                // Where no value stood, or one in quotes, nothing has to be between.
                let apart = if comment.starts_with('#') { " " } else { "" };
                let replaced = value
                    .as_ref()
                    .map(|value| format!("{}{apart}{comment}", written(form, name, value)));
                lines.splice(place..=place, replaced);
            }
            (None, Some(value)) => {
                let end = end_of_options(&lines, form).map_err(|line| (line, (*name).to_owned()))?;
                lines.insert(end, written(form, name, value));
            }
            (None, None) => {}
        }
    }
    let mut out = lines.join(newline);
    if !out.is_empty() {
        out.push_str(newline);
    }
    Ok(out)
}

fn written(form: Form, name: &str, value: &Scalar) -> String {
    match form {
        Form::Toml => format!("{name} = {}", value.written()),
        Form::Yaml => format!("{name}: {}", value.written()),
    }
}

/// The lines that options can stand in: in TOML those before the first table.
fn top_level(lines: &[String], form: Form) -> &[String] {
    let is_table = |line: &String| form == Form::Toml && line.trim_start().starts_with('[');
    let end = lines.iter().position(is_table).unwrap_or(lines.len());
    lines.get(..end).unwrap_or(lines)
}

/// What stands behind `name:`, or `name =`, in a line at the top level.
fn value_of<'a>(line: &'a str, form: Form, name: &str) -> Option<&'a str> {
    let (line, mark) = match form {
        // Leading space means nothing in TOML, and nesting in YAML.
        Form::Toml => (line.trim_start(), '='),
        Form::Yaml => (line, ':'),
    };
    let rest = ["", "\"", "'"].iter().find_map(|quote| {
        let rest = line.strip_prefix(quote)?.strip_prefix(name)?.strip_prefix(quote)?;
        rest.trim_start().strip_prefix(mark)
    })?;
    (form == Form::Toml || rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

/// A value and the comment behind it, with the space before; `None` when a quoted value does not end in the line.
fn split_comment(rest: &str, form: Form) -> Option<(&str, &str)> {
    let value = rest.trim_start();
    let start = rest.len() - value.len();
    let end = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => end_of_quoted(value, quote)?,
        _ if value.starts_with('#') => 0,
        _ => {
            let comment = match form {
                Form::Toml => value.find('#'),
                Form::Yaml => value.find(" #").or_else(|| value.find("\t#")),
            };
            value.get(..comment.unwrap_or(value.len()))?.trim_end().len()
        }
    };
    let (value, comment) = rest.split_at_checked(start + end)?;
    let comment = comment.trim_end();
    let is_comment = comment.trim_start().starts_with('#');
    (comment.trim().is_empty() || is_comment).then(|| {
        let comment = if is_comment { comment } else { "" };
        (value.trim(), comment)
    })
}

fn end_of_quoted(value: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Nothing that goes on in other lines, and no anchor that others refer to.
fn is_plain(value: &str) -> bool {
    !value.starts_with(['|', '>', '&', '*', '!', '[', '{'])
}

/// What follows belongs to the value: the next line with anything but a comment.
fn is_nested<'a>(mut following: impl Iterator<Item = &'a String>) -> bool {
    let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
    let next = following.find(|line| !is_comment(line.trim_start()));
    next.is_some_and(|line| line.starts_with([' ', '\t']) || line.starts_with("- ") || line == "-")
}

/// Where a new option goes: behind the last one; in YAML before an end mark; or the line, from 1, that makes it
/// impossible.
fn end_of_options(lines: &[String], form: Form) -> Result<usize, usize> {
    if form == Form::Toml {
        let top = top_level(lines, form);
        let is_option = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let last = top.iter().rposition(is_option).map_or(0, |last| last + 1);
        // A file of comments alone is a heading.
        return Ok(if top.len() == lines.len() { top.len() } else { last });
    }
    let flow = lines.iter().position(|line| line.starts_with(['{', '[']));
    if let Some(flow) = flow {
        return Err(flow + 1);
    }
    let end = lines.iter().position(|line| line.trim_end() == "...");
    Ok(end.unwrap_or(lines.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<Scalar> {
        Some(Scalar::Text(value.into()))
    }

    fn plain(value: &str) -> Option<Scalar> {
        Some(Scalar::Plain(value.into()))
    }

    #[test]
    fn values_change_and_everything_else_stays() {
        let before = "# mine\nprimary_agent: old  # the good one\n\nunknown:\n  - a\n  - max_depth: 1\nmax_depth: 2\nsub_agent: 'x # y'\n";
        let options = [
            ("primary_agent", text("z-ai/\"glm\"")),
            ("max_depth", plain("5")),
            ("sub_agent", None),
            ("max_money_spent", plain("0.5")),
        ];
        assert_eq!(
            changed(before, Form::Yaml, &options).unwrap(),
            "# mine\nprimary_agent: \"z-ai/\\\"glm\\\"\"  # the good one\n\nunknown:\n  - a\n  - max_depth: 1\nmax_depth: 5\nmax_money_spent: 0.5\n"
        );
    }

    #[test]
    fn toml_changes_before_its_tables() {
        let before =
            "# mine\nmax_depth = 2 # low\n  sub_agent=\"x # y\"\n\n# keys of mine\n[keys.run]\nmax_depth = [\"q\"]\n";
        let options = [
            ("max_depth", plain("5")),
            ("sub_agent", None),
            ("primary_agent", text("a\"b")),
        ];
        assert_eq!(
            changed(before, Form::Toml, &options).unwrap(),
            "# mine\nmax_depth = 5 # low\nprimary_agent = \"a\\\"b\"\n\n# keys of mine\n[keys.run]\nmax_depth = [\"q\"]\n"
        );
        let fresh = changed("# mine\n", Form::Toml, &[("a", plain("1"))]).unwrap();
        assert_eq!(fresh, "# mine\na = 1\n");
        for before in ["b = [\n 1,\n]\n", "b = \"\"\"\nx\n\"\"\"\n", "b = {a = 1}\n"] {
            assert!(changed(before, Form::Toml, &[("b", plain("2"))]).is_err(), "{before}");
        }
    }

    #[test]
    fn line_ends_are_kept_and_an_empty_file_begins() {
        assert_eq!(
            changed("a: 1\r\n", Form::Yaml, &[("b", plain("2"))]).unwrap(),
            "a: 1\r\nb: 2\r\n"
        );
        assert_eq!(
            changed("", Form::Yaml, &[("b", plain("2")), ("c", None)]).unwrap(),
            "b: 2\n"
        );
        assert_eq!(changed("b:\n", Form::Yaml, &[("b", plain("2"))]).unwrap(), "b: 2\n");
    }

    #[test]
    fn a_comment_that_touches_the_old_value_or_its_place_stays_a_comment() {
        let yaml = [
            ("b: # c\n", "b: 7 # c\n"),
            ("b: #c\na:\n", "b: 7 #c\na:\n"),
            ("b: 1 # c\n", "b: 7 # c\n"),
        ];
        let toml = [
            ("b=1#c\n", "b = 7 #c\n"),
            ("b = \"1\"#c\n", "b = 7 #c\n"),
            ("b = '#' # c\n", "b = 7 # c\n"),
        ];
        for (form, cases) in [(Form::Yaml, yaml), (Form::Toml, toml)] {
            for (before, after) in cases {
                let options = [("b", plain("7"))];
                assert_eq!(changed(before, form, &options).unwrap(), after, "{before}");
                assert!(keeps_the_rest(before, after, form, &options), "{before}");
            }
        }
    }

    #[test]
    fn a_value_that_would_not_read_as_it_was_meant_is_refused() {
        let options = [("b", plain("7"))];
        assert!(!keeps_the_rest("b: # c\n", "b: 7# c\n", Form::Yaml, &options));
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        for before in [
            "b: |\n  text\n",
            "b: &x 1\n",
            "b:\n  - 1\n",
            "b: \"open\n  end\"\n",
            "{b: 1}\n",
        ] {
            assert!(changed(before, Form::Yaml, &[("b", plain("2"))]).is_err(), "{before}");
        }
    }

    #[test]
    fn the_result_reads_as_it_was_meant() {
        let out = changed("a: [1, 2]\nname: x\n", Form::Yaml, &[("name", text("a: b # c"))]).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&out).unwrap();
        assert_eq!(value, serde_json::json!({"a": [1, 2], "name": "a: b # c"}));
    }

    #[test]
    fn a_file_that_is_not_understood_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rlm_config.yaml");
        let yaml = ["- a\n- b\n", "a: [1\n", "? b\n: 1\n", "a: 'x\nb: 1\n'\n"];
        for before in yaml {
            fs::write(&path, before).unwrap();
            let error = set_options(&path, &[("b", plain("2"))]).unwrap_err().to_string();
            assert!(error.contains("rlm_config.yaml"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_made_with_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/rlm_config.yaml");
        set_options(&path, &[("max_depth", plain("1"))]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "max_depth: 1\n");
        let error = set_options(&dir.path().join("deep"), &[("a", plain("1"))]).unwrap_err();
        assert!(error.to_string().contains("deep"), "{error}");
    }
}
