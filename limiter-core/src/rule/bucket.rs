//! The token bucket.
//!
//! As many units as the limit come back evenly in each `length`; up to `burst` of them can be saved
//! up. The state counts what is *used*, so an unused bucket needs none and a changed limit changes
//! only the refill. With a limit of 60 per minute and a burst of 10, ten units go at once; one comes
//! back each second, so after 2.5 s two can be spent, and after ten seconds ten. In every interval
//! of length `d` at most `burst + limit · d / length` pass.
//!
//! Integers only: for `e` elapsed milliseconds `floor((e · limit + fraction) / length)` units come
//! back, and the remainder is kept as the next fraction. After a whole `length` the bucket is full,
//! because a burst is at most the limit.

use crate::{Cost, Length, Limit, Refunded, Snapshot, Timestamp};

use super::verdict::{Verdict, until};

/// The numbers of a policy that a bucket goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Units that come back in each `length`.
    pub limit: Limit,
    /// Units that can be saved up.
    pub burst: Limit,
    /// How long the limit takes to come back.
    pub length: Length,
}

/// What was used and has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Whole units that had not come back at `at`.
    pub used: u64,
    /// What had come back of the next unit, in parts of the length in milliseconds.
    pub fraction: u64,
    /// When this was so.
    pub at: Timestamp,
}

impl Bucket {
    /// A full bucket.
    pub const fn full(now: Timestamp) -> Self {
        Self {
            used: 0,
            fraction: 0,
            at: now,
        }
    }

    /// The same bucket at `now`. Where the clock stepped back, nothing has come back yet.
    #[must_use]
    pub fn refilled(self, now: Timestamp, terms: Terms) -> Self {
        let elapsed_ms = now.millis_since(self.at);
        let length_ms = terms.length.as_millis();
        if elapsed_ms >= length_ms {
            return Self::full(now);
        }
        let parts =
            u128::from(elapsed_ms) * u128::from(terms.limit.get()) + u128::from(self.fraction);
        let length = u128::from(length_ms);
        match u128::from(self.used).checked_sub(parts / length) {
            // At most what it was, and a remainder is below the length: both fit.
            Some(used @ 1..) => Self {
                used: used as u64,
                fraction: (parts % length) as u64,
                at: self.at.max(now),
            },
            _ => Self::full(self.at.max(now)),
        }
    }

    /// The first instant at which no more than `used` units are missing.
    fn down_to(self, used: u64, terms: Terms) -> Timestamp {
        let length_ms = terms.length.as_millis();
        let units = u128::from(self.used.saturating_sub(used));
        let parts = (units * u128::from(length_ms)).saturating_sub(u128::from(self.fraction));
        let elapsed = match u128::from(terms.limit.get()) {
            0 => u128::from(length_ms),
            limit => parts.div_ceil(limit).min(u128::from(length_ms)),
        };
        self.at.plus_millis(elapsed as u64)
    }

    /// The first instant at which the bucket is full, if nothing more is charged.
    pub fn full_at(self, terms: Terms) -> Timestamp {
        self.down_to(0, terms)
    }

    /// The last instant at which this state can deny.
    pub fn deadline(self, terms: Terms) -> Timestamp {
        let full_at = self.full_at(terms).as_millis();
        Timestamp::from_millis(full_at.saturating_sub(1))
    }

    /// What it looks like at `now`.
    pub fn view(self, now: Timestamp, terms: Terms) -> Snapshot {
        let bucket = self.refilled(now, terms);
        Snapshot {
            total: bucket.used,
            remaining: terms.burst.get().saturating_sub(bucket.used),
            resets_in: (bucket.used > 0).then(|| until(now, self.full_at(terms))),
        }
    }

    /// Judges one charge.
    pub fn judge(self, now: Timestamp, terms: Terms, cost: Cost) -> Verdict {
        let remaining = self.view(now, terms).remaining;
        let Some(allowed) = terms.burst.get().checked_sub(cost.get()) else {
            return Verdict::never(remaining);
        };
        if cost.get() <= remaining {
            return Verdict::Admit;
        }
        Verdict::deny_until(now, self.down_to(allowed, terms), remaining)
    }

    /// Charges what was judged admissible.
    #[must_use]
    pub fn charge(self, now: Timestamp, terms: Terms, cost: Cost) -> Self {
        let bucket = self.refilled(now, terms);
        Self {
            used: bucket.used + cost.get(),
            ..bucket
        }
    }

    /// Gives back what of `cost` has not come back by itself: at most what would still have refilled
    /// from now until `full_at`, the instant at which the bucket would have been full after that
    /// charge. More would be credit that the charge never took.
    pub fn refund(
        &mut self,
        now: Timestamp,
        terms: Terms,
        full_at: Timestamp,
        cost: Cost,
    ) -> Refunded {
        let bucket = self.refilled(now, terms);
        let left_ms = full_at
            .millis_since(bucket.at)
            .min(terms.length.as_millis());
        let due = u128::from(left_ms) * u128::from(terms.limit.get());
        let due = due / u128::from(terms.length.as_millis());
        let units = cost.get().min(bucket.used).min(due as u64);
        if units == 0 {
            return Refunded::Late;
        }
        let used = bucket.used - units;
        *self = match used {
            0 => Self::full(bucket.at),
            used => Self { used, ..bucket },
        };
        Refunded::Credited { units }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ms(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn terms(limit: u64, burst: u64, length_ms: u64) -> Terms {
        Terms {
            limit: Limit::new(limit).unwrap(),
            burst: Limit::new(burst).unwrap(),
            length: Length::new(Duration::from_millis(length_ms)).unwrap(),
        }
    }

    fn cost(units: u64) -> Cost {
        Cost::new(units).unwrap()
    }

    #[test]
    fn a_burst_goes_at_once_and_then_one_unit_comes_back_each_second() {
        let terms = terms(60, 10, 60_000);
        let bucket = Bucket::full(ms(0)).charge(ms(0), terms, cost(10));
        assert_eq!(
            bucket.judge(ms(0), terms, Cost::ONE),
            Verdict::deny_until(ms(0), ms(1000), 0)
        );
        assert_eq!(bucket.view(ms(2500), terms).remaining, 2);
        let spent = bucket.charge(ms(2500), terms, cost(2));
        assert_eq!((spent.used, spent.fraction), (10, 30_000));
        let wait = Verdict::deny_until(ms(2500), ms(3000), 0);
        assert_eq!(spent.judge(ms(2500), terms, Cost::ONE), wait);
        assert_eq!(spent.full_at(terms), ms(12_000));
    }

    #[test]
    fn seventy_pass_in_the_first_minute_after_a_pause() {
        let terms = terms(60, 10, 60_000);
        let mut bucket = Bucket::full(ms(0));
        let mut passed = 0;
        for at_ms in 0..=60_000 {
            while bucket.judge(ms(at_ms), terms, Cost::ONE) == Verdict::Admit {
                bucket = bucket.charge(ms(at_ms), terms, Cost::ONE);
                passed += 1;
            }
        }
        assert_eq!(passed, 70);
    }

    #[test]
    fn a_cost_above_the_burst_can_never_be_admitted() {
        let terms = terms(60, 10, 60_000);
        assert_eq!(
            Bucket::full(ms(0)).judge(ms(0), terms, cost(11)),
            Verdict::never(10)
        );
    }

    #[test]
    fn a_clock_that_stepped_back_refills_nothing_twice() {
        let terms = terms(10, 10, 1000);
        let bucket = Bucket::full(ms(12_000)).charge(ms(12_000), terms, cost(10));
        assert_eq!(
            bucket.judge(ms(1000), terms, Cost::ONE),
            Verdict::deny_until(ms(1000), ms(12_100), 0)
        );
        assert_eq!(bucket.refilled(ms(1000), terms), bucket);
    }

    #[test]
    fn the_largest_numbers_are_exact() {
        let terms = terms(crate::MAX_UNITS, crate::MAX_UNITS, Length::MAX_MS);
        let bucket = Bucket::full(ms(0)).charge(ms(0), terms, cost(crate::MAX_UNITS));
        let later = bucket.refilled(ms(Length::MAX_MS - 1), terms);
        assert_eq!(later.used, crate::MAX_UNITS.div_ceil(Length::MAX_MS));
        assert_eq!(bucket.full_at(terms), ms(Length::MAX_MS));
    }

    #[test]
    fn a_refund_gives_back_what_has_not_come_back_by_itself() {
        let terms = terms(10, 10, 1000);
        let charged = Bucket::full(ms(0)).charge(ms(0), terms, cost(6));
        let full_at = charged.full_at(terms);
        for (at_ms, units) in [(0, 6), (99, 5), (350, 2), (500, 1)] {
            let mut bucket = charged;
            let refunded = bucket.refund(ms(at_ms), terms, full_at, cost(6));
            assert_eq!(refunded, Refunded::Credited { units }, "at {at_ms}");
        }
        let mut bucket = charged;
        assert_eq!(
            bucket.refund(ms(600), terms, full_at, cost(6)),
            Refunded::Late
        );
    }
}
