//! The contract, on top of the synchronous path.

use std::hash::BuildHasher;

use async_trait::async_trait;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Charge, Clock, Decision, Error, Snapshot,
};

use crate::MemoryStore;

/// Every future here completes at its first poll: one that is dropped before has charged nothing,
/// and afterwards there is nothing left to drop.
#[async_trait]
impl<C: Clock, S: BuildHasher + Send + Sync> BudgetStore for MemoryStore<C, S> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let charge = only_charge(request)?;
        let budget = charge.budget();
        let outcome = self.acquire_now(budget.policy(), budget, charge.cost())?;
        Ok(outcome.decision(budget))
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.peek_now(budget.policy(), budget)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::in_process()
    }
}

fn only_charge(request: &Acquire) -> Result<&Charge, Error> {
    match request.charges() {
        [charge] => Ok(charge),
        charges => Err(Error::invalid(format!(
            "an acquisition of {} charges: this store takes 1",
            charges.len()
        ))),
    }
}
