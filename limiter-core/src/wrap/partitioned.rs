//! A limit that is divided among workers, instead of shared by them.

use std::fmt;

use async_trait::async_trait;

use crate::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Receipt, Refunded, Renewed, Share,
    Snapshot,
};

/// Gives `S` a stated [`Share`] of every limit and of every burst.
///
/// With a limit of 100 and 16 workers, four of them hold 7 units and twelve hold 6: together exactly
/// 100, whatever happens to any of them, and no call leaves the process. What it gives up:
///
/// - A worker that has spent its share denies, however much the others have left. With traffic that
///   is not spread evenly, far less than the limit is admitted.
/// - A cost above the share can *never* be admitted, though it is within the limit; a share can be 0.
/// - The number of workers is fixed: with one more at the old number, more than the limit is admitted.
/// - Windows open at each worker's own first arrival, so units of `W` workers can come in `W` windows
///   that overlap.
#[derive(Clone, Debug)]
pub struct PartitionedStore<S> {
    inner: S,
    share: Share,
}

impl<S> PartitionedStore<S> {
    /// Gives `inner` the part `share` of every limit.
    pub fn new(inner: S, share: Share) -> Self {
        Self { inner, share }
    }

    /// The part that it holds.
    pub fn share(&self) -> Share {
        self.share
    }

    fn part_of(&self, budget: &Budget) -> Result<Budget, Error> {
        Ok(budget.under(&self.share.of_policy(budget.policy())?))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore> BudgetStore for PartitionedStore<S> {
    /// Denials name the budgets as they were asked; receipts hold the part that was charged.
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let part = request.under(|policy| self.share.of_policy(policy))?;
        Ok(match self.inner.acquire(&part).await? {
            Decision::Denied(denial) => Decision::Denied(denial.of(request)),
            admitted @ Decision::Admitted(_) => admitted,
        })
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.inner.peek(&self.part_of(budget)?).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.inner.refund(receipt).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.inner.renew(receipt).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.inner.reset(budget).await
    }
}

/// `PartitionedStore(3 of 16, MemoryStore)`: parts are counted from 1 here.
impl<S: fmt::Display> fmt::Display for PartitionedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, parts) = (self.share.part() + 1, self.share.parts());
        write!(f, "PartitionedStore({part} of {parts}, {})", self.inner)
    }
}
