//! What a REPL of recorded code is given in place of what the recorded one had: tools that exist by name only, an
//! environment without its secrets.

use super::Source;
use crate::disk::whole::{LARGEST_STATE, read_bytes};
use crate::engine::SessionMemory;
use crate::lab::RecordedTool;
use crate::repl::{HostTool, ToolModule};
use crate::store::payload::{Swept, TurnStarted};
use crate::store::{Digest, Fact, Kind, Select};
use crate::text::secret::Secrets;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;

/// Tools under the recorded names. Their results are on the tape: what they did is not needed.
pub(super) fn stand_ins(tools: &[RecordedTool]) -> (Vec<ToolModule>, Vec<HostTool>) {
    let (of_host, of_python): (Vec<_>, Vec<_>) = tools.iter().partition(|tool| tool.host);
    let source: String = of_python
        .iter()
        .filter(|tool| is_name(&tool.name))
        .map(|tool| stand_in(tool))
        .collect();
    let module = ToolModule {
        file: "recorded_tools.py".into(),
        source: source.into(),
        only: None,
    };
    let host = of_host
        .into_iter()
        .filter(|tool| is_name(&tool.name))
        .map(|tool| HostTool {
            name: tool.name.clone(),
            signature: tool.signature.clone(),
            doc: tool.doc.clone().unwrap_or_default(),
            is_async: tool.is_async,
        });
    (vec![module], host.collect())
}

fn stand_in(tool: &RecordedTool) -> String {
    let is_async = if tool.is_async { "async " } else { "" };
    format!(
        "{is_async}def {}(*args, **kwargs): raise RuntimeError('not recorded')\n",
        tool.name
    )
}

/// Names come from a log, which may be anybody's.
pub(in crate::lab) fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

/// Names of the variables that a turn's REPLs had.
pub(super) fn recorded_env(started: &TurnStarted) -> impl Iterator<Item = &str> {
    let names = started.settings.get("env").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// The environment that a turn's REPLs had: with the values at hand, else with what stands for them in the recording.
pub(super) fn env_of(started: &TurnStarted, at_hand: &[(String, String)]) -> Vec<(String, String)> {
    let value = |name: &str| {
        let known = at_hand.iter().find(|(known, _)| known == name);
        known.map_or_else(|| format!("[secret {name}]"), |(_, value)| value.clone())
    };
    recorded_env(started)
        .map(|name| (name.to_owned(), value(name)))
        .collect()
}

/// Digests of the variables in state.json, where the log has just this file; `None` where it has another.
pub(super) fn saved_digests(source: &Source) -> Option<BTreeMap<String, Digest>> {
    let text = read_bytes(&source.dir.join("state.json"), LARGEST_STATE).ok()?;
    let kinds = [Kind::Swept, Kind::Adopted, Kind::Cleared];
    let writes = source
        .store
        .events
        .read_all(&source.session, &Select::all().only(&kinds))
        .ok()?;
    match &writes.events.last()?.fact {
        Fact::Swept(Swept { state: Some(state), .. }) if *state == Digest::of(&text) => {}
        _ => return None,
    }
    let memory = SessionMemory::open(&source.dir, Secrets::default()).ok()?;
    let variables = memory.doc().variables.iter();
    let digest = |pickle: &str| STANDARD.decode(pickle).ok().map(|bytes| Digest::of(&bytes));
    Some(
        variables
            .filter_map(|(name, row)| Some((name.clone(), digest(row.pickle_b64()?)?)))
            .collect(),
    )
}
