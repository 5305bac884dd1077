//! Tokens, as providers report them.

/// Tokens of one model call, or a sum of them. Sums saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt: u64,
    /// Tokens of the reply, reasoning included.
    pub completion: u64,
    /// As reported, or prompt + completion where it was not.
    pub total: u64,
    /// Prompt tokens served from the provider's cache; where they were read, never more than the prompt.
    pub cached: u64,
    /// Reasoning ("thinking") tokens.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another's tokens, saturating.
    pub fn add(&mut self, other: &Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.total = self.total.saturating_add(other.total);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// The same with no more of the prompt cached than there is of it: reports may be wrong, and sums must not be.
    #[must_use]
    pub fn settled(self) -> Self {
        Self {
            cached: self.cached.min(self.prompt),
            ..self
        }
    }

    /// Some tokens were reported: writers record all zeros for a reply that came without usage.
    pub fn is_reported(&self) -> bool {
        *self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate() {
        let mut sum = Usage {
            prompt: 1,
            total: u64::MAX,
            ..Usage::default()
        };
        sum.add(&Usage {
            prompt: 2,
            total: 1,
            ..Usage::default()
        });
        assert_eq!((sum.prompt, sum.total), (3, u64::MAX));
    }

    #[test]
    fn no_more_is_cached_than_was_sent() {
        let odd = Usage {
            prompt: 10,
            cached: 99,
            ..Usage::default()
        };
        assert_eq!(odd.settled().cached, 10);
    }

    #[test]
    fn all_zeros_are_no_report() {
        assert!(!Usage::default().is_reported());
        assert!(
            Usage {
                reasoning: 1,
                ..Usage::default()
            }
            .is_reported()
        );
    }
}
