//! The namespace after a step, with the contents of those values that the store lacks.

use crate::disk::state_doc::VariableRow;
use crate::engine::memory::SessionMemory;
use crate::repl::{Sweep, SweptPickle, SweptVariable};
use crate::store::payload::Written;
use crate::store::{At, Binding, BindingKind, Described, Digest, Namespace, NewEvent, SessionWriter, StoreError};
use std::collections::HashMap;

/// A sweep as the flow store keeps it. Only what state.json holds too: secrets were dropped there.
pub(in crate::engine) struct Values<'a> {
    /// The pickles that it brought, by name.
    changed: HashMap<&'a str, &'a [u8]>,
    memory: &'a SessionMemory,
}

impl<'a> Values<'a> {
    /// The values of `sweep`, which `memory` has absorbed already.
    pub(in crate::engine) fn new(sweep: Option<&'a Sweep>, memory: &'a SessionMemory) -> Self {
        let swept = sweep.into_iter().flat_map(|sweep| &sweep.variables);
        let pickle = |swept: &'a SweptVariable| match &swept.pickle {
            SweptPickle::Changed(bytes) => Some((swept.name.as_str(), &**bytes)),
            SweptPickle::Unchanged => None,
        };
        Self {
            changed: swept.filter_map(pickle).collect(),
            memory,
        }
    }

    /// Imports that are remembered.
    pub(super) fn imports(&self) -> Vec<String> {
        self.memory.doc().imports.clone().unwrap_or_default()
    }

    /// Records the namespace at `at`, then `events`.
    pub(super) fn end_step(&self, writer: &SessionWriter, at: At, events: Vec<NewEvent>) -> Result<(), StoreError> {
        let mut bindings = self.bindings();
        bindings.sort_by(|a, b| a.name.cmp(&b.name));
        let digests: Vec<Digest> = bindings.iter().filter_map(|binding| binding.digest).collect();
        let namespace = Namespace { at, bindings };
        let put = |contents: Vec<Vec<u8>>| {
            let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
            writer.put_namespace(&namespace, &contents)
        };
        match put(self.contents(&writer.missing(&digests)?)) {
            // Another session of the store needed one no more, and it was freed in between.
            Err(StoreError::MissingValue { .. }) => put(self.contents(&digests))?,
            done => done?,
        }
        writer.append(events).map(drop)
    }

    /// Completes what a step says of the names that it bound.
    pub(in crate::engine) fn describe(&self, written: &mut [Written]) {
        let doc = self.memory.doc();
        for name in written {
            if let Some(row) = doc.variables.get(&name.name) {
                name.digest = self.memory.digest(&name.name);
                name.type_name = row.text("type").unwrap_or_default();
                name.preview = row.text("preview").unwrap_or_default();
            } else if let Some(source) = doc.functions.get(&name.name) {
                name.digest = Some(Digest::of(source.as_bytes()));
                name.type_name = "function".into();
            } else {
                name.weak = true;
                name.preview = doc.dropped.get(&name.name).cloned().unwrap_or_default();
            }
        }
    }

    /// Of the document, not of the sweep: names that failed to restore are still saved, and a step in which the interpreter
    /// ended takes none.
    fn bindings(&self) -> Vec<Binding> {
        let variables = self.memory.doc().variables.iter().map(|(name, row)| Binding {
            name: name.clone(),
            kind: BindingKind::Value,
            digest: self.memory.digest(name),
            bytes: 0,
            described: described(row),
        });
        let functions = self.memory.doc().functions.iter().map(|(name, source)| Binding {
            name: name.clone(),
            kind: BindingKind::Source,
            digest: Some(Digest::of(source.as_bytes())),
            bytes: 0,
            described: Described::default(),
        });
        let dropped = self.memory.doc().dropped.iter().map(|(name, reason)| Binding {
            name: name.clone(),
            kind: BindingKind::Dropped,
            digest: None,
            bytes: 0,
            described: Described {
                preview: reason.clone(),
                ..Described::default()
            },
        });
        // One name is one thing: the first of these that has it.
        let mut all: Vec<Binding> = variables.collect();
        let mut taken: std::collections::HashSet<String> = all.iter().map(|binding| binding.name.clone()).collect();
        all.extend(
            functions
                .chain(dropped)
                .filter(|binding| taken.insert(binding.name.clone())),
        );
        all
    }

    /// The bytes of the values that are missing in the store.
    fn contents(&self, missing: &[Digest]) -> Vec<Vec<u8>> {
        let sources: HashMap<Digest, &String> = self
            .memory
            .doc()
            .functions
            .values()
            .map(|source| (Digest::of(source.as_bytes()), source))
            .collect();
        let names: HashMap<Digest, &String> = self
            .memory
            .doc()
            .variables
            .keys()
            .filter_map(|name| Some((self.memory.digest(name)?, name)))
            .collect();
        let content = |digest: &Digest| match sources.get(digest) {
            Some(source) => Some(source.as_bytes().to_vec()),
            None => self.pickle(names.get(digest)?),
        };
        missing.iter().filter_map(content).collect()
    }

    /// A new pickle is in the sweep; one that the store has never seen otherwise came with the session.
    fn pickle(&self, name: &str) -> Option<Vec<u8>> {
        match self.changed.get(name) {
            Some(bytes) => Some(bytes.to_vec()),
            None => self.memory.saved_pickle(name),
        }
    }
}

fn described(row: &VariableRow) -> Described {
    Described {
        type_name: row.text("type").unwrap_or_default(),
        preview: row.text("preview").unwrap_or_default(),
        comment: row.text("comment"),
        note: row.text("note"),
        committed: row.committed(),
        weak: false,
    }
}
