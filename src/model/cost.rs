//! What calls cost, in integer nano-dollars, and what is not known of it.

/// The cost of one step, as its provider reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Cost {
    /// None was reported: unknown, never zero.
    #[default]
    Unknown,
    /// Nano-dollars; a real zero is `Known(0)`.
    Known(i64),
}

/// A sum of costs, with the steps that reported none counted beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CostSum {
    /// Nano-dollars of the steps that reported a cost.
    pub nano: i128,
    /// Steps that reported one.
    pub known: u64,
    /// Steps that reported none.
    pub unknown: u64,
}
