//! state.json as a projection of the log: what a file that was left behind still lacks.

use super::super::memory::ledger_text;
use crate::disk::state_doc::{CodeRow, QueryRow, StateDoc, VariableRow};
use crate::store::payload::{Outcome, StepStarted, TurnEnded, TurnStarted};
use crate::store::{At, BindingKind, Digest, Fact, Kind, Namespace, Store, StoreError, StoredEvent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Why the log cannot be turned into a state.json.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The stores could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A recorded value is no JSON, or a recorded file no state.json.
    #[error("the session's log holds something that is no state: {0}")]
    Value(String),
}

impl From<serde_json::Error> for ProjectError {
    fn from(error: serde_json::Error) -> Self {
        Self::Value(error.to_string())
    }
}

/// Kinds of events that a projection is made of.
pub(in crate::engine) const PROJECTED: [Kind; 8] = [
    Kind::TurnStarted,
    Kind::StepStarted,
    Kind::StepEnded,
    Kind::Swept,
    Kind::Final,
    Kind::TurnEnded,
    Kind::Adopted,
    Kind::Cleared,
];

/// Applies events, in order, to the document that holds everything before them.
pub(in crate::engine) struct Projection {
    pub(super) doc: StateDoc,
    turn: TurnStarted,
    code: Option<StepStarted>,
    last: Option<At>,
    imports: Option<Vec<String>>,
}

/// A row of `interrupted`.
#[derive(Serialize)]
struct Interrupted<'a> {
    query: &'a str,
    log_file: Option<&'a str>,
    run_id: &'a str,
    outcome: &'a str,
}

impl Projection {
    /// Starts from `doc`; `turn` is the one in flight at that moment.
    pub(in crate::engine) fn new(doc: StateDoc, turn: Option<TurnStarted>) -> Self {
        Self {
            doc,
            turn: turn.unwrap_or_default(),
            code: None,
            last: None,
            imports: None,
        }
    }

    pub(in crate::engine) fn apply(&mut self, event: StoredEvent) -> Result<(), ProjectError> {
        match event.fact {
            Fact::TurnStarted(started) => self.start(started)?,
            Fact::StepStarted(started) => self.code = Some(started),
            Fact::StepEnded(ended) => {
                let ok = ended.exception.is_none();
                self.step(event.step.unwrap_or_default(), ok)?;
                self.last = event.turn.map(|turn| At { turn, step: event.step });
            }
            Fact::Swept(swept) if event.step.is_some() => self.imports = Some(swept.imports),
            Fact::Final(result) => self.finish(&result.value)?,
            Fact::TurnEnded(ended) => self.end(&ended)?,
            Fact::Adopted(adopted) => {
                let parsed = StateDoc::parse(adopted.text.as_bytes());
                *self = Self::new(parsed.map_err(|e| ProjectError::Value(e.to_string()))?, None);
            }
            Fact::Cleared(_) => *self = Self::new(StateDoc::default(), None),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, started: TurnStarted) -> Result<(), ProjectError> {
        self.interrupt("interrupted")?;
        let query = match &started.query {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.doc.pending_query = Some(ledger_text(&query));
        self.turn = started;
        Ok(())
    }

    fn step(&mut self, step: u32, ok: bool) -> Result<(), ProjectError> {
        let code = self.code.take().unwrap_or_default().code;
        if !code.is_empty() {
            let q = self.doc.queries.len() as u64;
            self.doc
                .code_log
                .push(CodeRow::new(q, u64::from(step) + 1, ok, &code, &self.turn.run_id)?);
        }
        Ok(())
    }

    fn finish(&mut self, value: &serde_json::Value) -> Result<(), ProjectError> {
        let query = self.doc.pending_query.take().unwrap_or_default();
        let result: Box<RawValue> = to_raw_value(value)?;
        self.doc.queries.push(QueryRow::new(
            &query,
            &result,
            self.turn.log_file.as_deref(),
            &self.turn.run_id,
        )?);
        self.doc.query_file = None;
        Ok(())
    }

    fn end(&mut self, ended: &TurnEnded) -> Result<(), ProjectError> {
        match ended.outcome {
            Outcome::Ok | Outcome::Suspended => Ok(()),
            Outcome::Limit => self.interrupt("limit"),
            Outcome::Cancelled => self.interrupt("cancelled"),
            Outcome::Error | Outcome::Halted => self.interrupt("error"),
            Outcome::Interrupted => self.interrupt("interrupted"),
        }
    }

    fn interrupt(&mut self, outcome: &str) -> Result<(), ProjectError> {
        let Some(query) = self.doc.pending_query.take() else {
            return Ok(());
        };
        let log_file = self.turn.log_file.as_deref();
        let row = Interrupted {
            query: &query,
            log_file,
            run_id: &self.turn.run_id,
            outcome,
        };
        self.doc.interrupted.push(to_raw_value(&row)?);
        self.doc.query_file = None;
        Ok(())
    }

    /// The document, with the names of the last step that ended; those of one before it, where that step left none, as
    /// a step in which the interpreter ended did in earlier logs.
    pub(in crate::engine) fn into_doc(mut self, store: &Store, session: &str) -> Result<StateDoc, ProjectError> {
        let Some(last) = self.last else {
            return Ok(self.doc);
        };
        let namespace = match store.flow.namespace(session, last)? {
            None => {
                let before = store.flow.points(session)?.into_iter().rfind(|point| *point < last);
                before.map_or(Ok(None), |point| store.flow.namespace(session, point))?
            }
            found => found,
        };
        if let Some(namespace) = namespace {
            self.bind(store, namespace)?;
            self.doc.imports = self.imports.take().or(self.doc.imports);
        }
        Ok(self.doc)
    }

    fn bind(&mut self, store: &Store, namespace: Namespace) -> Result<(), ProjectError> {
        let before = std::mem::take(&mut self.doc.variables);
        self.doc.functions.clear();
        self.doc.dropped.clear();
        for binding in namespace.bindings {
            let value = binding
                .digest
                .map(|digest| store.flow.value(&digest))
                .transpose()?
                .flatten();
            let told = &binding.described;
            match binding.kind {
                BindingKind::Source => drop(self.doc.functions.insert(
                    binding.name,
                    String::from_utf8_lossy(&value.unwrap_or_default()).into_owned(),
                )),
                BindingKind::Dropped => drop(self.doc.dropped.insert(binding.name, told.preview.clone())),
                BindingKind::Value => {
                    let mut row: VariableRow = before.get(&binding.name).cloned().unwrap_or_default();
                    let saved = || row.pickle_b64().and_then(|text| STANDARD.decode(text).ok());
                    let same = |pickle: &Vec<u8>| Some(Digest::of(pickle)) == binding.digest;
                    let Some(value) = value.or_else(|| saved().filter(same)) else {
                        self.doc.dropped.insert(binding.name, "its saved value was lost".into());
                        continue;
                    };
                    row.describe(&STANDARD.encode(value), &told.type_name, &told.preview)?;
                    row.set("comment", &told.comment)?;
                    row.set("note", &told.note)?;
                    row.set("committed", &told.committed)?;
                    self.doc.variables.insert(binding.name, row);
                }
            }
        }
        Ok(())
    }
}
