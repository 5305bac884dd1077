//! How an agent is run and where its answer is, as declared in a configuration or in `assets/agents.toml`.

use super::keys;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// An agent. In `args` and in the values of `env`, `{model}`, `{system}` and `{prompt}` stand for the model, the system
/// prompt and the conversation, and `{system_file}` for a file with the system prompt, that other users cannot read.
/// Without `{prompt}` the conversation goes to standard input, without a place for the system prompt that is the first
/// part of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The program: a path, or a name on `PATH`.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that are set for it.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How it writes to standard output.
    #[serde(default)]
    pub output: Output,
    /// Where the text of the reply is; nothing for [`Output::Text`].
    #[serde(default)]
    pub reply: Places,
    /// Where it shows what it thought.
    #[serde(default)]
    pub reasoning: Places,
    /// Where it says what went wrong.
    #[serde(default)]
    pub error: Places,
    /// Where tokens and cost are.
    #[serde(default)]
    pub usage: UsagePlaces,
    /// Variables with a key that it would bill instead of using its login: it is refused while one is set. `{PROVIDER}`
    /// stands for each name of what is before the first `/` of the model, in capitals.
    #[serde(default)]
    pub refuse_when_set: Vec<String>,
    /// Variables that it is handed though they look like keys; the others that do are kept from it.
    #[serde(default)]
    pub pass_on: Vec<String>,
}

/// What an agent writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// The reply, as it is.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// A JSON object a line; other lines mean nothing.
    Lines,
}

/// Where something is: at each of these places that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(pub Vec<Field>);

/// A place in a JSON value: a JSON pointer (RFC 6901), and what must be true of the value for it to count.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The pointer.
    pub at: String,
    /// Values at other pointers, as text.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
}

/// Where the figures of a call are. Those of several places and lines are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsagePlaces {
    /// Tokens of the conversation, cached ones included.
    pub prompt: Places,
    /// Those of them that were cached.
    pub cached: Places,
    /// Tokens the model produced, reasoning included.
    pub completion: Places,
    /// Those of them that were reasoning.
    pub reasoning: Places,
    /// US dollars.
    pub cost: Option<Places>,
}

impl<'de> Deserialize<'de> for Places {
    /// A pointer, a field, or a list of them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum One {
            Pointer(String),
            Field(Field),
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(One),
            Many(Vec<One>),
        }
        let written = match Written::deserialize(deserializer)? {
            Written::One(one) => vec![one],
            Written::Many(many) => many,
        };
        let field = |one| match one {
            One::Pointer(at) => Field {
                at,
                when: BTreeMap::new(),
            },
            One::Field(field) => field,
        };
        Ok(Self(written.into_iter().map(field).collect()))
    }
}

impl Places {
    /// What is there.
    pub(super) fn all<'a>(&'a self, value: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.0
            .iter()
            .filter(|field| field.counts(value))
            .filter_map(|field| value.pointer(&field.at))
    }

    fn pointers(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flat_map(|field| field.when.keys().chain([&field.at]))
    }
}

impl Field {
    fn counts(&self, value: &Value) -> bool {
        self.when.iter().all(|(at, expected)| match value.pointer(at) {
            Some(Value::String(text)) => text == expected,
            Some(other) => serde_json::from_str(expected).is_ok_and(|expected: Value| expected == *other),
            None => false,
        })
    }
}

impl AgentSpec {
    pub(super) fn takes_system(&self) -> bool {
        self.mentions("{system}") || self.mentions("{system_file}")
    }

    pub(super) fn takes_prompt(&self) -> bool {
        self.mentions("{prompt}")
    }

    fn mentions(&self, name: &str) -> bool {
        self.args
            .iter()
            .chain(self.env.values())
            .any(|text| text.contains(name))
    }

    /// The variables whose key it would bill for `model`.
    pub(super) fn billing_variables(&self, model: &str) -> Vec<String> {
        const PROVIDER: &str = "{PROVIDER}";
        let providers = keys::names_of_provider(model);
        let variables = |name: &String| match name.contains(PROVIDER) {
            true => providers.iter().map(|named| name.replace(PROVIDER, named)).collect(),
            false => vec![name.clone()],
        };
        self.refuse_when_set.iter().flat_map(variables).collect()
    }

    /// Whether it is handed a variable of the environment: a key that it might bill is not.
    pub(super) fn is_handed(&self, variable: &str) -> bool {
        !keys::holds_key(variable) || self.pass_on.iter().any(|name| name == variable)
    }

    fn check(&self) -> Result<(), String> {
        if self.command.trim().is_empty() {
            return Err("its declaration must name a command".to_owned());
        }
        if self.output != Output::Text && self.reply.0.is_empty() {
            return Err("its declaration must say where the reply is".to_owned());
        }
        let usage = [
            &self.usage.prompt,
            &self.usage.cached,
            &self.usage.completion,
            &self.usage.reasoning,
        ];
        let places = [&self.reply, &self.reasoning, &self.error];
        let places = places.into_iter().chain(usage).chain(&self.usage.cost);
        match places
            .flat_map(Places::pointers)
            .find(|pointer| !pointer.starts_with('/'))
        {
            Some(pointer) => Err(format!(
                "its declaration has {pointer:?} where a JSON pointer like /result belongs"
            )),
            None => Ok(()),
        }
    }
}

/// The agents that ship.
fn built_in() -> BTreeMap<String, AgentSpec> {
    // A test reads the shipped file, so none can ship that does not read.
    toml::from_str(include_str!("../../../assets/agents.toml")).unwrap_or_default()
}

/// What the Python package calls one of those that ship, and its name here.
const OLDER_NAME: (&str, &str) = ("claude-code", "claude");

/// The agent called `name`: declared, else built in.
pub(super) fn find(name: &str, declared: &BTreeMap<String, AgentSpec>) -> Result<AgentSpec, String> {
    let built_in = built_in();
    let named = |name: &str| declared.get(name).or_else(|| built_in.get(name));
    let (older, newer) = OLDER_NAME;
    let Some(spec) = named(name).or_else(|| named(newer).filter(|_| name == older)) else {
        let mut known: Vec<&str> = built_in.keys().chain(declared.keys()).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        return Err(format!(
            "there is no agent {name:?}: known are {}, and those declared as cli_agents in your config.toml",
            known.join(", ")
        ));
    };
    spec.check()?;
    Ok(spec.clone())
}

/// The names of all agents, declared and built in.
pub(in crate::provider) fn names(declared: &BTreeMap<String, AgentSpec>) -> Vec<(String, String)> {
    let mut all = built_in();
    all.extend(declared.clone());
    all.into_iter().map(|(name, spec)| (name, spec.command)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_shipped_agents_read_and_make_sense() {
        let shipped: BTreeMap<String, AgentSpec> = toml::from_str(include_str!("../../../assets/agents.toml")).unwrap();
        assert_eq!(shipped.keys().collect::<Vec<_>>(), ["claude", "codex", "opencode"]);
        for (name, spec) in &shipped {
            assert_eq!(spec.check(), Ok(()), "{name}");
            assert!(!spec.refuse_when_set.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_place_counts_when_its_conditions_hold() {
        let places: Places = serde_json::from_value(json!(["/a", {"at": "/b/c", "when": {"/ok": "true"}}])).unwrap();
        let found = |value: Value| places.all(&value).map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found(json!({"a": 1, "b": {"c": 2}, "ok": true})), ["1", "2"]);
        assert_eq!(found(json!({"a": 1, "b": {"c": 2}, "ok": "no"})), ["1"]);
        assert_eq!(found(json!([])), Vec::<String>::new());
    }

    #[test]
    fn an_older_name_finds_the_same_agent() {
        let none = BTreeMap::new();
        assert_eq!(find("claude-code", &none), find("claude", &none));
        let own: BTreeMap<String, AgentSpec> = serde_saphyr::from_str("claude-code: {command: own}").unwrap();
        assert_eq!(find("claude-code", &own).unwrap().command, "own");
    }

    #[test]
    fn a_declaration_that_makes_no_sense_says_why() {
        let find_in = |yaml: &str| find("mine", &serde_saphyr::from_str(yaml).unwrap()).unwrap_err();
        assert!(find_in("mine: {command: x, output: json}").contains("where the reply is"));
        assert!(find_in("mine: {command: x, output: json, reply: result}").contains("JSON pointer"));
    }
}
