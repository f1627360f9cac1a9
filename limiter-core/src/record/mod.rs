//! What is remembered of an admission under a request id.

mod bytes;

use std::time::Duration;

use smallvec::SmallVec;

use crate::{
    Acquire, Admission, Error, Grant, Receipt, Refunded, RequestDigest, RuleKind, Timestamp,
    WindowIdentity,
};

/// The record of one admission under a request id: what was asked, what was answered, and which of
/// its charges have been given back.
///
/// A store writes it in the same step as the charges, and keeps it until its
/// [deadline](Self::deadline). It is for stores, and pure: it reads no clock and does no I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    digest: RequestDigest,
    deadline: Timestamp,
    charges: SmallVec<[Recorded; 1]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Recorded {
    /// Of this charge alone: two rolling windows can have equal identities.
    digest: RequestDigest,
    total: u64,
    remaining: u64,
    resets_in: Duration,
    receipt: Option<(WindowIdentity, u64)>,
    is_refunded: bool,
}

impl Record {
    /// The record of `admission`, if `request` has an id: it is charged at `now`.
    pub fn of(request: &Acquire, admission: &Admission, now: Timestamp) -> Option<Self> {
        let life = request.remembered()?.life();
        let charges = request.charges().iter().zip(admission.grants());
        let charges = charges.map(|(charge, grant)| Recorded {
            digest: RequestDigest::of_one(charge.budget(), charge.cost()),
            total: grant.total,
            remaining: grant.remaining,
            resets_in: grant.resets_in,
            receipt: grant
                .receipt
                .as_ref()
                .map(|receipt| (receipt.window(), receipt.serial())),
            is_refunded: false,
        });
        Some(Self {
            digest: request.digest(),
            deadline: now.plus_millis(life.as_millis()),
            charges: charges.collect(),
        })
    }

    /// Its last instant.
    pub fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// Whether it still holds at `now`; also where the clock stepped back.
    pub fn contains(&self, now: Timestamp) -> bool {
        now <= self.deadline
    }

    /// The first admission once more, for a `request` under the same id.
    ///
    /// # Errors
    /// *Invalid* where something else is asked than at first, and after a refund: the work that the
    /// repeat would start has been given back.
    pub fn repeat(&self, request: &Acquire) -> Result<Admission, Error> {
        if self.digest != request.digest() {
            return Err(Error::invalid(
                "the request id was used for other budgets or costs: allowed is a new id",
            ));
        }
        if self.charges.iter().any(|charge| charge.is_refunded) {
            return Err(Error::invalid(
                "the admission under this request id was refunded: allowed is a new id",
            ));
        }
        let charges = request.charges().iter().zip(&self.charges);
        let grants = charges.map(|(charge, recorded)| Grant {
            total: recorded.total,
            remaining: recorded.remaining,
            resets_in: recorded.resets_in,
            receipt: recorded.receipt.map(|(window, serial)| {
                Receipt::new(charge.budget(), window, serial, charge.cost())
            }),
        });
        let admission = Admission::new(grants).as_repeat();
        Ok(match request.remembered() {
            Some(remembered) => admission.of_request(remembered.id()),
            None => admission,
        })
    }

    /// Decides a refund by `receipt`, before the state is touched. `None`: go ahead, and call
    /// [`refunded`](Self::refunded) when units were credited.
    ///
    /// A repeat hands out the same receipts again, so some of them can come twice. A window knows
    /// which of its charges were refunded, and a lease is gone; a rolling window and a bucket do
    /// not know. So of those, what is remembered decides: without its record (`stored` is `None` or
    /// over) a refund is late, which is waste, never extra credit.
    pub fn refund(stored: Option<&Self>, now: Timestamp, receipt: &Receipt) -> Option<Refunded> {
        receipt.request()?;
        let kind = receipt.budget().policy().rule().kind();
        let must_be_known = matches!(kind, RuleKind::Rolling | RuleKind::TokenBucket);
        match stored.filter(|record| record.contains(now)) {
            Some(record) => match record.find(receipt) {
                Some(place) => record.charges[place]
                    .is_refunded
                    .then_some(Refunded::Repeated),
                None => must_be_known.then_some(Refunded::Late),
            },
            None => must_be_known.then_some(Refunded::Late),
        }
    }

    /// Remembers that the charge of `receipt` was given back.
    pub fn refunded(&mut self, receipt: &Receipt) {
        if let Some(place) = self.find(receipt) {
            self.charges[place].is_refunded = true;
        }
    }

    fn find(&self, receipt: &Receipt) -> Option<usize> {
        let digest = RequestDigest::of_one(receipt.budget(), receipt.cost());
        let same = Some((receipt.window(), receipt.serial()));
        let mut charges = self.charges.iter();
        charges.position(|charge| charge.receipt == same && charge.digest == digest)
    }
}
