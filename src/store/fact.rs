//! What an event says: its kind, and the payload of that kind as JSON.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::StoreError;
use super::payload::{
    Adopted, Answered, Asked, Cleared, Custom, Final, ForkedFrom, LeafCall, ModelCall, SessionStarted, StepEnded,
    StepStarted, SubAgent, Swept, TurnEnded, TurnStarted,
};

macro_rules! facts {
    ($($(#[doc = $doc:literal])* $kind:ident = $tag:literal, schema $schema:literal;)*) => {
        /// The kind of an event. Stored by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Its stored name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $tag,)*
                }
            }

            /// Version of its payload that this program writes; rows of a newer one are skipped and reported.
            pub fn schema(self) -> u32 {
                match self {
                    $(Self::$kind => $schema,)*
                }
            }
        }

        /// What an event says.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Fact {
            $($(#[doc = $doc])* $kind($kind),)*
        }

        impl Fact {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind(_) => Kind::$kind,)*
                }
            }

            fn to_json(&self) -> serde_json::Result<String> {
                match self {
                    $(Self::$kind(payload) => serde_json::to_string(payload),)*
                }
            }

            pub(super) fn to_value(&self) -> serde_json::Result<Value> {
                match self {
                    $(Self::$kind(payload) => serde_json::to_value(payload),)*
                }
            }

            pub(super) fn from_json(kind: Kind, json: &str) -> serde_json::Result<Self> {
                match kind {
                    $(Kind::$kind => serde_json::from_str(json).map(Self::$kind),)*
                }
            }

            pub(super) fn from_value(kind: Kind, value: Value) -> serde_json::Result<Self> {
                match kind {
                    $(Kind::$kind => serde_json::from_value(value).map(Self::$kind),)*
                }
            }
        }

        $(impl From<$kind> for Fact {
            fn from(payload: $kind) -> Self {
                Self::$kind(payload)
            }
        })*
    };
}

facts! {
    /// A session was created.
    SessionStarted = "session_started", schema 1;
    /// A query began.
    TurnStarted = "turn_started", schema 1;
    /// The root's model was asked and answered, or failed.
    ModelCall = "model_call", schema 1;
    /// A step's code is about to run.
    StepStarted = "step_started", schema 1;
    /// A leaf call returned: a cell of the cassette.
    LeafCall = "leaf_call", schema 1;
    /// A sub-agent ended: its steps, so that they can be run again.
    SubAgent = "sub_agent", schema 1;
    /// A step's code ran.
    StepEnded = "step_ended", schema 1;
    /// The namespace was swept, and perhaps state.json was (or is about to be) written.
    Swept = "swept", schema 1;
    /// A question waits for a human.
    Asked = "asked", schema 1;
    /// It was answered.
    Answered = "answered", schema 1;
    /// The query's FINAL.
    Final = "final", schema 1;
    /// A query ended, one way or another.
    TurnEnded = "turn_ended", schema 1;
    /// The session branched off another one.
    ForkedFrom = "forked_from", schema 1;
    /// A state.json that another program wrote was taken over.
    Adopted = "adopted", schema 1;
    /// The session's memory was cleared.
    Cleared = "cleared", schema 1;
    /// A fact of the host's own.
    Custom = "custom", schema 1;
}

/// How deep a payload's JSON may nest. Reading JSON stops at 128, so that hostile data cannot exhaust the stack: what
/// nests deeper than this could be written and never read again.
pub const MAX_NESTING: usize = 100;

impl Fact {
    /// The payload as JSON text that can be read back.
    pub(super) fn encode(&self) -> Result<String, StoreError> {
        let json = self.to_json().map_err(|source| StoreError::Encode { source })?;
        if nesting(&json) > MAX_NESTING {
            return Err(StoreError::TooDeep { kind: self.kind() });
        }
        Ok(json)
    }
}

/// The deepest nesting of a JSON text.
fn nesting(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

impl Kind {
    /// Its append waits until the log is on the disk; others are there at the latest with the next one that waits.
    pub fn is_durable(self) -> bool {
        matches!(self, Self::StepEnded | Self::Asked | Self::Final)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A kind that this program does not know.
#[derive(Debug, thiserror::Error)]
#[error("unknown kind of event")]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.as_str() == text)
            .ok_or(UnknownKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nesting_ignores_what_is_in_strings() {
        assert_eq!(nesting(r#"{"a[": ["\"]]]]", {"b\\": []}], "c": [[1]]}"#), 4);
        assert_eq!(nesting("1"), 0);
    }

    #[test]
    fn what_could_not_be_read_back_is_refused() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let fact = |value| Fact::from(Final { value });
        let deep = fact(nested(MAX_NESTING - 1));
        let json = deep.encode().unwrap();
        assert_eq!(Fact::from_json(Kind::Final, &json).unwrap(), deep);
        assert!(matches!(
            fact(nested(MAX_NESTING)).encode(),
            Err(StoreError::TooDeep { kind: Kind::Final })
        ));
    }

    #[test]
    fn kinds_are_named_once() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse::<Kind>().unwrap(), *kind);
        }
        assert!("Final".parse::<Kind>().is_err());
    }
}
