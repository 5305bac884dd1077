//! Declarations of agents as the Python package has them: what means the same here is translated, the rest is refused with
//! what to write instead.

use super::spec::AgentSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Keys of that form which this one has not, and means the same by.
const TRANSLATED: [&str; 7] = [
    "model_flag",
    "system_prompt_flag",
    "prompt_via",
    "extract",
    "error_flag",
    "forbid_env",
    "tested_versions",
];

/// Keys of that form which have no equal here, and what to do.
const REFUSED: [(&str, &str); 7] = [
    ("model", "name it where the agent is named: cli:NAME?model=MODEL"),
    ("timeout_ms", "api_timeout_ms bounds every call"),
    ("minimal", "write its arguments into args"),
    ("minimal_args", "write them into args"),
    ("minimal_requires_env", "an agent is handed a key by pass_on"),
    (
        "config_files",
        "no file is written for it: pass its settings in args or env, {system_file} is the system prompt's",
    ),
    (
        "native_tool_events",
        "they are not watched for: switch its tools off in args or env",
    ),
];

/// Keys of what it says about usage.
const USAGE: [&str; 8] = [
    "kind",
    "match",
    "input",
    "output",
    "cached",
    "reasoning",
    "cost",
    "iterations",
];

type Table = Map<String, Value>;

impl AgentSpec {
    /// A declaration of a configuration, in the form of docs/models.md or in the Python package's.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what to write instead.
    pub fn read(declared: &Value) -> Result<Self, String> {
        let translated = match declared {
            Value::Object(entries) if is_older(entries) => translate(entries.clone())?,
            other => other.clone(),
        };
        Self::deserialize(translated).map_err(|error| error.to_string())
    }
}

fn is_older(entries: &Table) -> bool {
    let refused = REFUSED.iter().map(|(name, _)| *name);
    TRANSLATED
        .into_iter()
        .chain(refused)
        .any(|name| entries.contains_key(name))
}

fn translate(mut older: Table) -> Result<Value, String> {
    refuse(&older)?;
    arguments(&mut older)?;
    output(&mut older)?;
    error(&mut older)?;
    usage(&mut older)?;
    if let Some(variables) = older.remove("forbid_env") {
        older.insert("refuse_when_set".into(), variables);
    }
    // It says something to people only.
    older.remove("tested_versions");
    Ok(Value::Object(older))
}

/// All that has no equal is told at once.
fn refuse(older: &Table) -> Result<(), String> {
    let told = REFUSED.iter().filter(|(name, _)| older.contains_key(*name));
    let told: Vec<String> = told.map(|(name, instead)| format!("{name} ({instead})")).collect();
    if told.is_empty() {
        return Ok(());
    }
    Err(format!(
        "it is in the form of the Python package, of which these keys have no equal here: {}; take them out (docs/models.md \
         has the form of this program)",
        told.join(", ")
    ))
}

/// Flags become arguments, in the order in which that package gave them.
fn arguments(older: &mut Table) -> Result<(), String> {
    let mut args = match older.remove("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => args,
        Some(_) => return Err("args wants a list of texts".into()),
    };
    for (flag, stands_for) in [("model_flag", "{model}"), ("system_prompt_flag", "{system}")] {
        if let Some(flag) = text(older, flag)? {
            args.extend([flag.into(), stands_for.into()]);
        }
    }
    match text(older, "prompt_via")?.as_deref() {
        None | Some("stdin") => {}
        Some("arg") => args.push("{prompt}".into()),
        Some(_) => return Err("prompt_via wants stdin or arg".into()),
    }
    older.insert("args".into(), args.into());
    Ok(())
}

/// Where the reply is. Of several texts that package took the last unless `join` was set; here all of them count.
fn output(older: &mut Table) -> Result<(), String> {
    let Some(mut extract) = table(older, "extract")? else {
        return Ok(());
    };
    let output = match text(&mut extract, "kind")?.as_deref() {
        Some("text") => "text",
        Some("json") => "json",
        Some("jsonl") => "lines",
        _ => return Err("extract.kind wants text, json or jsonl".into()),
    };
    older.insert("output".into(), output.into());
    let when = conditions(&mut extract, "extract.match")?;
    if let Some(path) = text(&mut extract, "path")? {
        older.insert("reply".into(), json!({"at": pointer(&path), "when": when}));
    }
    Ok(())
}

fn error(older: &mut Table) -> Result<(), String> {
    let Some(mut flag) = table(older, "error_flag")? else {
        return Ok(());
    };
    let (path, message) = (text(&mut flag, "path")?, text(&mut flag, "message_path")?);
    let path = path.ok_or("error_flag wants a path")?;
    let Some(message) = message else {
        return Err("error_flag wants a message_path: an error has to say something here".into());
    };
    let when = json!({(pointer(&path)): "true"});
    older.insert("error".into(), json!({"at": pointer(&message), "when": when}));
    Ok(())
}

fn usage(older: &mut Table) -> Result<(), String> {
    let Some(mut told) = table(older, "usage")? else {
        return Ok(());
    };
    if let Some(unknown) = told.keys().find(|name| !USAGE.contains(&name.as_str())) {
        return Err(format!(
            "usage.{unknown} is unknown; usage may have {}",
            USAGE.join(", ")
        ));
    }
    if told.contains_key("iterations") {
        return Err(
            "usage.iterations has no equal here: take it out, and usage.input counts what all of them used".into(),
        );
    }
    let when = conditions(&mut told, "usage.match")?;
    let mut made = Table::new();
    for (theirs, ours) in [
        ("input", "prompt"),
        ("output", "completion"),
        ("cached", "cached"),
        ("reasoning", "reasoning"),
        ("cost", "cost"),
    ] {
        let paths = match told.remove(theirs) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(paths)) => paths,
            Some(path) => vec![path],
        };
        let place = |path: &Value| Some(json!({"at": pointer(path.as_str()?), "when": when}));
        let places: Option<Vec<Value>> = paths.iter().map(place).collect();
        let places = places.ok_or_else(|| format!("usage.{theirs} wants a path, or a list of paths"))?;
        made.insert(ours.into(), places.into());
    }
    older.insert("usage".into(), made.into());
    Ok(())
}

/// `match`: paths, and the texts that must stand there.
fn conditions(of: &mut Table, name: &str) -> Result<Value, String> {
    match of.remove("match") {
        None | Some(Value::Null) => Ok(json!({})),
        Some(Value::Object(entries)) => {
            let entries = entries.into_iter().map(|(path, wanted)| (pointer(&path), wanted));
            Ok(Value::Object(entries.collect()))
        }
        Some(_) => Err(format!("{name} wants a table of paths and texts")),
    }
}

fn text(of: &mut Table, name: &str) -> Result<Option<String>, String> {
    match of.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name} wants a text")),
    }
}

fn table(of: &mut Table, name: &str) -> Result<Option<Table>, String> {
    match of.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(entries)) => Ok(Some(entries)),
        Some(_) => Err(format!("{name} wants a table")),
    }
}

/// `a.b` as the JSON pointer `/a/b`.
fn pointer(path: &str) -> String {
    let escaped = path.replace('~', "~0").replace('/', "~1");
    format!("/{}", escaped.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<AgentSpec, String> {
        AgentSpec::read(&serde_saphyr::from_str::<Value>(yaml).unwrap())
    }

    #[test]
    fn what_means_the_same_is_translated() {
        let older = read(
            "command: mine\nargs: [run]\nmodel_flag: -m\nsystem_prompt_flag: --system\nprompt_via: arg\n\
             forbid_env: [MY_API_KEY]\ntested_versions: 1.x\nenv: {A: b}\n\
             extract: {kind: jsonl, match: {type: done, item.type: message}, path: item.text}\n\
             error_flag: {path: is_error, message_path: result}\n\
             usage: {kind: jsonl, match: {type: end}, input: [u.in, u.hit], output: u.out, cost: usd}\n",
        );
        let same = read(
            "command: mine\nargs: [run, -m, '{model}', --system, '{system}', '{prompt}']\n\
             refuse_when_set: [MY_API_KEY]\nenv: {A: b}\noutput: lines\n\
             reply: {at: /item/text, when: {/type: done, /item/type: message}}\n\
             error: {at: /result, when: {/is_error: 'true'}}\n\
             usage:\n  prompt: [{at: /u/in, when: {/type: end}}, {at: /u/hit, when: {/type: end}}]\n\
             \x20 completion: {at: /u/out, when: {/type: end}}\n  cost: {at: /usd, when: {/type: end}}\n",
        );
        assert_eq!(older.unwrap(), same.unwrap());
        let plain = read("command: x\nextract: {kind: text}\n").unwrap();
        assert_eq!(plain, read("command: x\n").unwrap());
    }

    #[test]
    fn what_has_no_equal_is_refused_with_what_to_write() {
        let told = read("command: x\nmodel: m\ntimeout_ms: 5\nconfig_files: {a.json: {}}\nextract: {kind: text}\n");
        let told = told.unwrap_err();
        for word in [
            "model (",
            "?model=",
            "timeout_ms (api_timeout_ms",
            "config_files (",
            "docs/models.md",
        ] {
            assert!(told.contains(word), "{word}: {told}");
        }
        for (wrong, word) in [
            ("extract: {kind: xml}", "extract.kind"),
            ("model_flag: [m]", "model_flag wants a text"),
            ("prompt_via: pipe", "stdin or arg"),
            ("error_flag: {path: a}", "message_path"),
            ("model_flag: -m\nusage: {input: 3}", "usage.input"),
            ("model_flag: -m\nusage: {inputs: a}", "usage.inputs"),
            ("model_flag: -m\nusage: {iterations: {}}", "usage.iterations"),
            ("model_flag: -m\ncomand: y", "comand"),
        ] {
            let told = read(&format!("command: x\n{wrong}\n")).unwrap_err();
            assert!(told.contains(word), "{wrong}: {told}");
        }
    }
}
