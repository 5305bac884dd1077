//! All sources of options together: what holds, and where it came from.

use super::document::{self, Form, Node};
use super::error::ConfigError;
use super::option::Opt;
use super::places::{Place, Whose, places};
use super::suggest::nearest;
use super::table::{ELSEWHERE, OPTIONS, find};
use super::variables;
use crate::disk::whole::{read_named, read_text};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

/// Options that start programs, open the sandbox or spend from another purse. A directory that came from somewhere else
/// must not set them: they are taken from the user's own files, from a file that is named, from the environment and from
/// flags.
const NOT_OF_A_PROJECT: [&str; 4] = ["mcp", "repl", "cli_agents", "cli_allow_api_key"];

/// A configuration is read up to here: files of anybody lie in a working directory.
const LARGEST: u64 = 1 << 20;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing sets it.
    Default,
    /// An environment variable.
    Variable(String),
    /// A file.
    File {
        /// Which.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// An option with what holds for it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which.
    pub option: &'static Opt,
    /// Its value; null where nothing sets it and it has no default.
    pub value: Value,
    /// Where that came from; of tables, the strongest source.
    pub origin: Origin,
}

/// A name in a file, or of a variable, that is no option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The file, and the line from 1; `None` for a variable.
    pub place: Option<(PathBuf, usize)>,
    /// The name.
    pub name: String,
    /// It is an option, but none that counts in this file.
    pub is_known: bool,
    /// What was probably meant, or what holds here instead; may be empty.
    pub advice: String,
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            place,
            name,
            is_known,
            advice,
        } = self;
        let what = if *is_known {
            "does not count here"
        } else {
            "is no option"
        };
        match place {
            Some((path, line)) => write!(f, "{}:{line}: {name} {what} and is ignored", path.display())?,
            None => write!(f, "the variable {name} {what} and is ignored")?,
        }
        if advice.is_empty() {
            Ok(())
        } else {
            write!(f, "; {advice}")
        }
    }
}

/// What holds.
#[derive(Clone, Debug, Default)]
pub struct Effective {
    /// Every option, in the table's order.
    pub settings: Vec<Setting>,
    /// Names that are no options.
    pub unknown: Vec<Unknown>,
    /// The tables that files set, with the files, the weakest first.
    pub tables: Vec<(PathBuf, Node)>,
    /// The places that were looked at, the strongest first, and whether a file was there.
    pub places: Vec<(Place, bool)>,
}

impl Effective {
    /// What holds for an option; null where nothing sets it and it has no default.
    pub fn value(&self, name: &str) -> &Value {
        self.settings
            .iter()
            .find(|setting| setting.option.name == name)
            .map_or(&Value::Null, |setting| &setting.value)
    }

    /// The same, as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).as_str()
    }

    /// The same, where something sets it.
    pub fn chosen(&self, name: &str) -> Option<&str> {
        let mut set = self.settings.iter().filter(|setting| setting.origin != Origin::Default);
        set.find(|setting| setting.option.name == name)?.value.as_str()
    }

    /// The same, as a truth.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name).as_bool().unwrap_or_default()
    }

    /// What is set, without what is so by default.
    pub fn set_values(&self) -> Map<String, Value> {
        let set = self.settings.iter().filter(|setting| setting.origin != Origin::Default);
        set.map(|setting| (setting.option.name.to_owned(), setting.value.clone()))
            .collect()
    }
}

/// Reads everything: the file that is named, or those in the usual places, and the environment that `variable` looks up.
///
/// # Errors
///
/// [`ConfigError`]: a file that is named and is not there, one that cannot be read or understood, a value of the wrong kind.
/// Names that are no options are none: they are in [`Effective::unknown`].
pub fn load(named: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Result<Effective, ConfigError> {
    let mut effective = Effective {
        settings: OPTIONS.iter().map(unset).collect(),
        ..Effective::default()
    };
    // The weakest first: what comes later wins.
    for place in places(named).into_iter().rev() {
        let nodes = read(&place, named.is_some())?;
        effective.places.insert(0, (place.clone(), nodes.is_some()));
        for node in nodes.into_iter().flatten() {
            if place.whose == Whose::Project && NOT_OF_A_PROJECT.contains(&node.name.as_str()) {
                if !asks_nothing(&node.value) {
                    effective.unknown.push(refused(&place.path, &node));
                }
                continue;
            }
            effective.take(&place.path, node)?;
        }
    }
    for setting in &mut effective.settings {
        from_environment(setting, &variable)?;
    }
    Ok(effective)
}

/// As [`load`], with this process's environment: its variables that look like options and are none are among
/// [`Effective::unknown`].
///
/// # Errors
///
/// As [`load`].
pub fn load_here(named: Option<&Path>) -> Result<Effective, ConfigError> {
    let mut names = OPTIONS.iter().filter_map(Opt::variable);
    if let Some(variable) = names.find(|name| variables::is_no_text(name)) {
        return Err(ConfigError::NotText { variable });
    }
    let mut effective = load(named, |name| std::env::var(name).ok())?;
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = set.map(|(name, _)| name.to_string_lossy().into_owned());
    effective.unknown.extend(variables::unknown(names));
    Ok(effective)
}

fn unset(option: &'static Opt) -> Setting {
    Setting {
        option,
        value: option.default_value(),
        origin: Origin::Default,
    }
}

/// The named values of a file in one of the languages, for files that hold parts of a configuration.
///
/// # Errors
///
/// [`ConfigError::Read`], [`ConfigError::Syntax`].
pub fn read_nodes(path: &Path) -> Result<Vec<Node>, ConfigError> {
    let text = read_small(path).map_err(|cause| ConfigError::Read {
        path: path.to_owned(),
        cause,
    })?;
    parse_nodes(path, &text)
}

/// The text of a regular file of at most 1 MiB.
///
/// # Errors
///
/// Those of reading it, those for anything else than a regular file and for a larger one among them.
pub fn read_small(path: &Path) -> io::Result<String> {
    read_text(path, LARGEST)
}

/// The named values of a file's text.
///
/// # Errors
///
/// [`ConfigError::Syntax`].
pub fn parse_nodes(path: &Path, text: &str) -> Result<Vec<Node>, ConfigError> {
    let form = Form::of(path);
    // Some editors begin a file with a mark that is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    document::parse(text, form).map_err(|(line, what)| ConfigError::Syntax {
        path: path.to_owned(),
        line,
        form,
        what,
    })
}

/// `None` when there is no file.
fn read(place: &Place, must_exist: bool) -> Result<Option<Vec<Node>>, ConfigError> {
    if !must_exist && is_absent(&place.path) {
        return Ok(None);
    }
    // What a person names may be `/dev/null` or a pipe.
    let text = if must_exist {
        read_named(&place.path, LARGEST)
    } else {
        read_small(&place.path)
    };
    let text = text.map_err(|cause| ConfigError::Read {
        path: place.path.clone(),
        cause,
    })?;
    parse_nodes(&place.path, &text).map(Some)
}

/// A directory of that name, or a part of the path that is a file, is no configuration either; nor is what lies where this
/// user may not look, as another's home may be.
fn is_absent(path: &Path) -> bool {
    use io::ErrorKind as K;
    match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_dir(),
        Err(cause) => matches!(cause.kind(), K::NotFound | K::NotADirectory | K::PermissionDenied),
    }
}

impl Effective {
    fn take(&mut self, path: &Path, node: Node) -> Result<(), ConfigError> {
        let Some(setting) = self
            .settings
            .iter_mut()
            .find(|setting| setting.option.name == node.name)
        else {
            if !(is_elsewhere(&node) && asks_nothing(&node.value)) {
                self.unknown.push(unknown(path, &node));
            }
            return Ok(());
        };
        // `sub_agent:` with nothing behind it sets nothing.
        if node.value.is_null() {
            return Ok(());
        }
        let kind = setting.option.kind;
        let value = kind.check(&node.value).ok_or_else(|| ConfigError::Value {
            path: path.to_owned(),
            line: node.line,
            option: node.name.clone(),
            what: format!("{} is not {}", shown(&node.value), kind.wanted()),
        })?;
        let value = kind.anchored(value, path.parent().unwrap_or(Path::new("")));
        setting.origin = Origin::File {
            path: path.to_owned(),
            line: node.line,
        };
        match (&mut setting.value, value) {
            // Parts of a table win one by one.
            (Value::Object(before), Value::Object(parts)) => merge(before, parts),
            (before, value) => *before = value,
        }
        if kind.is_table() {
            self.tables.push((path.to_owned(), node));
        }
        Ok(())
    }
}

/// Parts over parts; what both have as a table is merged the same way, as the keys of a screen are.
fn merge(before: &mut Map<String, Value>, parts: Map<String, Value>) {
    for (name, value) in parts {
        match (before.get_mut(&name), value) {
            (Some(Value::Object(before)), Value::Object(parts)) => before.extend(parts),
            (_, value) => drop(before.insert(name, value)),
        }
    }
}

fn from_environment(setting: &mut Setting, lookup: &impl Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
    let Some(variable) = setting.option.variable() else {
        return Ok(());
    };
    let Some(text) = lookup(&variable).filter(|text| !text.trim().is_empty()) else {
        return Ok(());
    };
    let kind = setting.option.kind;
    setting.value = kind.read(&text).ok_or_else(|| ConfigError::Variable {
        variable: variable.clone(),
        found: text.clone(),
        wanted: kind.wanted(),
    })?;
    setting.origin = Origin::Variable(variable);
    Ok(())
}

/// An option of other builds.
fn is_elsewhere(node: &Node) -> bool {
    ELSEWHERE.iter().any(|(name, _)| *name == node.name)
}

/// A value that changes nothing where its option means nothing: off, none, empty.
fn asks_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(parts) => parts.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

fn unknown(path: &Path, node: &Node) -> Unknown {
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == node.name);
    let advice = match elsewhere {
        Some((_, advice)) => (*advice).to_owned(),
        None => nearest(&node.name, OPTIONS.iter().map(|option| option.name))
            .and_then(find)
            .map_or_else(String::new, |option| format!("did you mean {}?", option.name)),
    };
    Unknown {
        place: Some((path.to_owned(), node.line)),
        name: node.name.clone(),
        is_known: false,
        advice,
    }
}

fn refused(path: &Path, node: &Node) -> Unknown {
    let advice = format!(
        "it can start programs or bill a key: set it in your own config.toml, or name this file with --config {}",
        path.display()
    );
    Unknown {
        place: Some((path.to_owned(), node.line)),
        name: node.name.clone(),
        is_known: true,
        advice,
    }
}

/// A value that is wrong, cut to what a line of an error can hold.
fn shown(value: &Value) -> String {
    const ROOM: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(ROOM) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
