//! The service: decides, then calls.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use limiter_core::{Admission, BudgetStore, Decision, Permit};
use tower_service::Service;

use crate::layer::Settings;
use crate::{Head, LimitBody, WithoutIdentity, answer};

/// A service behind a [`RateLimitLayer`](crate::RateLimitLayer).
pub struct RateLimited<I, S> {
    inner: I,
    settings: Arc<Settings<S>>,
}

impl<I, S> RateLimited<I, S> {
    pub(crate) fn new(inner: I, settings: Arc<Settings<S>>) -> Self {
        Self { inner, settings }
    }
}

impl<I: Clone, S> Clone for RateLimited<I, S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            settings: Arc::clone(&self.settings),
        }
    }
}

impl<I: fmt::Debug, S> fmt::Debug for RateLimited<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimited")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

type Answering<B, E> = Pin<Box<dyn Future<Output = Result<Response<LimitBody<B>>, E>> + Send>>;

impl<I, S, A, B> Service<Request<A>> for RateLimited<I, S>
where
    I: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    I::Future: Send,
    I::Error: Send,
    S: BudgetStore + 'static,
    A: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<LimitBody<B>>;
    type Error = I::Error;
    type Future = Answering<B, I::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), I::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        // What became ready is what is called, or dropped; the clone becomes ready anew.
        let next = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, next);
        let settings = Arc::clone(&self.settings);
        Box::pin(async move { settings.answer(ready, request).await })
    }
}

impl<S: BudgetStore> Settings<S> {
    async fn answer<I, A, B>(
        &self,
        mut ready: I,
        request: Request<A>,
    ) -> Result<Response<LimitBody<B>>, I::Error>
    where
        I: Service<Request<A>, Response = Response<B>>,
    {
        let head = Head::of(&request);
        let identity = self.identify.identity(&head);
        if let (None, WithoutIdentity::Reject(status)) = (&identity, self.without_identity) {
            return Ok(answer::without_identity(request.headers(), status));
        }
        let cost = (self.cost)(&head);
        let asked = match self.charges(identity.as_ref(), cost) {
            Ok(asked) => asked,
            Err(error) => return Ok(answer::undecided(request.headers(), &error)),
        };
        let decision = match self.limiter.decide(asked.clone()).await {
            Ok(decision) => decision,
            Err(error) => return Ok(answer::undecided(request.headers(), &error)),
        };
        let left = self.fields.left(&asked, &decision);
        let mut response = match decision {
            Decision::Admitted(mut admission) => {
                let permit = self.hold(&mut admission);
                let response = ready.call(request).await?;
                self.let_through(response, admission, permit).await
            }
            Decision::Denied(denial) => {
                // Frees what the service has reserved for this request.
                drop(ready);
                answer::denied(request.headers(), &denial, self.never_status)
            }
        };
        let partition_keys = self.partition_keys.as_ref();
        self.fields
            .tell(&left, partition_keys, response.headers_mut());
        Ok(response)
    }

    /// The guard of what is in flight; it works from here on, also where the request is cancelled.
    fn hold(&self, admission: &mut Admission) -> Option<Permit> {
        let permits = self.permits.as_ref()?;
        Some(permits.hold(admission))
    }

    /// The service's response, with the permit in its body, and with what it was charged given back
    /// where the rule says so.
    async fn let_through<B>(
        &self,
        response: Response<B>,
        admission: Admission,
        permit: Option<Permit>,
    ) -> Response<LimitBody<B>> {
        let (parts, body) = response.into_parts();
        let head = Response::from_parts(parts, ());
        if self.refund.as_ref().is_some_and(|rule| rule(&head)) {
            for receipt in admission.into_receipts() {
                // One that fails is credit lost, and no reason to fail the response.
                let _ = self.limiter.refund(receipt).await;
            }
        }
        head.map(|()| LimitBody::inner(body, permit))
    }
}
