//! The trait of flow stores: values by digest, each step's namespace, parked questions. Every implementation must pass
//! `conformance::flow`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, StoreError, Token};
use crate::model::Time;

/// A point of a session's history at which its namespace is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct At {
    /// The turn, 0-based.
    pub turn: u32,
    /// After this 0-based step; `None`: before the first one (what the turn was restored with).
    pub step: Option<u32>,
}

impl At {
    /// Before the first step of `turn`.
    pub fn start_of(turn: u32) -> Self {
        Self { turn, step: None }
    }

    /// After the 0-based `step` of `turn`.
    pub fn after(turn: u32, step: u32) -> Self {
        Self { turn, step: Some(step) }
    }
}

/// What a name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindingKind {
    /// A pickled value.
    Value,
    /// A function or class: the value is its source.
    Source,
    /// A name that could not be saved: there is no value, and `preview` holds the reason.
    Dropped,
}

/// What people are told about a name; free to change without the value changing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Described {
    /// Python type.
    pub type_name: String,
    /// Its `repr`, cut; the reason, of a dropped name.
    pub preview: String,
    /// Comment beside its assignment.
    pub comment: Option<String>,
    /// Note given to `commit`.
    pub note: Option<String>,
    /// `commit` was called on it.
    pub committed: bool,
    /// Its pickle differs between equal runs: compared by type and preview only.
    pub weak: bool,
}

/// One name of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// What kind of thing.
    pub kind: BindingKind,
    /// Its value; `None` for dropped names.
    pub digest: Option<Digest>,
    /// Its size in bytes before compression; 0 without a value. Set by the store.
    pub bytes: u64,
    /// What people are told.
    pub described: Described,
}

/// All names at one point, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The point.
    pub at: At,
    /// Its names, in code-point order.
    pub bindings: Vec<Binding>,
}

/// A question that waits for a human.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parked {
    /// The turn that asked, 0-based.
    pub turn: u32,
    /// The step that asked, 0-based.
    pub step: u32,
    /// Which `ask` of the step, 0-based.
    pub number: u32,
    /// The question.
    pub question: String,
    /// Answers to choose from; empty: any.
    #[serde(default)]
    pub options: Vec<String>,
    /// JSON Schema of the answer.
    #[serde(default)]
    pub schema: Option<Value>,
    /// When it was asked.
    pub time: Time,
}

/// What a collection freed, or would free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Values that no namespace names.
    pub values: u64,
    /// Their bytes as stored.
    pub bytes: u64,
}

/// What is not a log. Shared by threads; calls block. Each call is one transaction.
///
/// Tokens are those of [`EventStore::raise_token`](super::EventStore::raise_token): the store keeps the highest one it
/// has seen per session and refuses lower ones. A session is known here from its first [`FlowStore::fence`] on.
pub trait FlowStore: Send + Sync {
    /// The highest token seen for the session; 0 for one that is not known.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn token(&self, session: &str) -> Result<Token, StoreError>;

    /// Makes `token` the session's: lower ones fail from now on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`] when a higher one is known.
    fn fence(&self, session: &str, token: Token) -> Result<(), StoreError>;

    /// Records the whole namespace at a point, with the contents of those values that the store lacks; durable when it
    /// returns. Points are recorded in order; recording one again replaces it and forgets those after it. What did not
    /// change since the point before costs nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`], [`StoreError::MissingValue`]; nothing is recorded then.
    fn put_namespace(
        &self,
        session: &str,
        token: Token,
        namespace: &Namespace,
        values: &[&[u8]],
    ) -> Result<(), StoreError>;

    /// The namespace at `at`; `None` if it was not recorded or is kept no more.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn namespace(&self, session: &str, at: At) -> Result<Option<Namespace>, StoreError>;

    /// The points whose namespaces are kept, in order.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn points(&self, session: &str) -> Result<Vec<At>, StoreError>;

    /// Gives `to` the namespace that `from` has at `at`, as its point `as_point`; values are shared.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`] (`token` is that of `to`); `false` if `from` has no such point.
    fn share_namespace(&self, from: &str, at: At, to: &str, token: Token, as_point: At) -> Result<bool, StoreError>;

    /// A value's content, checked against its digest; `None` if it is not stored.
    ///
    /// # Errors
    ///
    /// [`StoreError::DamagedValue`].
    fn value(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;

    /// Which of `digests` are not stored. Retention or a collection may free one of the others before it is named
    /// again: [`FlowStore::put_namespace`] then fails with [`StoreError::MissingValue`], and wants its content after
    /// all.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError>;

    /// Parks a question, durably. Parking it again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`].
    fn park(&self, session: &str, token: Token, question: &Parked) -> Result<(), StoreError>;

    /// Questions that wait, in the order in which they were asked.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn parked(&self, session: &str) -> Result<Vec<Parked>, StoreError>;

    /// Forgets the session's parked questions of `turn`: they were answered, or the turn was closed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`].
    fn unpark(&self, session: &str, token: Token, turn: u32) -> Result<(), StoreError>;

    /// Keeps every point of the last `full_turns` turns, and the last point of each older one. Values that only the
    /// other points named are freed with them: a session stays bounded however long it gets.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`].
    fn retain(&self, session: &str, token: Token, full_turns: u32) -> Result<(), StoreError>;

    /// Forgets the session: its points, names and questions.
    ///
    /// # Errors
    ///
    /// [`StoreError::Fenced`].
    fn forget(&self, session: &str, token: Token) -> Result<(), StoreError>;

    /// Frees the values that no session's namespace names; with `dry_run` only counts them.
    ///
    /// # Errors
    ///
    /// Those of the database.
    fn collect(&self, dry_run: bool) -> Result<Freed, StoreError>;
}

/// Turns whose points are all kept; of older ones the last point is.
pub const FULL_TURNS: u32 = 3;
