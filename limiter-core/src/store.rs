//! The contract of a store.

use std::fmt;
use std::ops::Deref;

use async_trait::async_trait;

use crate::{
    Acquire, Budget, Capabilities, Cost, Decision, Error, Identity, Policy, Receipt, Refunded,
    Renewed, Snapshot,
};

/// Where budgets are kept, and where each decision on them is made: in one atomic step, by one
/// authority.
///
/// # Contract for implementors
///
/// - **Atomic.** Comparison, creation with its deadline, and charge are one step. No other caller
///   sees a state in between.
/// - **Anchored.** The first admission sets the deadline of a window; nothing else moves it. Under
///   the other rules the deadline of the state is the last instant at which it can still deny.
/// - **Inert rejection.** A denial changes nothing that anybody can observe: no count, no deadline.
/// - **Exact accounting.** In one window each running total is reported by exactly one admission.
/// - **Dated by the store.** An admission happens at the instant at which the store charged it, in
///   store time, not when the caller was told.
/// - **Honest wait.** A denial says how long until this cost can be admitted, rounded up, never 0:
///   exact for windows and rolling intervals, the earliest instant for a bucket, the latest for
///   in-flight, where a release can come first; *never* where the cost is above the limit, or above
///   the burst of a bucket.
/// - **Deadline always.** No state that can deny exists without a deadline. State that the store
///   did not write itself is [*corrupt*](crate::ErrorKind::Corrupt): it is neither taken for empty
///   nor healed in silence, and charges nothing.
/// - **Store time.** Deadlines follow the store's clock, never a client's. Time that steps back
///   gives no credit. Time is whole milliseconds; a window that opened at `t` contains the instants
///   `t` to `t + length`, both included.
/// - **All or nothing.** Every charge of one acquisition is judged before the first is applied. A
///   denial lists every budget that denied.
/// - **Changed limits.** The limit in the request holds. A count above it is valid state with
///   nothing remaining.
/// - **Refunds.** A refund credits only the window whose identity the receipt holds, once, never
///   below zero, and moves no window's deadline. Late and repeated ones are answered as such and
///   change nothing.
/// - **Request ids.** An admission with an id writes one record, as one step with its charges. A
///   repeat while the record lives gets the first admission again and charges nothing; a repeat that
///   asks something else, or comes after a refund, is *invalid*. A denial is not recorded. A store
///   that cannot write the record does not charge.
/// - **An error is not an answer.** A store that cannot decide says so, and by its kind says whether
///   it may have charged. It never guesses a decision.
/// - **What is not offered is *invalid*.** [`Capabilities`] says what a store offers;
///   [`Acquire::check`] refuses the rest before anything is sent.
///
/// The rules themselves are in [`rule`](crate::rule), as pure state machines that a store can be
/// built on: load, step, save in one transaction.
///
/// # Cancellation
///
/// The future of [`acquire`](Self::acquire) may be dropped at any time. Whether it had charged by
/// then is as uncertain as after [*uncertain*](crate::ErrorKind::Uncertain): the charge, if there
/// was one, stays until it comes back by itself. So it is with the other calls and what they do.
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

    /// Gives back what `receipt` proves was charged, and releases the leases that it names.
    ///
    /// The receipt is consumed: after an error the units are not given back by another attempt.
    /// That is waste, never extra credit.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); *uncertain* means that it may have been given back. *Invalid*
    /// where this store takes no such refunds, which is what it says unless it is overridden.
    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        Err(not_offered(self, "refunds", receipt.budget()))
    }

    /// Lets the leases that `receipt` names end a full lease from now, unless they end later.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); *uncertain* means that they may have been extended. *Invalid*
    /// for a receipt of another rule, and where this store has no leases, which is what it says
    /// unless it is overridden.
    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        Err(not_offered(self, "renewals", receipt.budget()))
    }

    /// For operators: forgets everything that is stored for `budget`, also where it is corrupt. Its
    /// next admission finds it as if it had never been used; receipts of it are late. Request ids
    /// are not forgotten.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); *uncertain* means that it may have been reset. *Invalid* where
    /// this store offers no resets, which is what it says unless it is overridden.
    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        Err(not_offered(self, "resets", budget))
    }
}

#[cold]
fn not_offered<S: fmt::Display + ?Sized>(store: &S, what: &str, budget: &Budget) -> Error {
    let policy = budget.policy().name();
    Error::invalid(format!("policy {policy:?}: {store} offers no {what}"))
}

/// Whatever points to a store is that store.
#[async_trait]
#[deny(clippy::missing_trait_methods)]
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

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        (**self).refund(receipt).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        (**self).renew(receipt).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        (**self).reset(budget).await
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
