//! The contract of a store.

use std::fmt;
use std::ops::Deref;

use async_trait::async_trait;

use crate::{Acquire, Budget, Capabilities, Cost, Decision, Error, Identity, Policy, Snapshot};

/// Where budgets are kept, and where each decision on them is made: in one atomic step, by one
/// authority.
///
/// # Contract for implementors
///
/// - **Atomic.** Comparison, creation with its deadline, and charge are one step. No other caller
///   sees a state in between.
/// - **Anchored.** The first admission sets the deadline of a window; nothing else moves it.
/// - **Inert rejection.** A denial changes nothing that anybody can observe: no count, no deadline.
/// - **Exact accounting.** In one window each running total is reported by exactly one admission.
/// - **Honest wait.** A denial says how long until this cost can be admitted, rounded up, never 0;
///   *never* where the cost is above the limit.
/// - **Deadline always.** No state that can deny exists without a deadline. State that the store
///   did not write itself is [*corrupt*](crate::ErrorKind::Corrupt): it is neither taken for empty
///   nor healed in silence, and charges nothing.
/// - **Store time.** Deadlines follow the store's clock, never a client's. Time that steps back
///   gives no credit. Time is whole milliseconds; a window that opened at `t` contains the instants
///   `t` to `t + length`, both included.
/// - **All or nothing.** Every charge of one acquisition is judged before the first is applied.
/// - **Changed limits.** The limit in the request holds. A count above it is valid state with
///   nothing remaining.
/// - **An error is not an answer.** A store that cannot decide says so, and by its kind says whether
///   it may have charged. It never guesses a decision.
///
/// # Cancellation
///
/// The future of [`acquire`](Self::acquire) may be dropped at any time. Whether it had charged by
/// then is as uncertain as after [*uncertain*](crate::ErrorKind::Uncertain): the charge, if there
/// was one, stays until its window ends.
///
/// # Clones and wrappers
///
/// A clone, an `Arc` and a reference share the store's state. A wrapper forwards what it does not
/// change, and its `Display` names what it wraps: `DeadlineStore(MemoryStore)`.
#[async_trait]
pub trait BudgetStore: fmt::Debug + fmt::Display + Send + Sync {
    /// Decides `request`: compares, and if admitted, charges, in one atomic step.
    ///
    /// # Errors
    /// By what is known: *unavailable* (not decided, nothing charged), *uncertain* (may be
    /// charged), *corrupt* (foreign state, nothing charged), *invalid* (cannot be served as asked,
    /// nothing charged).
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error>;

    /// Looks at `budget` without changing it.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire), but nothing is ever charged.
    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error>;

    /// What this store guarantees beyond the contract.
    fn capabilities(&self) -> Capabilities;
}

/// Whatever points to a store is that store.
#[async_trait]
impl<P> BudgetStore for P
where
    P: Deref<Target: BudgetStore> + fmt::Debug + fmt::Display + Send + Sync,
{
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        (**self).acquire(request).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        (**self).peek(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }
}

/// Shorthand for the most common calls.
pub trait BudgetStoreExt: BudgetStore {
    /// Asks the budget of `identity` under `policy` for `cost` units.
    fn acquire_one(
        &self,
        policy: &Policy,
        identity: impl Into<Identity>,
        cost: Cost,
    ) -> impl Future<Output = Result<Decision, Error>> + Send {
        let request = Acquire::of(policy, identity, cost);
        async move { self.acquire(&request).await }
    }
}

impl<S: BudgetStore + ?Sized> BudgetStoreExt for S {}
