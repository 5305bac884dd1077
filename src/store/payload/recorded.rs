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

/// `null` for what is unknown as a whole, else nano-dollars.
pub(crate) mod cost {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Cost;

    pub(crate) fn serialize<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
        cost.whole().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map_or(Cost::Unknown, Cost::Known))
    }
}
