//! What an option is: its name, what it may be set to, and how it is told about.

use serde_json::{Number, Value};
use std::path::Path;

/// Models that name a path: a script's file, a session's directory.
const MODEL_PATHS: [&str; 2] = ["scripted:", "cassette:"];

/// The prefix and the path of a model that names one.
pub fn model_path(model: &str) -> Option<(&'static str, &str)> {
    let path = |prefix: &&'static str| Some((*prefix, model.strip_prefix(*prefix)?));
    MODEL_PATHS.iter().find_map(path)
}

/// Whether something that may be a name or a path is a name.
pub fn is_name(text: &str) -> bool {
    !text.contains(['/', '\\', '.'])
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Its name in files.
    pub name: &'static str,
    /// What it may be set to.
    pub kind: Kind,
    /// What holds where nothing sets it, as JSON; empty for nothing.
    pub default: &'static str,
    /// The flag that sets it.
    pub flag: Option<Flag>,
    /// Where it belongs.
    pub part: Part,
    /// What it does, in one sentence without a full stop.
    pub doc: &'static str,
}

/// A flag on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its long name, without dashes.
    pub long: &'static str,
    /// What it does where that is not what the option does (`--no-mouse`); else empty.
    pub doc: &'static str,
}

/// Groups of options, in the order of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Who answers, and what agents are told and given.
    Queries,
    /// What stops a query.
    Limits,
    /// The terminal program.
    Screens,
}

impl Part {
    /// All, in order.
    pub const ALL: [Part; 3] = [Part::Queries, Part::Limits, Part::Screens];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Part::Queries => "Queries",
            Part::Limits => "Limits",
            Part::Screens => "The terminal program",
        }
    }
}

/// What an option may be set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A file.
    File,
    /// The name of something built in, without `/`, `\` and `.`, or a file.
    NameOrFile,
    /// A model; those that answer from a file or a directory name it behind a prefix.
    Model,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number between these.
    Count(u64, u64),
    /// US dollars: a number that is not negative.
    Dollars,
    /// A number from 0 to 1.
    Share,
    /// true or false.
    Switch,
    /// Coding agents by their names: `[cli_agents.NAME]`.
    Agents,
    /// Keys by context and action: `[keys.CONTEXT]`.
    Keys,
}

impl Kind {
    /// What is wanted, in words.
    pub fn wanted(self) -> String {
        match self {
            Kind::Text | Kind::Model => "a text".into(),
            Kind::File => "the path of a file".into(),
            Kind::NameOrFile => "a name, or the path of a file".into(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Count(0, u64::MAX) => "a whole number".into(),
            Kind::Count(least, u64::MAX) => format!("a whole number from {least}"),
            Kind::Count(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Dollars => "a number of US dollars, like 0.20".into(),
            Kind::Share => "a number from 0 to 1".into(),
            Kind::Switch => "true or false".into(),
            Kind::Agents => "a table of agents, one a name".into(),
            Kind::Keys => "a table of contexts with lists of keys".into(),
        }
    }

    /// The value as the program takes it; `None` when it is not of this kind.
    pub fn check(self, value: &Value) -> Option<Value> {
        let fits = match self {
            Kind::Text | Kind::Model | Kind::File | Kind::NameOrFile => value.is_string(),
            Kind::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            // `3.0` counts 3, as other readers of the same file have it.
            Kind::Count(least, most) => {
                let count = value.as_u64().or_else(|| whole(value.as_f64()?))?;
                return (least..=most).contains(&count).then(|| count.into());
            }
            Kind::Dollars => value.as_f64().is_some_and(|dollars| (0.0..1e9).contains(&dollars)),
            Kind::Share => value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
            Kind::Switch => value.is_boolean(),
            Kind::Agents | Kind::Keys => value.is_object(),
        };
        fits.then(|| value.clone())
    }

    /// The value of a variable's text; `None` when it is not of this kind.
    pub fn read(self, text: &str) -> Option<Value> {
        let text = text.trim();
        let value = match self {
            Kind::Text | Kind::Model | Kind::File | Kind::NameOrFile | Kind::Word(_) => Value::from(text),
            Kind::Switch => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => true.into(),
                "0" | "false" | "no" | "off" => false.into(),
                _ => return None,
            },
            Kind::Count(..) => text.parse::<u64>().ok()?.into(),
            Kind::Dollars | Kind::Share => {
                let digits = text.strip_prefix('$').unwrap_or(text);
                Number::from_f64(digits.parse().ok()?)?.into()
            }
            // Tables have no form in a variable.
            Kind::Agents | Kind::Keys => return None,
        };
        self.check(&value)
    }

    /// A value as a file in the directory `dir` means it: relative paths start there.
    pub fn anchored(self, value: Value, dir: &Path) -> Value {
        let Value::String(text) = &value else { return value };
        let anchored = |path: &str| dir.join(path).to_string_lossy().into_owned();
        match self {
            Kind::File if !text.is_empty() => anchored(text).into(),
            Kind::NameOrFile if !is_name(text) => anchored(text).into(),
            Kind::Model => match model_path(text) {
                Some((prefix, path)) => format!("{prefix}{}", anchored(path)).into(),
                None => value,
            },
            _ => value,
        }
    }

    /// It has parts, and is set by files only.
    pub fn is_table(self) -> bool {
        matches!(self, Kind::Agents | Kind::Keys)
    }
}

fn whole(number: f64) -> Option<u64> {
    // Up to 2^53, where every whole number has a form of its own.
    let is_whole = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Just checked.
    is_whole.then_some(number as u64)
}

impl Opt {
    /// The variable that sets it; `None` for tables.
    pub fn variable(&self) -> Option<String> {
        match self.name {
            // Older than the rule.
            "primary_agent" => Some("FAST_RLM_MODEL".into()),
            _ if self.kind.is_table() => None,
            name => Some(format!("FAST_RLM_{}", name.to_ascii_uppercase())),
        }
    }

    /// The default as a value; null where there is none.
    pub fn default_value(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or(Value::Null)
    }

    /// What `--help` says of its flag.
    pub fn help(&self) -> String {
        let doc = self.flag.map_or("", |flag| flag.doc);
        let mut help = if doc.is_empty() { self.doc } else { doc }.to_owned();
        if !self.default.is_empty() && doc.is_empty() {
            help.push_str(&format!(" [default: {}]", self.default.trim_matches('"')));
        }
        if let Some(variable) = self.variable() {
            // A flag that turns a switch one way says which.
            let way = match self.default {
                _ if doc.is_empty() => "",
                "true" => "=off",
                _ => "=on",
            };
            help.push_str(&format!(" [env: {variable}{way}]"));
        }
        help
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(Kind::Count(1, 9), json!(3.0), Some(json!(3)))]
    #[case(Kind::Count(1, 9), json!(0), None)]
    #[case(Kind::Count(0, 9), json!(2.5), None)]
    #[case(Kind::Count(0, 9), json!("3"), None)]
    #[case(Kind::Dollars, json!(2), Some(json!(2)))]
    #[case(Kind::Dollars, json!(-0.1), None)]
    #[case(Kind::Share, json!(1.01), None)]
    #[case(Kind::Switch, json!("yes"), None)]
    #[case(Kind::Text, json!(5), None)]
    #[case(Kind::Word(&["a", "b"]), json!("c"), None)]
    #[case(Kind::Keys, json!([]), None)]
    fn values_are_checked(#[case] kind: Kind, #[case] value: Value, #[case] taken: Option<Value>) {
        assert_eq!(kind.check(&value), taken);
    }

    #[rstest]
    #[case(Kind::File, "servers.json", "/home/me/servers.json")]
    #[case(Kind::File, "/etc/servers.json", "/etc/servers.json")]
    #[case(Kind::NameOrFile, "dusk", "dusk")]
    #[case(Kind::NameOrFile, "my.toml", "/home/me/my.toml")]
    #[case(Kind::NameOrFile, "themes/mine", "/home/me/themes/mine")]
    #[case(Kind::Model, "z-ai/glm-5.1", "z-ai/glm-5.1")]
    #[case(Kind::Model, "scripted:a.yaml#small", "scripted:/home/me/a.yaml#small")]
    #[case(Kind::Model, "cassette:/runs/one", "cassette:/runs/one")]
    #[case(Kind::Text, "./x", "./x")]
    fn paths_of_a_file_start_where_it_lies(#[case] kind: Kind, #[case] text: &str, #[case] meant: &str) {
        assert_eq!(kind.anchored(json!(text), Path::new("/home/me")), json!(meant));
        assert_eq!(kind.anchored(json!("./x"), Path::new("")), json!("./x"));
    }

    #[rstest]
    #[case(Kind::Switch, "off", Some(json!(false)))]
    #[case(Kind::Switch, "maybe", None)]
    #[case(Kind::Dollars, "$0.25", Some(json!(0.25)))]
    #[case(Kind::Dollars, "inf", None)]
    #[case(Kind::Count(0, 64), "65", None)]
    #[case(Kind::Count(0, 64), " 7 ", Some(json!(7)))]
    #[case(Kind::Text, "007", Some(json!("007")))]
    fn variables_are_read(#[case] kind: Kind, #[case] text: &str, #[case] taken: Option<Value>) {
        assert_eq!(kind.read(text), taken);
    }
}
