//! A budget at one instant.

use std::time::Duration;

use crate::Limit;

/// What a budget looked like at one instant. It reserves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Units that count at this instant: charged in the current window or interval and not refunded,
    /// not yet come back to a bucket, in flight. 0 where nothing does; above the limit where the
    /// limit was lowered.
    pub total: u64,
    /// Units left: the limit, or the burst of a bucket, without the total.
    pub remaining: u64,
    /// How long until the budget is as if never used, unless it is used again, in whole
    /// milliseconds, at least 1; `None` where it is already.
    pub resets_in: Option<Duration>,
}

impl Snapshot {
    /// Of a budget that admits up to `limit` and has nothing stored.
    pub const fn unused(limit: Limit) -> Self {
        Self {
            total: 0,
            remaining: limit.get(),
            resets_in: None,
        }
    }
}
