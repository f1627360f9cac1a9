//! A bound on how long a caller waits for a store.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Receipt, Refunded, Renewed,
    Snapshot, Timer,
};

/// Gives every call on `S` at most a fixed time, measured by `T`.
///
/// The store is polled first, so an answer that is there is never thrown away. When the time is up
/// the call is dropped and answered [*uncertain*](crate::ErrorKind::Uncertain): nobody can know
/// whether it had been decided.
///
/// ```
/// use std::time::Duration;
/// use limiter_core::{DeadlineStore, ManualClock, Timestamp};
/// # fn wrap(store: impl limiter_core::BudgetStore) {
/// let timer = ManualClock::at(Timestamp::from_millis(0));
/// let store = DeadlineStore::new(store, timer, Duration::from_millis(50));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DeadlineStore<S, T> {
    inner: S,
    timer: T,
    limit: Duration,
}

impl<S, T: Timer> DeadlineStore<S, T> {
    /// Gives every call on `inner` at most `limit`, in whole milliseconds, rounded up.
    pub fn new(inner: S, timer: T, limit: Duration) -> Self {
        Self {
            inner,
            timer,
            limit,
        }
    }

    async fn bounded<R>(&self, call: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
        let limit_ms = u64::try_from(self.limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let deadline = self.timer.now().plus_millis(limit_ms);
        let mut call = pin!(call);
        let mut expiry = self.timer.sleep_until(deadline);
        poll_fn(|context| {
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                return Poll::Ready(answer);
            }
            expiry.as_mut().poll(context).map(|()| {
                Err(Error::uncertain(format!(
                    "no answer within {:?}; the call may have been decided",
                    self.limit
                )))
            })
        })
        .await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore, T: Timer> BudgetStore for DeadlineStore<S, T> {
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

impl<S: fmt::Display, T> fmt::Display for DeadlineStore<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeadlineStore({})", self.inner)
    }
}
