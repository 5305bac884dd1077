//! The small values of a script that can be written in more than one way: times, faults, usage.

use crate::provider::cost::parse_nano_dollars;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::time::Duration;

/// A time: seconds as a number, or `"800ms"`, `"1.5s"`, `"2m"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Time(pub(super) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds, or a time like \"800ms\", \"1.5s\" or \"2m\"")
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Time, E> {
        let time =
            Duration::try_from_secs_f64(seconds).map_err(|_| E::invalid_value(Unexpected::Float(seconds), &self))?;
        Ok(Time(time))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Time, E> {
        Ok(Time(Duration::from_secs(seconds)))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Time, E> {
        u64::try_from(seconds)
            .map(Duration::from_secs)
            .map(Time)
            .map_err(|_| E::invalid_value(Unexpected::Signed(seconds), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
        let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
        let unit = units
            .iter()
            .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
        let seconds = unit.and_then(|(number, seconds)| Some(number.trim().parse::<f64>().ok()? * seconds));
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.map(Time)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An HTTP error status.
    Status {
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    },
    /// No connection.
    Transport,
    /// A connection on which nothing ever comes.
    Silent,
    /// A reply with no choices.
    Empty,
    /// A reply that breaks off after so many characters.
    Broken { after: usize },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultMap {
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    retry_after: Option<Time>,
    #[serde(default)]
    broken_after: Option<usize>,
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FaultVisitor)
    }
}

struct FaultVisitor;

impl<'de> Visitor<'de> for FaultVisitor {
    type Value = Fault;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status like 429, one of transport, silent, empty, broken, or {status, message, retry_after} or {broken_after}")
    }

    fn visit_u64<E: Error>(self, status: u64) -> Result<Fault, E> {
        match u16::try_from(status) {
            Ok(status @ 400..=599) => Ok(Fault::Status {
                status,
                message: String::new(),
                retry_after: None,
            }),
            _ => Err(E::invalid_value(
                Unexpected::Unsigned(status),
                &"a status from 400 to 599",
            )),
        }
    }

    fn visit_i64<E: Error>(self, status: i64) -> Result<Fault, E> {
        self.visit_u64(u64::try_from(status).unwrap_or(0))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Fault, E> {
        match word {
            "transport" => Ok(Fault::Transport),
            "silent" => Ok(Fault::Silent),
            "empty" => Ok(Fault::Empty),
            "broken" => Ok(Fault::Broken { after: 0 }),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fault, A::Error> {
        let map = FaultMap::deserialize(MapAccessDeserializer::new(map))?;
        match map {
            FaultMap {
                status: None,
                message: None,
                retry_after: None,
                broken_after: Some(after),
            } => Ok(Fault::Broken { after }),
            FaultMap {
                status: Some(status),
                message,
                retry_after,
                broken_after: None,
            } => {
                let Fault::Status { status, .. } = self.visit_u64::<A::Error>(status.into())? else {
                    return Err(A::Error::custom("a status is needed"));
                };
                let retry_after = retry_after.map(|time| time.0);
                Ok(Fault::Status {
                    status,
                    message: message.unwrap_or_default(),
                    retry_after,
                })
            }
            _ => Err(A::Error::custom(
                "an error is either {status, message, retry_after} or {broken_after}",
            )),
        }
    }
}

/// What a reply reports as its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsageSpec {
    /// Nothing.
    Unreported,
    /// These figures; the others are estimated from the lengths of the texts.
    Figures(Figures),
}

/// Figures of a reply's usage that the script states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    #[serde(default)]
    pub(super) prompt: Option<u64>,
    #[serde(default)]
    pub(super) completion: Option<u64>,
    #[serde(default)]
    pub(super) total: Option<u64>,
    #[serde(default)]
    pub(super) cached: Option<u64>,
    #[serde(default)]
    pub(super) reasoning: Option<u64>,
    #[serde(default)]
    pub(super) cost: Option<CostSpec>,
}

impl Default for UsageSpec {
    fn default() -> Self {
        Self::Figures(Figures::default())
    }
}

impl<'de> Deserialize<'de> for UsageSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UsageVisitor)
    }
}

struct UsageVisitor;

impl<'de> Visitor<'de> for UsageVisitor {
    type Value = UsageSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("auto, none, or any of {prompt, completion, total, cached, reasoning, cost}")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<UsageSpec, E> {
        match word {
            "auto" => Ok(UsageSpec::default()),
            "none" => Ok(UsageSpec::Unreported),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UsageSpec, A::Error> {
        Figures::deserialize(MapAccessDeserializer::new(map)).map(UsageSpec::Figures)
    }
}

/// A stated cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CostSpec {
    Unknown,
    Nano(i64),
}

impl<'de> Deserialize<'de> for CostSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CostVisitor)
    }
}

struct CostVisitor;

impl Visitor<'_> for CostVisitor {
    type Value = CostSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars like 0.0012, or unknown")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CostSpec, E> {
        if text == "unknown" {
            return Ok(CostSpec::Unknown);
        }
        parse_nano_dollars(text)
            .map(CostSpec::Nano)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_f64<E: Error>(self, dollars: f64) -> Result<CostSpec, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_u64<E: Error>(self, dollars: u64) -> Result<CostSpec, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_i64<E: Error>(self, dollars: i64) -> Result<CostSpec, E> {
        self.visit_str(&dollars.to_string())
    }
}
