//! `fast-rlm config`: what holds and where it came from; the files; the schema. Secrets are never shown.

use super::args::{ConfigArgs, ConfigCommand};
use super::config::{Config, ConfigError, variable};
use super::exit::Exit;
use super::setup::Failure;
use crate::disk::config::{Effective, Origin, Setting, load, load_here, schema, user_dir};
use crate::provider::{KeyState, Settings, key_status};
use crate::text::secret::Secrets;
use crate::text::{SafeText, shown_json};
use crate::tui::export::masked;
use crate::tui::{TuiOptions, check_keys};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Runs the subcommand.
pub(super) fn run(args: &ConfigArgs) -> Result<Exit, Failure> {
    match args.command {
        Some(ConfigCommand::Schema) => {
            let text = serde_json::to_string_pretty(&schema()).map_err(ConfigError::from)?;
            print(&format!("{}\n", shown_json(&text)))
        }
        Some(ConfigCommand::Path) => print(&paths(args.config.as_deref())?),
        None => {
            let effective = load_here(args.config.as_deref()).map_err(ConfigError::from)?;
            // Agents that are declared wrongly are errors here, too.
            Config::of(&effective)?;
            // So are keys that the terminal program does not start with.
            check_keys(&TuiOptions::default().keys_of(&effective)).map_err(ConfigError::from)?;
            let shown = Shown::new(&effective);
            print(&if args.json { shown.json() } else { shown.text() })
        }
    }
}

fn print(text: &str) -> Result<Exit, Failure> {
    io::stdout().write_all(text.as_bytes()).map_err(Failure::Output)?;
    Ok(Exit::Done)
}

/// The files that count, the strongest first, and those beside them.
fn paths(named: Option<&Path>) -> Result<String, Failure> {
    let effective = load(named, |_| None).map_err(ConfigError::from)?;
    let mut out = String::new();
    let mut line = |whose: &str, path: &Path, found: bool| {
        let path = SafeText::line(&path.to_string_lossy()).as_str().to_owned();
        out.push_str(&format!(
            "{whose:<8}{}{path}\n",
            if found { "read       " } else { "not there  " }
        ));
    };
    for (place, found) in &effective.places {
        line(place.whose.word(), &place.path, *found);
    }
    for (whose, name) in [
        ("keys", "keymap.toml"),
        ("prices", "pricing.toml"),
        ("themes", "themes"),
    ] {
        if let Some(path) = user_dir().map(|dir| dir.join(name)) {
            line(whose, &path, path.exists());
        }
    }
    Ok(out)
}

/// What is shown, with everything that could be a secret masked.
struct Shown<'a> {
    effective: &'a Effective,
    secrets: Secrets,
    base_url: String,
}

impl<'a> Shown<'a> {
    fn new(effective: &'a Effective) -> Self {
        let (secrets, providers) = (Secrets::default(), Settings::from_env());
        // A key that is too short to be looked for is no part of what is shown, either.
        let _ = providers.register_secrets(&secrets);
        Self {
            effective,
            secrets,
            base_url: providers.base_url,
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for setting in &self.effective.settings {
            let value = match self.value(setting) {
                Value::Null => "not set".to_owned(),
                Value::String(text) => text,
                value => value.to_string(),
            };
            let origin = masked(&told(&setting.origin), &self.secrets);
            out.push_str(&format!("{:<28} {value:<24} {origin}\n", setting.option.name));
        }
        out.push('\n');
        for (name, value) in self.environment() {
            out.push_str(&format!("{name:<28} {value}\n"));
        }
        if !self.effective.unknown.is_empty() {
            out.push('\n');
        }
        for unknown in &self.effective.unknown {
            out.push_str(&format!("{}\n", masked(&unknown.to_string(), &self.secrets)));
        }
        out
    }

    fn json(&self) -> String {
        let options: Vec<Value> = self
            .effective
            .settings
            .iter()
            .map(|setting| self.row(setting))
            .collect();
        let files = self.effective.places.iter();
        let files: Vec<Value> = files
            .map(|(place, found)| {
                let path = place.path.to_string_lossy();
                json!({"path": path, "whose": place.whose.word(), "found": found})
            })
            .collect();
        let unknown = self.effective.unknown.iter();
        let unknown: Vec<Value> = unknown
            .map(|name| {
                let (path, line) = name
                    .place
                    .as_ref()
                    .map(|(path, line)| (path.to_string_lossy(), line))
                    .unzip();
                json!({"path": path, "line": line, "name": name.name, "advice": name.advice})
            })
            .collect();
        let environment: Map<String, Value> = self.environment().map(|(name, value)| (name, value.into())).collect();
        let told = json!({
            "format": "fast-rlm-config/1",
            "options": options,
            "environment": environment,
            "files": files,
            "unknown": unknown,
        });
        format!("{}\n", shown_json(&format!("{told:#}")))
    }

    fn row(&self, setting: &Setting) -> Value {
        let origin = match &setting.origin {
            Origin::Default => json!({"kind": "default"}),
            Origin::Variable(variable) => json!({"kind": "variable", "variable": variable}),
            Origin::File { path, line } => json!({"kind": "file", "path": path.to_string_lossy(), "line": line}),
        };
        json!({
            "name": setting.option.name,
            "value": self.value(setting),
            "origin": origin,
            "default": setting.option.default_value(),
            "flag": setting.option.flag.map(|flag| format!("--{}", flag.long)),
            "variable": setting.option.variable(),
        })
    }

    /// The value, without what an agent's variables hold, and with everything masked that looks like a secret.
    fn value(&self, setting: &Setting) -> Value {
        let mut value = setting.value.clone();
        if setting.option.name == "cli_agents" {
            hide_variables(&mut value);
        }
        self.clean(value)
    }

    /// Values nest as deep as configuration files may.
    fn clean(&self, value: Value) -> Value {
        match value {
            Value::String(text) => masked(&text, &self.secrets).into(),
            Value::Array(items) => items.into_iter().map(|item| self.clean(item)).collect(),
            Value::Object(entries) => {
                let clean = |(name, value): (String, Value)| (masked(&name, &self.secrets), self.clean(value));
                Value::Object(entries.into_iter().map(clean).collect())
            }
            other => other,
        }
    }

    /// Where models are reached, and which keys are set; never the keys.
    fn environment(&self) -> impl Iterator<Item = (String, String)> {
        let url = ("RLM_MODEL_BASE_URL".to_owned(), masked(&self.base_url, &self.secrets));
        let keys = key_status(variable).into_iter().map(|key| {
            let state = match key.state {
                KeyState::Used => "set, hidden",
                KeyState::Overridden => "set, hidden; an earlier one wins",
                KeyState::Unset => "not set",
            };
            (key.variable.to_owned(), state.to_owned())
        });
        std::iter::once(url).chain(keys)
    }
}

fn told(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::Variable(variable) => variable.clone(),
        Origin::File { path, line } => format!("{}:{line}", path.display()),
    }
}

fn hide_variables(agents: &mut Value) {
    let agents = agents.as_object_mut().into_iter().flat_map(Map::values_mut);
    for variables in agents.filter_map(|agent| agent.get_mut("env")?.as_object_mut()) {
        variables.values_mut().for_each(|value| *value = "hidden".into());
    }
}
