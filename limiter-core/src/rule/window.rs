//! A window with one count: what the first-arrival and the aligned rule have in common.

use std::time::Duration;

use crate::{Cost, Limit, Timestamp, Wait};

/// An open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Units charged in it so far.
    pub total: u64,
    /// Its last instant.
    pub deadline: Timestamp,
}

/// What the rule says to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Admit, and store this window.
    Admit(Window),
    /// Deny, and store nothing.
    Deny {
        /// Units left in the window.
        remaining: u64,
        /// How long until this cost can be admitted.
        wait: Wait,
    },
}

impl Window {
    /// Whether the window contains `now`. Time that stepped back to before the window opened is
    /// still in it: that gives no credit.
    #[inline]
    pub fn contains(self, now: Timestamp) -> bool {
        now <= self.deadline
    }

    /// Units that `limit` leaves in this window: 0 where the limit was lowered below the total.
    #[inline]
    pub fn remaining(self, limit: Limit) -> u64 {
        limit.get().saturating_sub(self.total)
    }

    /// How long until the window is over, at least 1 ms for a window that contains `now`.
    #[inline]
    pub fn resets_in(self, now: Timestamp) -> Duration {
        Duration::from_millis(self.deadline.millis_since(now).saturating_add(1))
    }
}

/// Judges one request against the stored window, if there is one. A new one would end at
/// `deadline`.
#[inline]
pub(super) fn judge(
    stored: Option<Window>,
    now: Timestamp,
    deadline: Timestamp,
    limit: Limit,
    cost: Cost,
) -> Judgement {
    let open = stored.filter(|window| window.contains(now));
    let remaining = open.map_or(limit.get(), |window| window.remaining(limit));
    if cost.get() > limit.get() {
        let wait = Wait::Never;
        return Judgement::Deny { remaining, wait };
    }
    match open {
        // A cost within the limit is always admitted where no window is open, so a wait can only
        // come from one that is.
        Some(window) if cost.get() > remaining => Judgement::Deny {
            remaining,
            wait: Wait::For(window.resets_in(now)),
        },
        Some(window) => Judgement::Admit(Window {
            total: window.total + cost.get(),
            ..window
        }),
        None => Judgement::Admit(Window {
            total: cost.get(),
            deadline,
        }),
    }
}
