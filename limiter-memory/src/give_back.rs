//! What comes after a decision: refunds, renewals, resets.

use std::hash::BuildHasher;

use limiter_core::{Budget, Clock, Error, Receipt, Record, Refunded, Renewed};

use crate::MemoryStore;
use crate::key::Query;
use crate::locks::{Lock, Place};

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    /// Gives back what `receipt` proves was charged, and releases the leases that it names; all of
    /// it in one step. The receipt is consumed: one charge is given back once.
    ///
    /// # Errors
    /// *Unavailable* where the clock shows a year after 2247; *invalid* for a receipt of a policy
    /// that gives none. Nothing is given back in either.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a receipt is good for one refund"
    )]
    pub fn refund_now(&self, receipt: Receipt) -> Result<Refunded, Error> {
        let (spot, place) = self.place_of(receipt.budget());
        let Place::Other(key) = place else {
            return Err(no_receipts(receipt.budget()));
        };
        let record_spot = receipt.request().map(|id| self.record_of(id));
        let spots = std::iter::once(spot).chain(record_spot);
        let mut locks = self.lock(spots.collect());
        let now = self.time.moment()?.now;
        if let (Some(id), Some(spot)) = (receipt.request(), record_spot) {
            let record = locks.records(spot).and_then(|records| records.get(id));
            if let Some(decided) = Record::refund(record, now, &receipt) {
                return Ok(decided);
            }
        }
        let stored = locks.others(spot).and_then(|others| others.get_mut(&key));
        let Some(other) = stored else {
            return Ok(Refunded::Late);
        };
        let refunded = match other.state_mut() {
            Some(state) => state.refund(now, &receipt)?,
            None => Refunded::Late,
        };
        other.changed(receipt.budget().policy());
        if let (Some(id), Some(spot)) = (receipt.request(), record_spot)
            && let Refunded::Credited { .. } = refunded
            && let Some(record) = locks.records(spot).and_then(|records| records.get_mut(id))
        {
            record.refunded(&receipt);
        }
        Ok(refunded)
    }

    /// Lets the leases that `receipt` names end a full lease from now, unless they end later.
    ///
    /// # Errors
    /// *Unavailable* where the clock shows a year after 2247; *invalid* for a receipt that names no
    /// lease.
    pub fn renew_now(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        let (spot, place) = self.place_of(receipt.budget());
        let Place::Other(key) = place else {
            return Err(no_receipts(receipt.budget()));
        };
        let mut locks = self.lock(vec![spot]);
        let moment = self.time.moment()?;
        let stored = locks.others(spot).and_then(|others| others.get_mut(&key));
        let Some(other) = stored else {
            return Ok(Renewed::Lost);
        };
        let renewed = match other.state_mut() {
            Some(state) => state.renew(moment.now, receipt)?,
            None => Renewed::Lost,
        };
        other.changed(receipt.budget().policy());
        Ok(match renewed {
            Renewed::Extended { ends_in } => Renewed::Extended {
                ends_in: moment.by_the_clock(ends_in),
            },
            lost => lost,
        })
    }

    /// Forgets everything that is stored for `budget`: its next admission finds it as if it had
    /// never been used. What is remembered under request ids stays.
    pub fn reset_now(&self, budget: &Budget) {
        let (spot, place) = self.place_of(budget);
        let mut locks = self.lock(vec![spot]);
        let removed = match (place, locks.at(spot)) {
            (Place::Short(key, hash), Lock::Short(shard)) => {
                shard.remove(hash.in_shard(), |stored| key.matches(stored))
            }
            (Place::Long(key, hash), Lock::Long(shard)) => {
                shard.remove(hash.in_shard(), |stored| key.matches(stored))
            }
            (Place::Other(key), Lock::Other(others)) => others.remove(&key),
            _ => false,
        };
        self.places.give_back(usize::from(removed));
    }
}

#[cold]
fn no_receipts(budget: &Budget) -> Error {
    Error::invalid(format!(
        "policy {:?}: its admissions give no receipt that this could be",
        budget.policy().name()
    ))
}
