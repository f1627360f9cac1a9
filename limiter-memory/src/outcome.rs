//! The answer of the synchronous path.

use std::time::Duration;

use limiter_core::{Admission, Decision, Denial, Grant, Refusal, Wait};

/// The answer to [`MemoryStore::acquire_now`](crate::MemoryStore::acquire_now): what a
/// [`Decision`] says about one charge, without anything that would have to be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an outcome that nobody reads limits nothing"]
pub enum Outcome {
    /// The cost was charged.
    Admitted {
        /// Units charged in this window so far, with this charge. In one window each total is
        /// reported by exactly one admission.
        total: u64,
        /// Units left in this window at the instant of the decision. A snapshot, not a reservation.
        remaining: u64,
        /// How long until the window ends and the next admission opens a new one, in whole
        /// milliseconds; at least 1.
        resets_in: Duration,
    },
    /// Nothing was charged, and nothing changed.
    Denied {
        /// Units left in the window, fewer than the cost.
        remaining: u64,
        /// How long until this cost can be admitted.
        wait: Wait,
    },
}

impl Outcome {
    /// Whether the work may go ahead.
    pub fn is_admitted(self) -> bool {
        matches!(self, Self::Admitted { .. })
    }

    /// What a decision says about its one charge.
    pub(crate) fn of(decision: &Decision) -> Self {
        match decision {
            Decision::Admitted(admission) => {
                let [grant] = admission.grants() else {
                    unreachable!("one charge has one grant");
                };
                Self::Admitted {
                    total: grant.total,
                    remaining: grant.remaining,
                    resets_in: grant.resets_in,
                }
            }
            Decision::Denied(denial) => Self::Denied {
                remaining: denial.refusals()[0].remaining,
                wait: denial.wait(),
            },
        }
    }

    /// The same answer in the contract's form, for the budget that was asked.
    pub(crate) fn decision(self, budget: &limiter_core::Budget) -> Decision {
        match self {
            Self::Admitted {
                total,
                remaining,
                resets_in,
            } => Decision::Admitted(Admission::of(Grant {
                total,
                remaining,
                resets_in,
                receipt: None,
            })),
            Self::Denied { remaining, wait } => Decision::Denied(Denial::new([Refusal {
                budget: budget.clone(),
                remaining,
                wait,
            }])),
        }
    }
}
