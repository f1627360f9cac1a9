//! What a rule says to one charge.

use std::time::Duration;

use crate::{Timestamp, Wait};

/// What a rule says to one charge. It changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It can be charged at this instant.
    Admit,
    /// It cannot.
    Deny {
        /// Units left.
        remaining: u64,
        /// How long until this cost can be admitted.
        wait: Wait,
    },
}

impl Verdict {
    pub(super) fn deny_until(now: Timestamp, due: Timestamp, remaining: u64) -> Self {
        let wait = Wait::For(until(now, due));
        Self::Deny { remaining, wait }
    }

    pub(super) const fn never(remaining: u64) -> Self {
        let wait = Wait::Never;
        Self::Deny { remaining, wait }
    }
}

/// From `now` to `due`: at least 1 ms.
pub(super) fn until(now: Timestamp, due: Timestamp) -> Duration {
    Duration::from_millis(due.millis_since(now).max(1))
}
