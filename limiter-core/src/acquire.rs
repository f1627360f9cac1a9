//! What is asked of a store in one atomic decision.

use std::collections::HashSet;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::{
    Budget, Charge, Cost, Error, Identity, Length, Nonce, Policy, Remembered, RequestDigest,
    RequestId,
};

/// One atomic decision: 1 to 16 charges, admitted all together or not at all.
///
/// Charges to refundable windows and to in-flight budgets need a [`Nonce`]; a
/// [`Limiter`](crate::Limiter) brings it by itself. A [`RequestId`] makes it safe to send the same
/// request again.
///
/// ```
/// use std::time::Duration;
/// use limiter_core::{Acquire, Cost, Policy};
///
/// let policy = Policy::named("search")
///     .scope("GET /search")
///     .limit(100)
///     .first_arrival(Duration::from_secs(60))
///     .build()?;
/// let request = Acquire::of(&policy, "alice", Cost::ONE);
/// assert_eq!(request.charges().len(), 1);
/// # Ok::<(), limiter_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Acquire {
    charges: SmallVec<[Charge; 1]>,
    nonce: Option<Nonce>,
    remembered: Option<Box<Remembered>>,
}

impl Acquire {
    /// The most charges that one acquisition can have.
    pub const MAX_CHARGES: usize = 16;

    /// One charge of `cost` to the budget of `identity` under `policy`.
    pub fn of(policy: &Policy, identity: impl Into<Identity>, cost: Cost) -> Self {
        Self::one(Budget::of(policy, identity), cost)
    }

    /// One charge of `cost` to `budget`.
    pub fn one(budget: Budget, cost: Cost) -> Self {
        Self {
            charges: smallvec![Charge::new(budget, cost)],
            nonce: None,
            remembered: None,
        }
    }

    /// Several charges at once.
    ///
    /// # Errors
    /// *Invalid* for no charge, for more than 16, and for two charges to one budget.
    pub fn all(charges: impl IntoIterator<Item = Charge>) -> Result<Self, Error> {
        let charges: SmallVec<[Charge; 1]> = charges.into_iter().collect();
        let count = charges.len();
        if !(1..=Self::MAX_CHARGES).contains(&count) {
            return Err(Error::invalid(format!(
                "an acquisition of {count} charges: allowed is 1 to {}",
                Self::MAX_CHARGES
            )));
        }
        let mut seen = HashSet::with_capacity(count);
        for charge in &charges {
            if !seen.insert(charge.budget().key()) {
                let policy = charge.budget().policy().name();
                return Err(Error::invalid(format!(
                    "two charges to one budget of policy {policy:?}: allowed is one per budget"
                )));
            }
        }
        Ok(Self {
            charges,
            nonce: None,
            remembered: None,
        })
    }

    /// What is asked, in the order in which it was given.
    pub fn charges(&self) -> &[Charge] {
        &self.charges
    }

    /// Brings the nonce that refundable windows and leases need. It must be new; also for a request
    /// that is sent again, though there the first one would do no harm.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Nonce) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// Names the request, so that an admission is remembered for five minutes and a repeat within
    /// them charges nothing. See [`remembered_for`](Self::remembered_for) for another life.
    #[must_use]
    pub fn with_id(mut self, id: RequestId) -> Self {
        let life = Length::FIVE_MINUTES;
        self.remembered = Some(Box::new(Remembered { id, life }));
        self
    }

    /// Names the request, and states how long an admission is remembered: 1 ms to 366 days, in
    /// whole milliseconds, from the admission on.
    ///
    /// # Errors
    /// *Invalid* for a life out of bounds.
    pub fn remembered_for(mut self, id: RequestId, life: Duration) -> Result<Self, Error> {
        let life = Length::new(life)?;
        self.remembered = Some(Box::new(Remembered { id, life }));
        Ok(self)
    }

    pub(crate) fn without_id(mut self) -> Self {
        self.remembered = None;
        self
    }

    /// The nonce, if one was brought.
    pub fn nonce(&self) -> Option<Nonce> {
        self.nonce
    }

    /// The request id and the life of its record, if it has one.
    pub fn remembered(&self) -> Option<&Remembered> {
        self.remembered.as_deref()
    }

    /// Whether a charge of this request needs a nonce.
    pub fn needs_nonce(&self) -> bool {
        let mut charges = self.charges.iter();
        charges.any(|charge| charge.budget().policy().needs_nonce())
    }

    /// What is asked, in sixteen bytes: a repeat under the same request id must ask the same.
    pub fn digest(&self) -> RequestDigest {
        RequestDigest::of(&self.charges)
    }

    /// The same request of other charges, with as many and as distinct keys.
    pub(crate) fn with_charges(&self, charges: impl IntoIterator<Item = Charge>) -> Self {
        Self {
            charges: charges.into_iter().collect(),
            nonce: self.nonce,
            remembered: self.remembered.clone(),
        }
    }

    /// The same request under other policies, which have the same key spaces.
    pub(crate) fn under(
        &self,
        change: impl Fn(&Policy) -> Result<Policy, Error>,
    ) -> Result<Self, Error> {
        let changed: Result<SmallVec<[Charge; 1]>, Error> = self
            .charges
            .iter()
            .map(|charge| {
                let budget = charge.budget();
                let policy = change(budget.policy())?;
                Ok(Charge::new(budget.under(&policy), charge.cost()))
            })
            .collect();
        Ok(self.with_charges(changed?))
    }
}
