//! The namespace after a step, with the contents of those values that the store lacks.

use crate::engine::memory::SessionMemory;
use crate::repl::{Sweep, SweptPickle};
use crate::store::{At, Binding, BindingKind, Described, Digest, Namespace, NewEvent, SessionWriter, StoreError};
use std::collections::HashMap;

/// A sweep as the flow store keeps it. Only what state.json holds too: secrets were dropped there.
pub(in crate::engine) struct Values<'a> {
    sweep: Option<&'a Sweep>,
    memory: &'a SessionMemory,
}

impl<'a> Values<'a> {
    /// The values of `sweep`, which `memory` has absorbed already.
    pub(in crate::engine) fn new(sweep: Option<&'a Sweep>, memory: &'a SessionMemory) -> Self {
        Self { sweep, memory }
    }

    /// Records the namespace at `at`, then `events`.
    pub(super) fn end_step(&self, writer: &SessionWriter, at: At, events: Vec<NewEvent>) -> Result<(), StoreError> {
        let mut bindings = self.bindings();
        bindings.sort_by(|a, b| a.name.cmp(&b.name));
        let digests: Vec<Digest> = bindings.iter().filter_map(|binding| binding.digest).collect();
        let contents: Vec<Vec<u8>> = self.contents(&writer.missing(&digests)?);
        let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        writer
            .end_step(&Namespace { at, bindings }, &contents, events)
            .map(drop)
    }

    fn bindings(&self) -> Vec<Binding> {
        let Some(sweep) = self.sweep else { return Vec::new() };
        let variables = sweep
            .variables
            .iter()
            .filter(|swept| self.memory.doc().variables.contains_key(&swept.name))
            .map(|swept| Binding {
                name: swept.name.clone(),
                kind: BindingKind::Value,
                digest: self.memory.digest(&swept.name),
                bytes: 0,
                described: Described {
                    type_name: swept.type_name.clone(),
                    preview: swept.preview.clone(),
                    comment: swept.comment.clone(),
                    note: swept.note.clone(),
                    committed: swept.committed,
                    weak: false,
                },
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
        let variables = self.sweep.map(|sweep| sweep.variables.as_slice()).unwrap_or_default();
        let pickles: HashMap<Digest, (&str, &SweptPickle)> = variables
            .iter()
            .filter_map(|swept| Some((self.memory.digest(&swept.name)?, (swept.name.as_str(), &swept.pickle))))
            .collect();
        let content = |digest: &Digest| match (sources.get(digest), pickles.get(digest)) {
            (Some(source), _) => Some(source.as_bytes().to_vec()),
            (None, Some((name, pickle))) => self.pickle(name, pickle),
            (None, None) => None,
        };
        missing.iter().filter_map(content).collect()
    }

    /// An unchanged value that the store has never seen came out of a state.json of another program.
    fn pickle(&self, name: &str, pickle: &SweptPickle) -> Option<Vec<u8>> {
        match pickle {
            SweptPickle::Changed(bytes) => Some(bytes.to_vec()),
            SweptPickle::Unchanged => self.memory.saved_pickle(name),
        }
    }
}
