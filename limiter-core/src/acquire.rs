//! What is asked of a store in one atomic decision.

use std::collections::HashSet;

use smallvec::{SmallVec, smallvec};

use crate::{Budget, Charge, Cost, Error, Identity, Policy};

/// One atomic decision: 1 to 16 charges, admitted all together or not at all.
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
        Ok(Self { charges })
    }

    /// What is asked, in the order in which it was given.
    pub fn charges(&self) -> &[Charge] {
        &self.charges
    }
}
