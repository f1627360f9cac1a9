//! The contract, on top of the synchronous path.

use std::hash::BuildHasher;

use async_trait::async_trait;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Clock, Decision, Error, Receipt, Refunded, Renewed,
    Snapshot,
};

use crate::MemoryStore;
use crate::store::OFFERED;

/// Every future here completes at its first poll: one that is dropped before has charged nothing,
/// and afterwards there is nothing left to drop.
#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: Clock, S: BuildHasher + Send + Sync> BudgetStore for MemoryStore<C, S> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.decide_now(request)
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.peek_now(budget.policy(), budget)
    }

    fn capabilities(&self) -> Capabilities {
        OFFERED
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.refund_now(receipt)
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.renew_now(receipt)
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.reset_now(budget);
        Ok(())
    }
}
