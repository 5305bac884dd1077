//! A configuration file as named values that know their lines, whether it is TOML or YAML.

use crate::text::without_picture;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned as YamlSpan;
use std::fmt;
use std::path::Path;
use toml::Spanned as TomlSpan;
use toml::de::{DeTable, DeValue};

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// TOML.
    Toml,
    /// YAML, of which JSON is a part.
    Yaml,
}

impl Form {
    /// By a file's name: `.toml` is TOML, anything else YAML.
    pub fn of(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Form::Toml,
            _ => Form::Yaml,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Toml => "TOML",
            Form::Yaml => "YAML",
        })
    }
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Where the name stands, from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
    /// What is in it, where it is a table.
    pub children: Vec<Node>,
}

/// The options of a text; or the line, from 1, and what is wrong there.
pub(super) fn parse(text: &str, form: Form) -> Result<Vec<Node>, (usize, String)> {
    match form {
        Form::Toml => from_toml(text),
        Form::Yaml => from_yaml(text),
    }
}

fn from_toml(text: &str) -> Result<Vec<Node>, (usize, String)> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        (line, error.message().to_owned())
    })?;
    Ok(toml_nodes(text, table.get_ref()))
}

fn toml_nodes(text: &str, table: &DeTable<'_>) -> Vec<Node> {
    let node = |(name, value): (&TomlSpan<std::borrow::Cow<'_, str>>, &TomlSpan<DeValue<'_>>)| Node {
        name: name.get_ref().to_string(),
        line: line_of(text, name.span().start),
        value: toml_value(value.get_ref()),
        children: match value.get_ref() {
            DeValue::Table(table) => toml_nodes(text, table),
            _ => Vec::new(),
        },
    };
    let mut nodes: Vec<Node> = table.iter().map(node).collect();
    nodes.sort_by_key(|node| node.line);
    nodes
}

/// TOML nests no deeper than its parser allows.
fn toml_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix()).ok();
            parsed.map_or_else(|| Value::from(number.as_str()), Value::from)
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
            parsed.map_or_else(|| Value::from(number.as_str()), Value::from)
        }
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| toml_value(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let entry = |(name, value): (&TomlSpan<std::borrow::Cow<'_, str>>, &TomlSpan<DeValue<'_>>)| {
                (name.get_ref().to_string(), toml_value(value.get_ref()))
            };
            Value::Object(table.iter().map(entry).collect())
        }
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count() + 1
}

fn from_yaml(text: &str) -> Result<Vec<Node>, (usize, String)> {
    // Comments alone are nothing, which some parsers call no document.
    let says_something = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !text.lines().any(says_something) {
        return Ok(Vec::new());
    }
    let content: YamlSpan<Content> = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        (
            usize::try_from(line).unwrap_or(1).max(1),
            without_picture(&error.to_string()).to_owned(),
        )
    })?;
    match content.value {
        Content::Table(nodes) => Ok(nodes),
        Content::Other(Value::Null) => Ok(Vec::new()),
        Content::Other(_) => Err((1, "it is no list of options, one `name: value` a line".into())),
    }
}

/// What a YAML value is.
enum Content {
    Table(Vec<Node>),
    Other(Value),
}

impl Content {
    fn into_parts(self) -> (Value, Vec<Node>) {
        match self {
            Content::Other(value) => (value, Vec::new()),
            Content::Table(nodes) => {
                let entries: Map<String, Value> = nodes
                    .iter()
                    .map(|node| (node.name.clone(), node.value.clone()))
                    .collect();
                (Value::Object(entries), nodes)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads whatever stands there. It nests no deeper than its parser allows.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Other(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        Ok(Content::Other(
            Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::from),
        ))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Other(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut values = Vec::new();
        while let Some(item) = items.next_element::<Content>()? {
            values.push(item.into_parts().0);
        }
        Ok(Content::Other(values.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut nodes = Vec::new();
        while let Some(name) = entries.next_key::<YamlSpan<String>>()? {
            let (value, children) = entries.next_value::<Content>()?.into_parts();
            nodes.push(Node {
                line: usize::try_from(name.referenced.line()).unwrap_or(1).max(1),
                name: name.value,
                value,
                children,
            });
        }
        Ok(Content::Table(nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(nodes: &[Node]) -> Vec<(&str, usize)> {
        nodes.iter().map(|node| (node.name.as_str(), node.line)).collect()
    }

    #[test]
    fn names_know_their_lines_in_both_languages() {
        let toml = "# mine\nmax_depth = 2\n\ntheme = \"dusk\"\n[keys.run]\nfork = [\"F\"]\n\n[cli_agents.mine]\ncommand = \"x\"\n";
        let nodes = parse(toml, Form::Toml).unwrap();
        assert_eq!(
            lines(&nodes),
            [("max_depth", 2), ("theme", 4), ("keys", 5), ("cli_agents", 8)]
        );
        assert_eq!(lines(&nodes[2].children[0].children), [("fork", 6)]);
        assert_eq!(nodes[3].value, json!({"mine": {"command": "x"}}));

        let yaml = "# mine\nmax_depth: 2\n\nkeys:\n  run:\n    # why\n    fork: [F]\n'theme': x # y\n";
        let nodes = parse(yaml, Form::Yaml).unwrap();
        assert_eq!(lines(&nodes), [("max_depth", 2), ("keys", 4), ("theme", 8)]);
        assert_eq!(lines(&nodes[1].children[0].children), [("fork", 7)]);
        assert_eq!(nodes[1].value, json!({"run": {"fork": ["F"]}}));
    }

    #[test]
    fn values_are_the_same_in_both_languages() {
        let toml = "a = 1\nb = 0.5\nc = true\nd = \"x\"\ne = [1, 2]\nf = -3\ng = 0x10\n";
        let yaml = "a: 1\nb: 0.5\nc: true\nd: x\ne: [1, 2]\nf: -3\ng: 0x10\nh:\ni: ~\n";
        let values = |text, form| {
            let nodes = parse(text, form).unwrap();
            nodes.into_iter().map(|node| node.value).collect::<Vec<_>>()
        };
        let same = [
            json!(1),
            json!(0.5),
            json!(true),
            json!("x"),
            json!([1, 2]),
            json!(-3),
            json!(16),
        ];
        assert_eq!(values(toml, Form::Toml), same);
        assert_eq!(
            values(yaml, Form::Yaml),
            [&same[..], &[Value::Null, Value::Null]].concat()
        );
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        for (text, form, at) in [
            ("a = 1\nb = \n", Form::Toml, 2),
            ("a = 1\na = 2\n", Form::Toml, 2),
            ("a: 1\nb: [1\n", Form::Yaml, 2),
            ("- a\n- b\n", Form::Yaml, 1),
        ] {
            let (line, what) = parse(text, form).unwrap_err();
            assert!(
                line >= at && line <= at + 1 && !what.is_empty(),
                "{text}: {line}: {what}"
            );
        }
    }

    #[test]
    fn nothing_at_all_is_no_option() {
        for text in ["", "\n# nothing\n", "---\n", "~"] {
            assert_eq!(parse(text, Form::Yaml).unwrap(), [], "{text:?}");
        }
        assert_eq!(parse("# nothing\n", Form::Toml).unwrap(), []);
    }
}
