//! The registry: which sessions a store holds, and where they come from.

use serde::{Deserialize, Serialize};

use super::Token;
use crate::model::Time;

/// Where a session comes from. Forks and what-ifs never count as the latest session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Started here.
    New,
    /// Branched off another session.
    Fork,
    /// Made by a what-if.
    WhatIf,
    /// Made by another program, or carried over from another store.
    Imported,
}

impl Origin {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Fork => "fork",
            Self::WhatIf => "what_if",
            Self::Imported => "imported",
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        match text {
            "fork" => Self::Fork,
            "what_if" => Self::WhatIf,
            "imported" => Self::Imported,
            _ => Self::New,
        }
    }

    /// A branch of another session.
    pub fn is_branch(self) -> bool {
        matches!(self, Self::Fork | Self::WhatIf)
    }
}

/// A session to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// Its id; `None` mints `s_<n>`.
    pub id: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// The session it branched off.
    pub parent: Option<String>,
    /// It keeps its files in the storage directory itself: at most one session does.
    pub in_root: bool,
    /// When it was created.
    pub time: Time,
}

impl NewSession {
    /// An ordinary session with a minted id.
    pub fn minted(time: Time) -> Self {
        Self {
            id: None,
            origin: Origin::New,
            parent: None,
            in_root: false,
            time,
        }
    }

    /// An ordinary session of the name `id`.
    pub fn named(id: &str, time: Time) -> Self {
        Self {
            id: Some(id.to_owned()),
            ..Self::minted(time)
        }
    }

    /// The session that keeps its files in the storage directory itself.
    pub fn in_root(time: Time) -> Self {
        Self {
            in_root: true,
            ..Self::minted(time)
        }
    }

    /// A branch of `parent`, with a minted id.
    pub fn branch(parent: &str, origin: Origin, time: Time) -> Self {
        Self {
            origin,
            parent: Some(parent.to_owned()),
            ..Self::minted(time)
        }
    }
}

/// A session, as the registry has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id; also its directory's name, unless it is `in_root`.
    pub id: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The session it branched off.
    pub parent: Option<String>,
    /// It keeps its files in the storage directory itself.
    pub in_root: bool,
    /// When it was created.
    pub created: Time,
    /// When its last event was appended, by that writer's clock; its creation, before there is one.
    pub active: Time,
    /// How many events it has: the next `stream_seq`.
    pub events: u64,
    /// The fencing token that counts.
    pub token: Token,
}
