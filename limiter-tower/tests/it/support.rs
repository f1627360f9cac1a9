//! What the tests share.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use limiter_core::{BudgetStore, Limiter, ManualClock, Policy, Timestamp};
use limiter_memory::MemoryStore;
use limiter_tower::{LimitBody, RateLimitLayer, RateLimitLayerBuilder, header};
use tower::{Layer, Service, ServiceExt, service_fn};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) type Body = Full<bytes::Bytes>;

pub(crate) fn policy(limit: u64) -> Policy {
    let named = Policy::named("search").scope("GET /search").limit(limit);
    named
        .first_arrival(MINUTE)
        .build()
        .expect("within the bounds")
}

/// A store whose clock stands.
pub(crate) fn store() -> (MemoryStore<ManualClock>, ManualClock) {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let store = MemoryStore::builder().clock(clock.clone()).build();
    (store.expect("within the bounds"), clock)
}

/// A layer by API key, over a store whose clock stands.
pub(crate) fn layer(limit: u64) -> RateLimitLayerBuilder<MemoryStore<ManualClock>> {
    by_key(store().0, [policy(limit)])
}

pub(crate) fn by_key<S: BudgetStore>(
    store: S,
    policies: impl IntoIterator<Item = Policy>,
) -> RateLimitLayerBuilder<S> {
    let limiter = Limiter::new(store, policies).expect("the store keeps them");
    RateLimitLayer::builder(limiter, header("x-api-key").expect("a name"))
}

pub(crate) async fn hello(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    Ok(Response::new(Full::from("hello")))
}

/// A request of Alice's.
pub(crate) fn request() -> http::request::Builder {
    Request::builder()
        .uri("/search")
        .header("x-api-key", "alice")
}

/// What was answered, with its body as text.
pub(crate) struct Answer {
    pub(crate) head: Response<()>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        self.head.status()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let value = self.head.headers().get(name)?;
        Some(value.to_str().expect("text"))
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).expect("JSON")
    }
}

pub(crate) async fn read(response: Response<LimitBody<Body>>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    Answer {
        head: Response::from_parts(parts, ()),
        text: String::from_utf8(bytes.to_vec()).expect("text"),
    }
}

/// What the builder builds, on the same limiter each time.
pub(crate) fn built<S: BudgetStore>(layer: &RateLimitLayerBuilder<S>) -> RateLimitLayer<S> {
    layer.clone().build().expect("the settings fit")
}

/// Sends a request through a layer to a service that says hello.
pub(crate) async fn send<S: BudgetStore + 'static>(
    layer: &RateLimitLayerBuilder<S>,
    request: Request<Body>,
) -> Answer {
    let mut service = built(layer).layer(service_fn(hello));
    let ready = service.ready().await.expect("it is ready");
    read(ready.call(request).await.expect("it answers")).await
}

/// The same for a request of Alice's.
pub(crate) async fn ask<S: BudgetStore + 'static>(layer: &RateLimitLayerBuilder<S>) -> Answer {
    send(layer, request().body(Body::default()).expect("a request")).await
}
