//! Recording a session: what a turn appends is redacted, capped and fenced on its way.

use super::payload::{CellOutcome, LeafCall};
use super::{At, Digest, Fact, Namespace, NewEvent, Parked, Redact, SessionRow, Store, StoreError, StoredEvent, Token};

/// Bytes of a cell's result, as JSON, above which only its beginning is kept: 1 MiB.
pub const DEFAULT_CELL_CAP: u64 = 1 << 20;

/// Bytes of a truncated result that are kept for people.
const HEAD: usize = 4096;

/// The writing end of one session. Whoever makes one must hold the session's lock: every earlier writer of the session
/// fails from then on with [`StoreError::Fenced`].
pub struct SessionWriter {
    store: Store,
    session: String,
    token: Token,
    redact: Redact,
    cell_cap: u64,
}

impl SessionWriter {
    /// Takes the session over.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`], and those of the databases.
    pub fn take_over(store: &Store, session: &str) -> Result<Self, StoreError> {
        // The two stores part when one of them is put back from a copy: both must take the new token.
        let token = store.events.raise_token_above(session, store.flow.token(session)?)?;
        store.flow.fence(session, token)?;
        Ok(Self {
            store: store.clone(),
            session: session.to_owned(),
            token,
            redact: Redact::nothing(),
            cell_cap: DEFAULT_CELL_CAP,
        })
    }

    /// Redacts every text with `redact` before it is recorded.
    #[must_use]
    pub fn redacting(mut self, redact: Redact) -> Self {
        self.redact = redact;
        self
    }

    /// Keeps results of cells whole up to so many bytes of JSON.
    #[must_use]
    pub fn cell_cap(mut self, bytes: u64) -> Self {
        self.cell_cap = bytes;
        self
    }

    /// The session's id.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The token that this writer holds.
    pub fn token(&self) -> Token {
        self.token
    }

    /// The session's row.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn row(&self) -> Result<SessionRow, StoreError> {
        self.store.events.session(&self.session)
    }

    /// Which of `digests` the store has no content of.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError> {
        self.store.flow.missing(digests)
    }

    /// Appends `events` in one transaction and returns them as recorded.
    ///
    /// # Errors
    ///
    /// As [`EventStore::append`](super::EventStore::append).
    pub fn append(&self, events: Vec<NewEvent>) -> Result<Vec<StoredEvent>, StoreError> {
        let events: Vec<NewEvent> = events
            .into_iter()
            .map(|event| self.prepare(event))
            .collect::<Result<_, _>>()?;
        self.store.events.append(&self.session, self.token, &events)
    }

    /// Ends a step: first the namespace with the contents of those values that the store lacks, then `events` (step
    /// ended, swept, …) in one transaction. A crash in between leaves values that no event speaks of, which the
    /// step's repetition replaces; never an event whose values are missing.
    ///
    /// # Errors
    ///
    /// As [`FlowStore::put_namespace`](super::FlowStore::put_namespace) and
    /// [`EventStore::append`](super::EventStore::append).
    pub fn end_step(
        &self,
        namespace: &Namespace,
        values: &[&[u8]],
        events: Vec<NewEvent>,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.put_namespace(namespace, values)?;
        self.append(events)
    }

    /// Records the namespace alone.
    ///
    /// # Errors
    ///
    /// As [`FlowStore::put_namespace`](super::FlowStore::put_namespace).
    pub fn put_namespace(&self, namespace: &Namespace, values: &[&[u8]]) -> Result<(), StoreError> {
        self.store
            .flow
            .put_namespace(&self.session, self.token, namespace, values)
    }

    /// Parks a question: first the question, then its `asked` event among `events`.
    ///
    /// # Errors
    ///
    /// As [`FlowStore::park`](super::FlowStore::park) and [`EventStore::append`](super::EventStore::append).
    pub fn park(&self, question: &Parked, events: Vec<NewEvent>) -> Result<Vec<StoredEvent>, StoreError> {
        let mut question = question.clone();
        question.question = self.redact.text(&question.question).into_owned();
        for option in &mut question.options {
            *option = self.redact.text(option).into_owned();
        }
        if let Some(schema) = &mut question.schema {
            self.redact.value(schema);
        }
        self.store.flow.park(&self.session, self.token, &question)?;
        self.append(events)
    }

    /// Forgets the parked questions of `turn`, after their `answered` events were appended.
    ///
    /// # Errors
    ///
    /// As [`FlowStore::unpark`](super::FlowStore::unpark).
    pub fn unpark(&self, turn: u32) -> Result<(), StoreError> {
        self.store.flow.unpark(&self.session, self.token, turn)
    }

    /// Thins out the namespaces of turns before the last `full_turns`.
    ///
    /// # Errors
    ///
    /// As [`FlowStore::retain`](super::FlowStore::retain).
    pub fn retain(&self, full_turns: u32) -> Result<(), StoreError> {
        self.store.flow.retain(&self.session, self.token, full_turns)
    }

    /// Begins a branch: this session's point `as_point` becomes what `from` has at `at`. `false` if `from` does not
    /// have it (any more).
    ///
    /// # Errors
    ///
    /// As [`FlowStore::share_namespace`](super::FlowStore::share_namespace).
    pub fn share_namespace(&self, from: &str, at: At, as_point: At) -> Result<bool, StoreError> {
        self.store
            .flow
            .share_namespace(from, at, &self.session, self.token, as_point)
    }

    /// The digest by which a cell of this input is matched: of the exact text, secrets replaced, so that a recording
    /// can be served to a process that knows the secrets and to one that only sees what was recorded.
    pub fn input_digest(&self, input: &str) -> Digest {
        Digest::of(self.redact.text(input).as_bytes())
    }

    fn prepare(&self, event: NewEvent) -> Result<NewEvent, StoreError> {
        let (mut fact, redacted) = self.redacted(event.fact)?;
        if let Fact::LeafCall(cell) = &mut fact {
            cell.redacted |= redacted;
            cap(cell, self.cell_cap)?;
        }
        Ok(NewEvent { fact, ..event })
    }

    fn redacted(&self, fact: Fact) -> Result<(Fact, bool), StoreError> {
        if self.redact.is_nothing() {
            return Ok((fact, false));
        }
        let encode = |source| StoreError::Encode { source };
        let mut value = fact.to_value().map_err(encode)?;
        if !self.redact.value(&mut value) {
            return Ok((fact, false));
        }
        Ok((Fact::from_value(fact.kind(), value).map_err(encode)?, true))
    }
}

fn cap(cell: &mut LeafCall, cap: u64) -> Result<(), StoreError> {
    let CellOutcome::Returned(value) = &cell.outcome else {
        return Ok(());
    };
    let mut json = serde_json::to_string(value).map_err(|source| StoreError::Encode { source })?;
    let bytes = json.len() as u64;
    if bytes > cap {
        json.truncate(json.floor_char_boundary(HEAD));
        cell.outcome = CellOutcome::Truncated { head: json, bytes, cap };
        cell.pickle = None;
    }
    if cell
        .pickle
        .as_ref()
        .is_some_and(|pickle| pickle.len() as u64 > cap.saturating_mul(2))
    {
        cell.pickle = None;
    }
    Ok(())
}
