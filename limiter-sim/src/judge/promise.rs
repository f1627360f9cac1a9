//! What a rate limiter promises, and how far a history is from it.

use super::history::Entry;
use super::{aligned, bucket, first_arrival, in_flight, rolling};
use crate::scenario::Parameters;

/// What a rate limiter promises of one budget: the limits in units, all times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// A window opens at the first admission and lasts so long; at most `limit` inside it.
    FirstArrival {
        /// Units in a window.
        limit: u64,
        /// From a window's first instant to its last.
        length_ms: u64,
    },
    /// Windows are cut at the multiples of the length; at most `limit` inside each.
    Aligned {
        /// Units in a window.
        limit: u64,
        /// From one cut to the next.
        length_ms: u64,
    },
    /// At most `limit` in every interval of the length.
    Rolling {
        /// Units in an interval.
        limit: u64,
        /// From the first instant of an interval to its last.
        length_ms: u64,
    },
    /// `limit` per length come back evenly, and at most `burst` can be spent at once.
    TokenBucket {
        /// Units that come back in a length.
        limit: u64,
        /// In which `limit` units come back.
        length_ms: u64,
        /// Units that can be saved up.
        burst: u64,
    },
    /// At most `limit` leases last at once.
    InFlight {
        /// Permits in leases.
        limit: u64,
        /// How long a lease lasts that is not released.
        lease_ms: u64,
    },
    /// All of these, of budgets that every call is charged to.
    All(Vec<Promise>),
}

/// What judges know of a history.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// What was admitted and given back, in the order in which the store did it.
    pub entries: &'a [Entry],
    /// Instants of charges that nobody was told about; in order of time.
    pub untold: &'a [u64],
    /// Units that each call asked for.
    pub cost: u64,
    /// Whether some clock was set to another time.
    pub clock_was_set: bool,
}

impl Promise {
    /// The first-arrival window of a scenario's limit and length.
    pub fn first_arrival(parameters: &Parameters) -> Self {
        Self::FirstArrival {
            limit: parameters.limit,
            length_ms: parameters.window_ms,
        }
    }

    /// The most that a history may have at once: the limit, or the burst of a bucket.
    pub fn most(&self) -> u64 {
        match self {
            Self::FirstArrival { limit, .. }
            | Self::Aligned { limit, .. }
            | Self::Rolling { limit, .. }
            | Self::InFlight { limit, .. } => *limit,
            Self::TokenBucket { burst, .. } => *burst,
            Self::All(promises) => promises.iter().map(Self::most).min().unwrap_or(u64::MAX),
        }
    }

    /// The same promise as it can be held against a store by someone who sees every admission up to
    /// `lag_ms` after the store made it: two that are so far apart as the store counts can seem to be
    /// nearer to each other by that much. A cut by the clock is not moved.
    pub(crate) fn seen_late(self, lag_ms: u64) -> Self {
        let nearer = |length_ms: u64| length_ms.saturating_sub(lag_ms).max(1);
        match self {
            Self::FirstArrival { limit, length_ms } => Self::FirstArrival {
                limit,
                length_ms: nearer(length_ms),
            },
            Self::Rolling { limit, length_ms } => Self::Rolling {
                limit,
                length_ms: nearer(length_ms),
            },
            Self::InFlight { limit, lease_ms } => Self::InFlight {
                limit,
                lease_ms: nearer(lease_ms),
            },
            Self::TokenBucket {
                limit,
                length_ms,
                burst,
            } => {
                let back = (u128::from(limit) * u128::from(lag_ms)).div_ceil(length_ms.into());
                Self::TokenBucket {
                    limit,
                    length_ms,
                    burst: burst.saturating_add(u64::try_from(back).unwrap_or(u64::MAX)),
                }
            }
            Self::Aligned { .. } => self,
            Self::All(promises) => Self::All(
                promises
                    .into_iter()
                    .map(|promise| promise.seen_late(lag_ms))
                    .collect(),
            ),
        }
    }

    /// Where units count together, as the end of a sentence.
    pub(crate) fn place(&self) -> &'static str {
        match self {
            Self::FirstArrival { .. } | Self::Aligned { .. } => "in one window",
            Self::Rolling { .. } => "in one interval",
            Self::TokenBucket { .. } => "out of its bucket",
            Self::InFlight { .. } => "in leases at once",
            Self::All(_) => "of one of its budgets",
        }
    }

    /// The most units that counted at once, and by how much that is more than was promised. Of
    /// several promises, that of the one that is broken by most.
    pub fn judge(&self, history: &History<'_>) -> (u64, u64) {
        let entries = history.entries;
        let admitted = match self {
            Self::FirstArrival { length_ms, .. } => {
                first_arrival(entries, history.untold, *length_ms, history.cost)
            }
            Self::Aligned { length_ms, .. } => aligned(entries, *length_ms, history.clock_was_set),
            Self::Rolling { length_ms, .. } => rolling(entries, *length_ms),
            Self::TokenBucket {
                limit, length_ms, ..
            } => bucket(entries, *limit, *length_ms),
            Self::InFlight { lease_ms, .. } => in_flight(entries, *lease_ms),
            Self::All(promises) => {
                let judged = promises.iter().map(|promise| promise.judge(history));
                let worst = judged.max_by_key(|(admitted, over)| (*over, *admitted));
                return worst.unwrap_or((0, 0));
            }
        };
        (admitted, admitted.saturating_sub(self.most()))
    }

    /// The last instants at which something could still be denied because of what was admitted at
    /// `at`, or because the clock shows `now`: there, and one millisecond later, time has something
    /// to show. A bucket has one for each call's worth that comes back, 16 at most.
    pub(crate) fn last_instants(&self, at: u64, cost: u64) -> Vec<u64> {
        match self {
            Self::FirstArrival { length_ms, .. } | Self::Rolling { length_ms, .. } => {
                vec![at + length_ms]
            }
            Self::Aligned { length_ms, .. } => vec![at - at % length_ms + length_ms - 1],
            Self::TokenBucket {
                limit, length_ms, ..
            } => {
                let calls = (limit / cost).min(16);
                let wait = |calls: u64| {
                    let units = u128::from(calls) * u128::from(cost);
                    let wait = (units * u128::from(*length_ms)).div_ceil(u128::from(*limit));
                    u64::try_from(wait).unwrap_or(*length_ms)
                };
                (1..=calls).map(|calls| at + wait(calls) - 1).collect()
            }
            Self::InFlight { lease_ms, .. } => vec![at + lease_ms],
            Self::All(promises) => {
                let each = promises.iter();
                each.flat_map(|promise| promise.last_instants(at, cost))
                    .collect()
            }
        }
    }

    /// Whether windows are cut by the clock, also where nothing was admitted.
    pub(crate) fn is_cut_by_the_clock(&self) -> bool {
        match self {
            Self::Aligned { .. } => true,
            Self::All(promises) => promises.iter().any(Self::is_cut_by_the_clock),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(promise: Promise, entries: &[Entry]) -> (u64, u64) {
        promise.judge(&History {
            entries,
            untold: &[],
            cost: 1,
            clock_was_set: false,
        })
    }

    /// The store admitted at 0 and at 1001; the first was seen 5 ms late.
    #[test]
    fn what_was_seen_late_is_not_held_against_the_store() {
        let entries = [Entry::admitted(5, 1), Entry::admitted(1001, 1)];
        let (limit, length_ms) = (1, 1000);
        for promise in [
            Promise::FirstArrival { limit, length_ms },
            Promise::Rolling { limit, length_ms },
            Promise::InFlight {
                limit,
                lease_ms: length_ms,
            },
            Promise::TokenBucket {
                limit,
                length_ms,
                burst: 1,
            },
        ] {
            assert_eq!(judged(promise.clone(), &entries).1, 1, "{promise:?}");
            let seen = promise.clone().seen_late(5);
            assert_eq!(judged(seen, &entries).1, 0, "{promise:?}");
        }
    }

    #[test]
    fn what_no_lag_explains_is_overspend_all_the_same() {
        let entries = [Entry::admitted(5, 1), Entry::admitted(900, 1)];
        let promise = Promise::FirstArrival {
            limit: 1,
            length_ms: 1000,
        };
        assert_eq!(judged(promise.seen_late(5), &entries), (2, 1));
    }
}
