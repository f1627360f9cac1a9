//! Leases.
//!
//! At most `limit` permits in leases that have neither been released nor ended. One that was taken
//! at `t` lasts from `t` to `t + lease`, both included. With a limit of 5 and a lease of 30 s, five
//! jobs run; the sixth is told to wait until the earliest of their leases ends, and may come sooner
//! if one of them is released. A lease that ends says nothing about its job: that may still run.

use crate::{Cost, Length, Limit, Refunded, Renewed, Snapshot, Timestamp, WindowIdentity};

use super::verdict::{Verdict, until};

/// Permits that were taken together and are given back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Which one.
    pub identity: WindowIdentity,
    /// How many permits.
    pub permits: u64,
    /// Its last instant.
    pub end: Timestamp,
}

/// All leases of one budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leases {
    /// The first to end first.
    pub(super) leases: Vec<Lease>,
}

impl Leases {
    /// The leases, the first to end first; also those that have ended and were not removed yet.
    pub fn leases(&self) -> &[Lease] {
        &self.leases
    }

    fn live(&self, now: Timestamp) -> &[Lease] {
        let over = self.leases.partition_point(|lease| lease.end < now);
        &self.leases[over..]
    }

    fn find(&self, now: Timestamp, identity: WindowIdentity) -> Option<usize> {
        let is = |lease: &Lease| lease.identity == identity && lease.end >= now;
        self.leases.iter().position(is)
    }

    /// Whether a lease of this identity lasts at `now`.
    pub fn holds(&self, now: Timestamp, identity: WindowIdentity) -> bool {
        self.find(now, identity).is_some()
    }

    /// Permits that are taken at `now`.
    pub fn total(&self, now: Timestamp) -> u64 {
        self.live(now).iter().map(|lease| lease.permits).sum()
    }

    /// The last instant at which this state can deny.
    pub fn deadline(&self) -> Timestamp {
        let last = self.leases.last();
        last.map_or_else(Timestamp::default, |lease| lease.end)
    }

    /// What it looks like at `now`.
    pub fn view(&self, now: Timestamp, limit: Limit) -> Snapshot {
        let total = self.total(now);
        let last = self.live(now).last();
        Snapshot {
            total,
            remaining: limit.get().saturating_sub(total),
            resets_in: last.map(|lease| until(now, lease.end.plus_millis(1))),
        }
    }

    /// Judges one request for `cost` permits.
    pub fn judge(&self, now: Timestamp, limit: Limit, cost: Cost) -> Verdict {
        let total = self.total(now);
        let remaining = limit.get().saturating_sub(total);
        if cost.get() > limit.get() {
            return Verdict::never(remaining);
        }
        if cost.get() <= remaining {
            return Verdict::Admit;
        }
        let allowed = limit.get() - cost.get();
        let mut left = total;
        let enough = self.live(now).iter().find(|lease| {
            left -= lease.permits;
            left <= allowed
        });
        // There is one: with no lease left, a cost within the limit fits.
        let due = enough.map_or(now, |lease| lease.end.plus_millis(1));
        Verdict::deny_until(now, due, remaining)
    }

    /// Takes what was judged admissible.
    pub fn charge(&mut self, now: Timestamp, length: Length, identity: WindowIdentity, cost: Cost) {
        let over = self.leases.len() - self.live(now).len();
        self.leases.drain(..over);
        self.insert(Lease {
            identity,
            permits: cost.get(),
            end: now.plus_millis(length.as_millis()),
        });
    }

    fn insert(&mut self, lease: Lease) {
        let place = self.leases.partition_point(|other| other.end <= lease.end);
        self.leases.insert(place, lease);
    }

    /// Gives a lease back.
    pub fn release(&mut self, now: Timestamp, identity: WindowIdentity) -> Refunded {
        match self.find(now, identity) {
            Some(place) => Refunded::Credited {
                units: self.leases.remove(place).permits,
            },
            None => Refunded::Late,
        }
    }

    /// Lets a lease end a full length from now, unless it ends later.
    pub fn renew(&mut self, now: Timestamp, length: Length, identity: WindowIdentity) -> Renewed {
        let Some(place) = self.find(now, identity) else {
            return Renewed::Lost;
        };
        let mut lease = self.leases.remove(place);
        lease.end = lease.end.max(now.plus_millis(length.as_millis()));
        self.insert(lease);
        Renewed::Extended {
            ends_in: until(now, lease.end.plus_millis(1)),
        }
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

    fn id(id: u8) -> WindowIdentity {
        WindowIdentity([id; 16])
    }

    fn full() -> (Leases, Limit) {
        let mut leases = Leases::default();
        leases.charge(ms(0), second(), id(1), Cost::new(2).unwrap());
        leases.charge(ms(400), second(), id(2), Cost::ONE);
        (leases, Limit::new(3).unwrap())
    }

    #[test]
    fn permits_come_back_when_their_lease_ends() {
        let (leases, limit) = full();
        let three = Cost::new(3).unwrap();
        let due = Verdict::deny_until(ms(500), ms(1001), 0);
        assert_eq!(leases.judge(ms(500), limit, Cost::ONE), due);
        let due = Verdict::deny_until(ms(500), ms(1401), 0);
        assert_eq!(leases.judge(ms(500), limit, three), due);
        assert_eq!(leases.judge(ms(1401), limit, three), Verdict::Admit);
    }

    #[test]
    fn a_release_gives_back_its_own_permits_once() {
        let (mut leases, limit) = full();
        assert_eq!(
            leases.release(ms(500), id(1)),
            Refunded::Credited { units: 2 }
        );
        assert_eq!(leases.release(ms(500), id(1)), Refunded::Late);
        assert_eq!(leases.view(ms(500), limit).remaining, 2);
    }

    #[test]
    fn a_renewal_extends_a_lease_that_lasts_and_no_other() {
        let (mut leases, limit) = full();
        let ends_in = Duration::from_millis(1001);
        assert_eq!(
            leases.renew(ms(1000), second(), id(1)),
            Renewed::Extended { ends_in }
        );
        assert_eq!(leases.total(ms(1401)), 2);
        assert_eq!(leases.renew(ms(1401), second(), id(2)), Renewed::Lost);
        assert_eq!(leases.judge(ms(2001), limit, Cost::ONE), Verdict::Admit);
    }
}
