//! A service with rate limits: two routes, several policies, one store.
//!
//! `GET /search` is limited for each API key and for the service as a whole; `GET /export` for each
//! key, and to two at once. `GET /plain` has no limit, `GET /metrics` is for Prometheus.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use limiter_core::{
    BudgetStore, CircuitStore, CountingNonces, DeadlineStore, Error, FailureMode, Limiter, Permits,
    Policy, SystemClock, TokioTimer,
};
use limiter_memory::MemoryStore;
use limiter_observe::{ObservedStore, Observing};
use limiter_redis::RedisStoreBuilder;
use limiter_tower::{Fields, Head, Identify, RateLimitLayer, WithoutIdentity, header};
use metrics_exporter_prometheus::PrometheusHandle;

/// How long a caller waits for a decision.
pub const DEADLINE: Duration = Duration::from_millis(250);
/// How often a store that is away is asked whether it is back.
pub const PROBE: Duration = Duration::from_secs(1);

type Shared = Arc<dyn BudgetStore>;

/// A store in this process.
pub fn in_memory() -> Shared {
    Arc::new(ObservedStore::new(MemoryStore::new()).named("memory"))
}

/// A store that all processes of the service share. A server that is away costs callers microseconds
/// and not the deadline, and is found again when it is back: it may be away when the service starts.
///
/// # Errors
/// Where the URL is none.
pub fn on_redis(url: &str) -> Result<Shared, Error> {
    let redis = RedisStoreBuilder::url(url).connect_lazily()?;
    let in_time = DeadlineStore::new(redis, TokioTimer::default(), DEADLINE);
    let circuit = CircuitStore::new(in_time, SystemClock::new(), 3, PROBE)?;
    Ok(Arc::new(ObservedStore::new(circuit).named("redis")))
}

/// The limits of the service.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Searches of one key in one window.
    pub searches_each: u64,
    /// How long such a window is.
    pub window: Duration,
    /// Searches of all keys in one window of theirs.
    pub searches_in_all: u64,
    /// How long that one is.
    pub window_of_all: Duration,
    /// Exports of one key at once.
    pub exports_at_once: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            searches_each: 5,
            window: Duration::from_secs(10),
            searches_in_all: 1_000,
            window_of_all: Duration::from_secs(1),
            exports_at_once: 2,
        }
    }
}

/// The service, and what has to run beside it.
///
/// # Errors
/// Where the limits are out of bounds.
pub fn service(
    store: &Shared,
    limits: Limits,
    mode: impl Fn() -> FailureMode,
    metrics: PrometheusHandle,
) -> Result<(Router, impl Future<Output = ()> + Send + 'static), Box<dyn std::error::Error>> {
    let each = Policy::named("search")
        .scope("GET /search")
        .limit(limits.searches_each)
        .first_arrival(limits.window)
        .build()?;
    let in_all = Policy::named("search-in-all")
        .scope("GET /search, all keys")
        .limit(limits.searches_in_all)
        .first_arrival(limits.window_of_all)
        .build()?;
    let exports = Policy::named("export")
        .scope("GET /export")
        .unit("concurrent-requests")
        .limit(limits.exports_at_once)
        .in_flight(Duration::from_secs(60))
        .build()?;
    let (permits, releaser) = Permits::new();
    let key = header("x-api-key")?;
    let layer = |policy: Policy, shared: bool| -> Result<_, Box<dyn std::error::Error>> {
        let limiter = Limiter::new(Arc::clone(store), [policy])?
            .on_failure(mode())
            .with_nonces(CountingNonces::random())
            .observed_by(Observing::failure_modes());
        let key = key.clone();
        let whose = move |head: &Head<'_>| (!shared).then(|| key.identity(head)).flatten();
        let layer = RateLimitLayer::builder(limiter, whose);
        let without_identity = match shared {
            true => WithoutIdentity::Share,
            false => WithoutIdentity::default(),
        };
        Ok(layer
            .without_identity(without_identity)
            .permits(permits.clone())
            .fields(Fields::Draft11)
            .build()?)
    };
    let each = layer(each, false)?;
    // A cluster cannot charge the budget of one key and that of all in one decision; two layers can,
    // at a price: what the inner one denies the outer one has charged.
    let in_all = layer(in_all, true)?;
    let router = Router::new()
        .route(
            "/search",
            get(search).layer::<_, Infallible>(in_all).layer(each),
        )
        .route("/export", get(export).layer(layer(exports, false)?))
        .route("/plain", get(search))
        .route("/metrics", get(move || async move { metrics.render() }));
    Ok((router, releaser.run(Arc::clone(store))))
}

async fn search() -> &'static str {
    "found\n"
}

async fn export() -> &'static str {
    tokio::task::yield_now().await;
    "exported\n"
}
