//! A bound on how many callers wait for a store at once.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use crate::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Receipt, Refunded, Renewed,
    Snapshot,
};

/// Lets at most a fixed number of calls on `S` be under way at once, and answers all others
/// [*unavailable*](crate::ErrorKind::Unavailable) immediately: they were not sent.
///
/// So a store that has become slow holds that many callers and their memory, not all of them. A call
/// is under way from its first poll until it is answered or dropped. The bound is one for this value
/// and everything that points to it.
#[derive(Debug)]
pub struct BoundedStore<S> {
    inner: S,
    under_way: AtomicUsize,
    most: usize,
}

impl<S> BoundedStore<S> {
    /// Lets at most `most` calls on `inner` be under way at once. 0 lets none through.
    pub fn new(inner: S, most: usize) -> Self {
        Self {
            inner,
            under_way: AtomicUsize::new(0),
            most,
        }
    }

    /// How many calls are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.load(Ordering::Relaxed)
    }

    async fn bounded<R>(&self, call: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
        let _place = self.enter()?;
        call.await
    }

    fn enter(&self) -> Result<Place<'_>, Error> {
        let one_more = |under_way| (under_way < self.most).then_some(under_way + 1);
        let order = Ordering::Relaxed;
        match self.under_way.fetch_update(order, order, one_more) {
            Ok(_) => Ok(Place(&self.under_way)),
            Err(under_way) => Err(Error::unavailable(format!(
                "not sent: {under_way} calls are under way, of at most {}",
                self.most
            ))),
        }
    }
}

struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore> BudgetStore for BoundedStore<S> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.bounded(self.inner.acquire(request)).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.bounded(self.inner.peek(budget)).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.bounded(self.inner.refund(receipt)).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.bounded(self.inner.renew(receipt)).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.bounded(self.inner.reset(budget)).await
    }
}

impl<S: fmt::Display> fmt::Display for BoundedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundedStore({})", self.inner)
    }
}
