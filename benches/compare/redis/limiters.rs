//! Who is compared, behind one question.

use std::sync::Arc;
use std::time::Duration;

use limiter_core::{BudgetStore, BudgetStoreExt, Cost, Policy};
use limiter_redis::{CoalescingStore, Mixing, RedisStore};
use redis::aio::MultiplexedConnection;
use trypema::redis::{RedisKey, RedisRateLimiterProvider};
use trypema::{BucketSize, RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};

use super::Bench;
use super::load::Limiter;

/// Longer than the benchmark. A power of two, so that a rate in units a second loses no unit.
pub(super) const WINDOW: Duration = Duration::from_secs(1024);

/// The connection that the raw client and the stores of this project share.
pub(super) fn connect(bench: &Bench) -> MultiplexedConnection {
    let client = bench.server.client();
    bench.runtime.block_on(async move {
        let connected = client.get_multiplexed_async_connection().await;
        connected.expect("a server that answers")
    })
}

/// A store of this project.
pub(super) struct Ours<S> {
    store: S,
    policy: Policy,
}

impl<S: BudgetStore + 'static> Ours<S> {
    pub(super) fn new(store: S, limit: u32) -> Self {
        let named = Policy::named("bench").scope("bench");
        let policy = named.limit(u64::from(limit)).first_arrival(WINDOW).build();
        Self {
            store,
            policy: policy.expect("within the bounds"),
        }
    }
}

impl<S: BudgetStore + 'static> Limiter for Ours<S> {
    async fn admits(&self, account: &str) -> bool {
        let decided = self.store.acquire_one(&self.policy, account, Cost::ONE);
        decided.await.expect("a decision").is_admitted()
    }
}

/// Keeps its keys apart from those of others on the same connection.
pub(super) fn plain(
    connection: MultiplexedConnection,
    prefix: &str,
) -> RedisStore<MultiplexedConnection> {
    let store = RedisStore::new(connection).with_prefix(prefix);
    store.expect("a prefix without braces")
}

pub(super) fn coalescing(
    bench: &Bench,
    connection: MultiplexedConnection,
) -> CoalescingStore<MultiplexedConnection> {
    let store = plain(connection, "coalescing:");
    let (store, driver) = CoalescingStore::new(store, Mixing::AllKeys);
    bench.runtime.spawn(driver);
    store
}

pub(super) struct Trypema {
    provider: Arc<RedisRateLimiterProvider>,
    rate: RateLimit,
}

impl Trypema {
    pub(super) fn new(bench: &Bench, limit: u32) -> Self {
        let client = bench.server.client();
        let window = WINDOW.as_secs();
        // It spawns its clean-up.
        let _entered = bench.runtime.enter();
        let manager = bench.runtime.block_on(client.get_connection_manager());
        let provider = RedisRateLimiterProvider::builder(manager.expect("a server that answers"))
            .window_size(WindowSize::seconds_or_panic(window))
            .bucket_size(BucketSize::milliseconds_or_panic(10))
            .build();
        Self {
            provider: provider.expect("within the bounds"),
            rate: RateLimit::per_second_or_panic(f64::from(limit) / window as f64),
        }
    }
}

impl Limiter for Trypema {
    async fn admits(&self, account: &str) -> bool {
        let key = RedisKey::try_from(account).expect("a key that it takes");
        let decided = self.provider.absolute().inc(&key, &self.rate, 1).await;
        matches!(decided.expect("a decision"), RateLimitDecision::Allowed)
    }
}
