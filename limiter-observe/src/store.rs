//! A store whose answers and latency are told.

use std::fmt;

use async_trait::async_trait;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Observer, Receipt, Refunded,
    Renewed, Snapshot,
};

use crate::Observing;

/// Tells what `S` answers to acquisitions, and how long it took. Changes nothing.
///
/// An acquisition whose future is dropped is not told: nobody knows what became of it.
#[derive(Clone, Debug)]
pub struct ObservedStore<S> {
    inner: S,
    /// The name of the store, as it is told.
    name: String,
}

impl<S: BudgetStore> ObservedStore<S> {
    /// Observes `inner` under what it calls itself.
    pub fn new(inner: S) -> Self {
        let name = inner.to_string();
        Self { inner, name }
    }

    /// Tells this name instead of what the store calls itself.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    async fn timed(&self, request: &Acquire) -> Result<Decision, Error> {
        #[cfg(feature = "metrics")]
        let begun = now();
        let answer = self.inner.acquire(request).await;
        #[cfg(feature = "metrics")]
        metrics::histogram!("limiter_store_seconds", "store" => self.name.clone())
            .record(begun.elapsed().as_secs_f64());
        Observing::answers().observe(request, answer.as_ref());
        answer
    }
}

/// The one place that looks at a stopwatch: a latency is no decision, and needs microseconds, which
/// a store's clock does not have.
#[cfg(feature = "metrics")]
#[allow(clippy::disallowed_methods, reason = "measures, and decides nothing")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore> BudgetStore for ObservedStore<S> {
    #[cfg(feature = "tracing")]
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        use tracing::Instrument;
        let names = request.charges().iter();
        let names: Vec<&str> = names
            .map(|charge| charge.budget().policy().name())
            .collect();
        let span = tracing::debug_span!(target: "limiter", "acquire", store = %self.name, policies = ?names);
        self.timed(request).instrument(span).await
    }

    #[cfg(not(feature = "tracing"))]
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.timed(request).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.inner.peek(budget).await
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

impl<S> fmt::Display for ObservedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObservedStore({})", self.name)
    }
}
