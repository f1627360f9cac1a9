//! Deciding without limiting.

use std::fmt;

use async_trait::async_trait;

use crate::{
    Acquire, Admission, Budget, BudgetStore, Capabilities, Decision, Error, ErrorKind, Receipt,
    Refunded, Renewed, Snapshot,
};

/// Is told what a store decided. It must not block.
pub trait Observer: fmt::Debug + Send + Sync {
    /// `request` was answered with `answer`.
    fn observe(&self, request: &Acquire, answer: Result<&Decision, &Error>);
}

/// Nobody.
impl Observer for () {
    fn observe(&self, _request: &Acquire, _answer: Result<&Decision, &Error>) {}
}

impl<O: Observer + ?Sized> Observer for std::sync::Arc<O> {
    fn observe(&self, request: &Acquire, answer: Result<&Decision, &Error>) {
        (**self).observe(request, answer);
    }
}

/// Lets `S` decide, tells `O` what it decided, and admits all the same: to see what a limit would
/// deny before it does.
///
/// What `S` admits is charged and has its grants; everything else is admitted by
/// [`Authority::Shadow`](crate::Authority::Shadow) and charges nothing. So the counts are those that
/// a real limit would see from callers who never retry. Only *invalid* is still an error: no limit
/// could ever serve it.
#[derive(Clone, Debug)]
pub struct ShadowStore<S, O> {
    inner: S,
    observer: O,
}

impl<S, O: Observer> ShadowStore<S, O> {
    /// Admits whatever `inner` decides, and tells `observer`.
    pub fn new(inner: S, observer: O) -> Self {
        Self { inner, observer }
    }

    /// Who is told.
    pub fn observer(&self) -> &O {
        &self.observer
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore, O: Observer> BudgetStore for ShadowStore<S, O> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let answer = self.inner.acquire(request).await;
        self.observer.observe(request, answer.as_ref());
        match answer {
            Ok(Decision::Admitted(admission)) => Ok(Decision::Admitted(admission)),
            Err(error) if error.kind() == ErrorKind::Invalid => Err(error),
            Ok(Decision::Denied(_)) | Err(_) => Ok(Decision::Admitted(Admission::by_shadow())),
        }
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

impl<S: fmt::Display, O> fmt::Display for ShadowStore<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShadowStore({})", self.inner)
    }
}
