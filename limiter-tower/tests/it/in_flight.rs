//! Backpressure, permits, cancellation and refunds.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use limiter_core::{
    Budget, BudgetStore, CountingNonces, Limiter, ManualClock, Permits, Policy, Refunded, Releaser,
};
use limiter_memory::MemoryStore;
use limiter_tower::{RateLimitLayer, RateLimitLayerBuilder, header};
use tower::{Layer, Service, ServiceExt, service_fn};

use crate::support::{Body, MINUTE, ask, built, hello, layer, request, store};

/// A service that reserves something when it becomes ready, and frees it when it is called or dropped.
#[derive(Debug)]
struct Reserving {
    held: Arc<AtomicUsize>,
    reserved: bool,
    called: Arc<AtomicUsize>,
}

impl Clone for Reserving {
    fn clone(&self) -> Self {
        Self {
            held: Arc::clone(&self.held),
            reserved: false,
            called: Arc::clone(&self.called),
        }
    }
}

impl Drop for Reserving {
    fn drop(&mut self) {
        if self.reserved {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Service<Request<Body>> for Reserving {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if !self.reserved {
            self.reserved = true;
            self.held.fetch_add(1, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        assert!(self.reserved, "what is called was ready");
        self.called.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok(Response::new(Body::default())))
    }
}

#[tokio::test]
async fn the_service_that_became_ready_is_called_or_dropped_where_the_request_is_denied() {
    let (held, called) = (Arc::default(), Arc::default());
    let inner = Reserving {
        held: Arc::clone(&held),
        reserved: false,
        called: Arc::clone(&called),
    };
    let mut service = built(&layer(1)).layer(inner);
    for (status, calls) in [(StatusCode::OK, 1), (StatusCode::TOO_MANY_REQUESTS, 1)] {
        let request = request().body(Body::default()).unwrap();
        let ready = service.ready().await.unwrap();
        let answer = ready.call(request).await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(
            called.load(Ordering::Relaxed),
            calls,
            "a denied request reaches nobody"
        );
        assert_eq!(held.load(Ordering::Relaxed), 0, "what was reserved is free");
    }
}

#[tokio::test]
async fn a_service_that_is_not_ready_is_waited_for() {
    let mut service = built(&layer(1)).layer(tower::util::BoxCloneService::new(
        tower::service_fn(hello).map_err(|never: Infallible| match never {}),
    ));
    let waiting: Result<_, Infallible> = service.ready().await.map(drop);
    assert!(waiting.is_ok());
}

type Store = Arc<MemoryStore<ManualClock>>;

/// A layer that lets one request be in flight, with what gives permits back.
fn one_at_a_time() -> (RateLimitLayerBuilder<Store>, Store, Policy, Releaser) {
    let store = Arc::new(store().0);
    let jobs = Policy::named("jobs")
        .scope("jobs")
        .limit(1)
        .in_flight(MINUTE);
    let jobs = jobs.build().unwrap();
    let limiter = Limiter::new(Arc::clone(&store), [jobs.clone()]).unwrap();
    let limiter = limiter.with_nonces(CountingNonces::random());
    let (permits, releaser) = Permits::new();
    let layer = RateLimitLayer::builder(limiter, header("x-api-key").unwrap()).permits(permits);
    (layer, store, jobs, releaser)
}

async fn in_flight(store: &Store, policy: &Policy) -> u64 {
    store
        .peek(&Budget::of(policy, "alice"))
        .await
        .unwrap()
        .total
}

/// Gives back what has come so far.
async fn give_back(releaser: &mut Releaser, store: &Store) -> usize {
    let mut given = 0;
    while let Some(Some(receipt)) = releaser.next().now_or_never() {
        let refunded = store.refund(receipt).await.unwrap();
        assert!(
            matches!(refunded, Refunded::Credited { .. }),
            "{refunded:?}"
        );
        given += 1;
    }
    given
}

#[tokio::test]
async fn a_permit_is_held_until_the_body_ends_or_is_dropped() {
    let (layer, store, jobs, mut releaser) = one_at_a_time();
    for read_it in [true, false] {
        let mut service = built(&layer).layer(service_fn(hello));
        let request = request().body(Body::default()).unwrap();
        let response = service.ready().await.unwrap().call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(
            give_back(&mut releaser, &store).await,
            0,
            "the body is still to come"
        );
        assert_eq!(ask(&layer).await.status(), StatusCode::TOO_MANY_REQUESTS);
        if read_it {
            let mut body = response.into_body();
            while body.frame().await.is_some() {}
            assert_eq!(
                give_back(&mut releaser, &store).await,
                1,
                "the body is at its end"
            );
            drop(body);
        } else {
            drop(response);
            assert_eq!(give_back(&mut releaser, &store).await, 1);
        }
        assert_eq!(in_flight(&store, &jobs).await, 0);
    }
}

#[tokio::test]
async fn a_cancelled_request_leaves_no_permit_behind() {
    let (layer, store, jobs, mut releaser) = one_at_a_time();
    let never =
        service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Body>, Infallible>>());
    let mut service = built(&layer).layer(never);
    let request = request().body(Body::default()).unwrap();
    let mut answering = service.ready().await.unwrap().call(request);
    assert!((&mut answering).now_or_never().is_none());
    assert_eq!(in_flight(&store, &jobs).await, 1);
    drop(answering);
    assert_eq!(give_back(&mut releaser, &store).await, 1);
    assert_eq!(in_flight(&store, &jobs).await, 0);
}

async fn fails_half(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let mut response = Response::new(Body::default());
    if request.uri().path() == "/fails" {
        *response.status_mut() = StatusCode::BAD_GATEWAY;
    }
    Ok(response)
}

#[tokio::test]
async fn what_the_rule_names_is_given_back_and_nothing_else() {
    let store = Arc::new(store().0);
    let calls = Policy::named("calls")
        .scope("calls")
        .limit(2)
        .first_arrival(MINUTE);
    let calls = calls.refundable().build().unwrap();
    let limiter = Limiter::new(Arc::clone(&store), [calls.clone()]).unwrap();
    let limiter = limiter.with_nonces(CountingNonces::random());
    let layer = RateLimitLayer::builder(limiter, header("x-api-key").unwrap());
    let layer = layer.refund_when(|response| response.status().is_server_error());
    for path in ["/fails", "/fails", "/fails", "/works", "/works"] {
        let request = Request::builder().uri(path).header("x-api-key", "alice");
        let request = request.body(Body::default()).unwrap();
        let answer = built(&layer)
            .layer(service_fn(fails_half))
            .oneshot(request)
            .await
            .unwrap();
        assert_ne!(answer.status(), StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
    assert_eq!(ask(&layer).await.status(), StatusCode::TOO_MANY_REQUESTS);
}
