//! Which query and step last bound a remembered name.

use std::collections::HashMap;

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

/// For every name the last step that bound it. A step that failed may have failed before it came to the name, so it
/// counts only where no other step binds it.
///
/// `steps` are places in `code` with the index and label of the query that ran them.
pub(super) fn last_bindings(
    cache: &mut NameCache,
    steps: impl Iterator<Item = (usize, usize, Label)>,
    code: &[CodeEntry],
    keys: &[CodeKey],
) -> HashMap<String, Binding> {
    let mut in_order: Vec<(usize, usize, Label)> = steps.collect();
    in_order.sort_unstable();
    let (mut bound, mut perhaps) = (HashMap::new(), HashMap::new());
    for (place, query, label) in in_order {
        let Some((entry, key)) = code.get(place).zip(keys.get(place)) else {
            continue;
        };
        let binding = Binding {
            query,
            label,
            step: entry.step,
        };
        let names = if entry.ok { &mut bound } else { &mut perhaps };
        for name in cache.of(entry, *key) {
            names.insert(name.clone(), binding);
        }
    }
    for (name, binding) in perhaps {
        bound.entry(name).or_insert(binding);
    }
    bound
}
