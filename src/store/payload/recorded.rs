//! How tokens and costs stand in payloads.

/// `null`, or an object of token counts.
pub(crate) mod usage {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Usage;

    #[derive(Serialize, Deserialize, Default)]
    #[serde(default)]
    struct Tokens {
        prompt: u64,
        completion: u64,
        total: u64,
        cached: u64,
        reasoning: u64,
    }

    pub(crate) fn serialize<S: Serializer>(usage: &Option<Usage>, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(Usage {
            prompt,
            completion,
            total,
            cached,
            reasoning,
        }) = *usage
        else {
            return serializer.serialize_none();
        };
        Tokens {
            prompt,
            completion,
            total,
            cached,
            reasoning,
        }
        .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
        Ok(Option::<Tokens>::deserialize(deserializer)?.map(|t| Usage {
            prompt: t.prompt,
            completion: t.completion,
            total: t.total,
            cached: t.cached,
            reasoning: t.reasoning,
        }))
    }
}

/// Nano-dollars; `null` for what is unknown, `{"at_least": n}` where `n` of them are known.
pub(crate) mod cost {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Cost;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Recorded {
        Whole(Option<i64>),
        Part { at_least: i64 },
    }

    pub(crate) fn serialize<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
        match cost.part() {
            Some(at_least) => Recorded::Part { at_least },
            None => Recorded::Whole(cost.whole()),
        }
        .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
        Ok(match Recorded::deserialize(deserializer)? {
            Recorded::Whole(nano) => nano.map_or(Cost::Unknown, Cost::Known),
            Recorded::Part { at_least } => Cost::of_part(at_least),
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_known_of_a_cost_is_known_afterwards() {
            let read = |text: &str| deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
            for (cost, text) in [
                (Cost::Unknown, "null"),
                (Cost::Known(0), "0"),
                (Cost::Known(-7), "-7"),
                (Cost::AtLeast(30_000_000), r#"{"at_least":30000000}"#),
            ] {
                let mut written = Vec::new();
                serialize(&cost, &mut serde_json::Serializer::new(&mut written)).unwrap();
                assert_eq!(String::from_utf8(written).unwrap(), text);
                assert_eq!(read(text), cost);
            }
        }
    }
}
