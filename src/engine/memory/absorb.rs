//! What a sweep changes in state.json.

use super::hashing::Hashing;
use super::{MemoryError, SessionMemory};
use crate::disk::state_doc::VariableRow;
use crate::engine::truncate::CUTS;
use crate::repl::{
    Dropped, Pickle, RestoreKind, RestoreReport, RestoreSet, SavedVariable, Sweep, SweptPickle, SweptVariable,
};
use crate::store::Digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;

/// Why a value is dropped here and not in the REPL, which knows no secrets.
const SECRET: &str = "holds a secret";

impl SessionMemory {
    /// Everything that a fresh REPL is given back.
    pub(crate) fn restore_set(&self) -> RestoreSet {
        let saved = self
            .doc
            .variables
            .iter()
            .filter_map(|(name, row)| saved_variable(name, row));
        RestoreSet {
            imports: self.doc.imports.clone().unwrap_or_default(),
            import_sources: self.import_sources(),
            functions: self.doc.functions.clone().into_iter().collect(),
            variables: saved.collect(),
        }
    }

    /// [`SessionMemory::restore_set`] for the REPL of a query: the pickles' digests are taken meanwhile.
    pub(crate) fn hand_out(&mut self) -> RestoreSet {
        let set = self.restore_set();
        self.hashing = Hashing::begin(&set);
        set
    }

    /// Sessions of existing programs do not list their imports: they are found in the code of successful steps.
    fn import_sources(&self) -> Vec<String> {
        if self.doc.imports.is_some() {
            return Vec::new();
        }
        self.doc
            .code_log
            .iter()
            .filter(|row| row.ok())
            .map(|row| row.code())
            .collect()
    }

    /// Keeps the saved entries of what did not come back.
    pub(crate) fn restored(&mut self, report: &RestoreReport) {
        self.held.dropped.clone_from(&self.doc.dropped);
        for failure in &report.failed {
            match failure.kind {
                RestoreKind::Variable => {
                    let row = self.doc.variables.get(&failure.name).cloned().unwrap_or_default();
                    self.held.variables.insert(failure.name.clone(), row);
                    let digest = self.saved_pickle(&failure.name).map(|pickle| Digest::of(&pickle));
                    self.digests.extend(digest.map(|digest| (failure.name.clone(), digest)));
                }
                RestoreKind::Function => {
                    let source = self.doc.functions.get(&failure.name).cloned().unwrap_or_default();
                    self.held.functions.insert(failure.name.clone(), source);
                }
                RestoreKind::Import => self.held.imports.push(failure.name.clone()),
            }
        }
    }

    pub(super) fn absorb(&mut self, sweep: &Sweep) -> Result<(), MemoryError> {
        let taken = self.hashing.take().map(Hashing::done).unwrap_or_default();
        for (name, digest) in taken {
            self.digests.entry(name).or_insert(digest);
        }
        let mut dropped: IndexMap<String, String> = sweep.dropped.iter().map(|dropped| self.told(dropped)).collect();
        if let Some(lost) = &sweep.lost {
            self.hold_all();
            dropped.insert(self.hidden(&lost.name), self.hidden(&lost.to_string()));
        }
        let mut told = Vec::with_capacity(sweep.variables.len());
        for swept in &sweep.variables {
            if self.holds_secret(swept) {
                dropped.insert(self.hidden(&swept.name), SECRET.into());
            } else {
                self.digest_of(swept);
                told.push((&swept.name, self.news(swept)?));
            }
        }
        // From here on nothing fails: rows move, since a copy of each would take as long as all the rest.
        let mut before = std::mem::take(&mut self.doc.variables);
        let mut variables = IndexMap::with_capacity(told.len());
        for (name, news) in told {
            let mut row = before.swap_remove(name).unwrap_or_default();
            row.take(news);
            variables.insert(name.clone(), row);
        }
        let mut functions: IndexMap<String, String> = sweep
            .functions
            .iter()
            .map(|f| (self.hidden(&f.name), self.hidden(&f.source)))
            .collect();
        self.put_back_held(&mut variables, &mut functions, &mut dropped);
        let imports = sweep
            .imports
            .iter()
            .chain(self.held.imports.iter().filter(|held| !sweep.imports.contains(held)));
        let nameable = imports.filter(|import| self.secrets.find_in(import.as_bytes()).is_none());
        self.doc.imports = Some(nameable.cloned().collect());
        self.digests.retain(|name, _| variables.contains_key(name));
        self.doc.variables = variables;
        self.doc.functions = functions;
        self.doc.dropped = dropped;
        Ok(())
    }

    /// Of names that a sweep does not tell of, what was saved last is the best that there is.
    fn hold_all(&mut self) {
        self.held.variables.clone_from(&self.doc.variables);
        self.held.functions.clone_from(&self.doc.functions);
        self.held.dropped.clone_from(&self.doc.dropped);
        self.held.imports = self.doc.imports.clone().unwrap_or_default();
    }

    /// A name that failed to restore keeps its saved entry until it is bound again, as anything.
    fn put_back_held(
        &mut self,
        variables: &mut IndexMap<String, VariableRow>,
        functions: &mut IndexMap<String, String>,
        dropped: &mut IndexMap<String, String>,
    ) {
        let bound =
            |name: &String| variables.contains_key(name) || functions.contains_key(name) || dropped.contains_key(name);
        self.held.variables.retain(|name, _| !bound(name));
        self.held.functions.retain(|name, _| !bound(name));
        self.held.dropped.retain(|name, _| !bound(name));
        dropped.extend(self.held.dropped.clone());
        variables.extend(self.held.variables.clone());
        functions.extend(self.held.functions.clone());
    }

    /// Takes the digest of a new pickle; of an unchanged one only when it came with the session and was never taken.
    fn digest_of(&mut self, swept: &SweptVariable) {
        let digest = match &swept.pickle {
            SweptPickle::Changed(pickle) => Some(Digest::of(pickle)),
            SweptPickle::Unchanged if self.digests.contains_key(&swept.name) => return,
            SweptPickle::Unchanged => self.saved_pickle(&swept.name).map(|pickle| Digest::of(&pickle)),
        };
        if let Some(digest) = digest {
            self.digests.insert(swept.name.clone(), digest);
        }
    }

    /// The pickle of a saved variable.
    pub(crate) fn saved_pickle(&self, name: &str) -> Option<Vec<u8>> {
        STANDARD.decode(self.doc.variables.get(name)?.pickle_b64()?).ok()
    }

    /// What a sweep says anew of a variable.
    fn news(&self, swept: &SweptVariable) -> Result<VariableRow, MemoryError> {
        let mut row = VariableRow::default();
        if let SweptPickle::Changed(pickle) = &swept.pickle {
            row.set("pickle_b64", &STANDARD.encode(pickle))?;
        }
        row.set("type", &self.hidden(&swept.type_name))?;
        row.set("preview", &self.hidden(&swept.preview))?;
        row.set("comment", &swept.comment.as_deref().map(|text| self.hidden(text)))?;
        row.set("note", &swept.note)?;
        row.set("committed", &swept.committed)?;
        Ok(row)
    }

    fn told(&self, dropped: &Dropped) -> (String, String) {
        (
            self.hidden(&dropped.name),
            without_address(&self.hidden(&dropped.reason)),
        )
    }

    /// A text of the REPL without secrets; names can hold some, too.
    fn hidden(&self, text: &str) -> String {
        self.secrets.redact_cut(text, &CUTS).into_owned()
    }

    fn holds_secret(&self, swept: &SweptVariable) -> bool {
        let in_pickle = match &swept.pickle {
            SweptPickle::Changed(pickle) => self.secrets.find_in(pickle).is_some(),
            // The REPL does not know that it was dropped here before.
            SweptPickle::Unchanged => self.doc.dropped.get(&swept.name).is_some_and(|reason| reason == SECRET),
        };
        let texts = [
            Some(&swept.name),
            Some(&swept.preview),
            swept.comment.as_ref(),
            swept.note.as_ref(),
        ];
        let mut texts = texts.into_iter().flatten();
        in_pickle || texts.any(|text| self.secrets.find_in(text.as_bytes()).is_some())
    }
}

/// A reason without the address of the object, which says nothing and differs from run to run.
fn without_address(reason: &str) -> String {
    let mut kept = String::with_capacity(reason.len());
    let mut rest = reason;
    while let Some((before, after)) = rest.split_once(" at 0x") {
        kept.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    kept + rest
}

fn saved_variable(name: &str, row: &VariableRow) -> Option<SavedVariable> {
    Some(SavedVariable {
        name: name.to_owned(),
        pickle: Pickle::Base64(row.pickle_b64()?.into()),
        comment: row.text("comment"),
        note: row.text("note"),
        committed: row.committed(),
    })
}

#[cfg(test)]
mod tests {
    use super::without_address;

    #[test]
    fn a_reason_tells_what_and_not_where_in_memory() {
        let reason = "not picklable: PicklingError: <function <lambda> at 0x1148d88>: at 0xff and at home";
        let told = "not picklable: PicklingError: <function <lambda>>: and at home";
        assert_eq!(without_address(reason), told);
        assert_eq!(without_address("plain"), "plain");
    }
}
