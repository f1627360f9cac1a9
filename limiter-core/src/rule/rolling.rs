//! The rolling window.
//!
//! At most `limit` units in every interval of `length`: what was admitted at `t` counts from `t` to
//! `t + length`, both included. With a limit of 5 and a length of 1,000 ms, admissions of 2 at 0 and
//! 3 at 400 fill it; at 1,001 the two are free again and at 1,401 the three. It is exact, and keeps
//! one entry for each millisecond in which something was admitted: at most the limit or the length
//! in milliseconds and one, whichever is less, so at most 4,097 entries of 16 bytes.
//!
//! Where the clock stepped back, the latest entry's instant is the present one: entries stay in
//! order, and nothing comes back earlier than it would have.

use std::collections::VecDeque;

use crate::{Cost, Length, Limit, Refunded, Snapshot, Timestamp};

use super::verdict::{Verdict, until};

/// What was admitted in the last interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rolling {
    /// Of distinct instants in ascending order. Only the last can have no units: refunded, it still
    /// says how far time had come.
    pub(super) entries: VecDeque<Entry>,
}

/// The units admitted in one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// How many.
    pub units: u64,
}

impl Entry {
    /// The first instant at which it no longer counts.
    fn free_at(self, length: Length) -> Timestamp {
        self.at.plus_millis(length.as_millis()).plus_millis(1)
    }
}

impl Rolling {
    /// The entries, the oldest first.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.entries.iter().copied()
    }

    /// The present instant: `now`, or that of the latest entry where the clock stepped back.
    fn instant(&self, now: Timestamp) -> Timestamp {
        self.entries.back().map_or(now, |last| last.at.max(now))
    }

    fn live(&self, now: Timestamp, length: Length) -> impl Iterator<Item = Entry> + '_ {
        let instant = self.instant(now);
        let entries = self.entries();
        entries.skip_while(move |entry| entry.free_at(length) <= instant)
    }

    /// Units that count at `now`.
    pub fn total(&self, now: Timestamp, length: Length) -> u64 {
        self.live(now, length).map(|entry| entry.units).sum()
    }

    /// The last instant at which this state can deny.
    pub fn deadline(&self, length: Length) -> Timestamp {
        let last = self.entries.back();
        last.map_or_else(Timestamp::default, |last| {
            last.at.plus_millis(length.as_millis())
        })
    }

    /// What it looks like at `now`.
    pub fn view(&self, now: Timestamp, limit: Limit, length: Length) -> Snapshot {
        let total = self.total(now, length);
        let last = self.live(now, length).last();
        Snapshot {
            total,
            remaining: limit.get().saturating_sub(total),
            resets_in: last.map(|last| until(now, last.free_at(length))),
        }
    }

    /// Judges one charge.
    pub fn judge(&self, now: Timestamp, limit: Limit, length: Length, cost: Cost) -> Verdict {
        let total = self.total(now, length);
        let remaining = limit.get().saturating_sub(total);
        if cost.get() > limit.get() {
            return Verdict::never(remaining);
        }
        if cost.get() <= remaining {
            return Verdict::Admit;
        }
        let allowed = limit.get() - cost.get();
        let mut left = total;
        let enough = self.live(now, length).find(|entry| {
            left -= entry.units;
            left <= allowed
        });
        // There is one: with nothing left, a cost within the limit fits.
        let due = enough.map_or(now, |entry| entry.free_at(length));
        Verdict::deny_until(now, due, remaining)
    }

    /// Charges what was judged admissible, and returns the instant at which it was: its identity.
    pub fn charge(&mut self, now: Timestamp, length: Length, cost: Cost) -> Timestamp {
        let at = self.instant(now);
        let over =
            |entry: &Entry| entry.free_at(length) <= at || (entry.units == 0 && entry.at < at);
        while self.entries.front().is_some_and(over) {
            self.entries.pop_front();
        }
        if self.entries.back().is_some_and(over) {
            self.entries.pop_back();
        }
        match self.entries.back_mut() {
            Some(last) if last.at == at => last.units += cost.get(),
            _ => self.entries.push_back(Entry {
                at,
                units: cost.get(),
            }),
        }
        at
    }

    /// Gives back units that were charged at `at`, where they still count.
    pub fn refund(
        &mut self,
        now: Timestamp,
        length: Length,
        at: Timestamp,
        cost: Cost,
    ) -> Refunded {
        let instant = self.instant(now);
        let Ok(place) = self.entries.binary_search_by_key(&at, |entry| entry.at) else {
            return Refunded::Late;
        };
        let is_last = place + 1 == self.entries.len();
        let entry = &mut self.entries[place];
        if entry.free_at(length) <= instant || entry.units == 0 {
            return Refunded::Late;
        }
        let units = cost.get().min(entry.units);
        entry.units -= units;
        if entry.units == 0 && !is_last {
            self.entries.remove(place);
        }
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

    fn second() -> Length {
        Length::new(Duration::from_secs(1)).unwrap()
    }

    fn charge(rolling: &mut Rolling, at_ms: u64, units: u64) {
        let cost = Cost::new(units).unwrap();
        assert_eq!(judge(rolling, at_ms, units), Verdict::Admit);
        rolling.charge(ms(at_ms), second(), cost);
    }

    fn judge(rolling: &Rolling, at_ms: u64, units: u64) -> Verdict {
        let (limit, cost) = (Limit::new(5).unwrap(), Cost::new(units).unwrap());
        rolling.judge(ms(at_ms), limit, second(), cost)
    }

    #[test]
    fn each_admission_counts_for_its_own_length_and_the_wait_is_exact() {
        let mut rolling = Rolling::default();
        charge(&mut rolling, 0, 2);
        charge(&mut rolling, 400, 3);
        assert_eq!(
            judge(&rolling, 500, 2),
            Verdict::deny_until(ms(500), ms(1001), 0)
        );
        assert_eq!(
            judge(&rolling, 500, 3),
            Verdict::deny_until(ms(500), ms(1401), 0)
        );
        assert_eq!(
            judge(&rolling, 1000, 1),
            Verdict::deny_until(ms(1000), ms(1001), 0)
        );
        charge(&mut rolling, 1001, 2);
        assert_eq!(judge(&rolling, 1001, 6), Verdict::never(0));
    }

    #[test]
    fn entries_are_one_per_millisecond_and_bounded_by_the_limit() {
        let mut rolling = Rolling::default();
        charge(&mut rolling, 0, 1);
        charge(&mut rolling, 0, 1);
        assert_eq!(rolling.entries().count(), 1);
        let limit = Limit::new(5).unwrap();
        for at_ms in 1..10_000 {
            if rolling.judge(ms(at_ms), limit, second(), Cost::ONE) == Verdict::Admit {
                rolling.charge(ms(at_ms), second(), Cost::ONE);
            }
            assert!(rolling.entries().count() <= 5);
        }
    }

    #[test]
    fn refunds_leave_no_entries_behind() {
        let mut rolling = Rolling::default();
        for at_ms in 0..5000 {
            charge(&mut rolling, at_ms, 3);
            let cost = Cost::new(3).unwrap();
            let units = 3;
            let refunded = rolling.refund(ms(at_ms), second(), ms(at_ms), cost);
            assert_eq!(refunded, Refunded::Credited { units });
            assert_eq!(rolling.entries().count(), 1);
        }
        let again = rolling.refund(ms(5000), second(), ms(4999), Cost::ONE);
        assert_eq!(again, Refunded::Late);
    }

    #[test]
    fn time_that_steps_back_gives_no_credit_and_keeps_the_order() {
        let mut rolling = Rolling::default();
        charge(&mut rolling, 12_000, 4);
        charge(&mut rolling, 1_000, 1);
        assert_eq!(rolling.entries().count(), 1);
        let due = ms(13_001);
        assert_eq!(
            judge(&rolling, 1_000, 1),
            Verdict::deny_until(ms(1_000), due, 0)
        );
    }
}
