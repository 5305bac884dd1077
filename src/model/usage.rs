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
    /// Prompt tokens served from the provider's cache.
    pub cached: u64,
    /// Reasoning ("thinking") tokens.
    pub reasoning: u64,
}
