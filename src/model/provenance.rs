//! Which query and step last bound a remembered name.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::code_log::CodeKey;
use super::python_names::bound_names;
use super::{Binding, CodeEntry, Label};

/// Names that a text of code binds, by its digest: code is scanned once, however often state.json is read again.
#[derive(Clone, Debug, Default)]
pub(super) struct NameCache(HashMap<u64, Vec<String>>);

impl NameCache {
    fn of(&mut self, entry: &CodeEntry, key: CodeKey) -> &[String] {
        self.0.entry(key.digest).or_insert_with(|| bound_names(&entry.code))
    }
}

/// For every wanted name the last step that bound it. A step that failed may have failed before it came to the name,
/// so it counts only where no other step binds it. Looks back from the last step, no further than needed.
///
/// `steps` are places in `code` with the index and label of the query that ran them.
pub(super) fn last_bindings(
    cache: &mut NameCache,
    wanted: &HashSet<&str>,
    steps: impl Iterator<Item = (usize, usize, Label)>,
    code: &[CodeEntry],
    keys: &[CodeKey],
) -> HashMap<String, Binding> {
    let mut latest_first: Vec<(usize, usize, Label)> = steps.collect();
    latest_first.sort_unstable_by_key(|(place, _, _)| Reverse(*place));
    let (mut bound, mut perhaps) = (HashMap::new(), HashMap::new());
    for (place, query, label) in latest_first {
        if bound.len() == wanted.len() {
            break;
        }
        let Some((entry, key)) = code.get(place).zip(keys.get(place)) else {
            continue;
        };
        let binding = Binding {
            query,
            label,
            step: entry.step,
        };
        let names = if entry.ok { &mut bound } else { &mut perhaps };
        for name in cache
            .of(entry, *key)
            .iter()
            .filter(|name| wanted.contains(name.as_str()))
        {
            if !names.contains_key(name) {
                names.insert(name.clone(), binding);
            }
        }
    }
    for (name, binding) in perhaps {
        bound.entry(name).or_insert(binding);
    }
    bound
}
