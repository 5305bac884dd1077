//! What happens to a session as a whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::{Digest, Origin};

/// Of [`Fact::SessionStarted`](crate::store::Fact::SessionStarted).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionStarted {
    /// Program and version that made it.
    pub made_by: String,
}

/// Of [`Fact::ForkedFrom`](crate::store::Fact::ForkedFrom).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The session it branched off.
    pub session: String,
    /// That session's turn.
    pub turn: u32,
    /// Before this step.
    pub step: u32,
    /// Fork or what-if.
    pub origin: Origin,
    /// What was changed, for people.
    #[serde(default)]
    pub change: Option<String>,
}

/// Of [`Fact::Adopted`](crate::store::Fact::Adopted).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adopted {
    /// Digest of the file.
    pub state: Digest,
    /// Its whole text.
    pub text: String,
}

/// Why a session counts as cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearReason {
    /// `clear()` was called.
    #[default]
    Asked,
    /// state.json was gone.
    FileMissing,
}

/// Of [`Fact::Cleared`](crate::store::Fact::Cleared).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cleared {
    /// Why.
    pub reason: ClearReason,
}

/// Of [`Fact::Custom`](crate::store::Fact::Custom).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Custom {
    /// The host's name for it.
    pub name: String,
    /// Anything.
    pub data: Value,
}
