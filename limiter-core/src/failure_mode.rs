//! What it means for admission that a store cannot decide.

use std::sync::Arc;

use crate::{BudgetStore, Limit};

/// What to do when the store cannot decide: when it answers *unavailable* or *uncertain*.
///
/// *Corrupt* and *invalid* are always errors: something is broken, and admitting would hide it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum FailureMode {
    /// Hand the error to the caller, who refuses the work (the default).
    #[default]
    Refuse,
    /// Admit. Every such admission is extra allowance beyond the budget; the limiter counts them.
    /// While the store is away there is no bound.
    Admit,
    /// Ask another store, with a share of the limit. While the store is away, at most the limit
    /// plus `processes × share` is admitted in one window. After *uncertain* the same work may be
    /// charged in both. A request id is left out where that store remembers none.
    Fallback {
        /// Usually an in-process store.
        store: Arc<dyn BudgetStore>,
        /// The limit that each budget has there, if its own is not smaller.
        share: Limit,
    },
}
