//! Who is compared, behind one question.

use std::num::NonZeroU32;
use std::time::Duration;

use actix_extensible_rate_limit::backend::memory::InMemoryBackend;
use actix_extensible_rate_limit::backend::{Backend, SimpleInput};
use futures_util::FutureExt;
use governor::clock::DefaultClock;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use limiter_core::{BudgetStore, BudgetStoreExt, Cost, Policy};
use limiter_memory::MemoryStore;
use mailrs_rate_limit::{InMemoryRateLimitStore, TokenBucketConfig};

const HOUR: Duration = Duration::from_secs(3600);

/// A keyed limiter that is asked for one unit of a key.
pub(crate) trait Limiter<K>: Sync {
    fn admits(&self, key: &K) -> bool;
}

fn policy(limit: u32) -> Policy {
    let named = Policy::named("bench")
        .scope("bench")
        .limit(u64::from(limit));
    named
        .first_arrival(HOUR)
        .build()
        .expect("within the bounds")
}

/// This project's store through the concrete type, without `async`.
pub(crate) struct Ours {
    pub(crate) store: MemoryStore,
    policy: Policy,
}

impl Ours {
    pub(crate) fn new(limit: u32, reserve: usize) -> Self {
        let store = MemoryStore::builder().capacity(1 << 22).reserve(reserve);
        Self {
            store: store.build().expect("within the bounds"),
            policy: policy(limit),
        }
    }
}

impl Limiter<String> for Ours {
    fn admits(&self, key: &String) -> bool {
        let outcome = self
            .store
            .acquire_now(&self.policy, key.as_str(), Cost::ONE);
        outcome.is_ok_and(|outcome| outcome.is_admitted())
    }
}

impl Limiter<u64> for Ours {
    fn admits(&self, key: &u64) -> bool {
        let outcome = self.store.acquire_now(&self.policy, *key, Cost::ONE);
        outcome.is_ok_and(|outcome| outcome.is_admitted())
    }
}

/// The same through the trait: a request is made, a future boxed.
pub(crate) struct OursByTrait(pub(crate) Ours);

impl Limiter<String> for OursByTrait {
    fn admits(&self, key: &String) -> bool {
        let decided = self
            .0
            .store
            .acquire_one(&self.0.policy, key.as_str(), Cost::ONE);
        let decided = decided.now_or_never().expect("it completes at once");
        decided.is_ok_and(|decision| decision.is_admitted())
    }
}

/// The same through `dyn`.
pub(crate) struct OursByDyn {
    store: Box<dyn BudgetStore>,
    policy: Policy,
}

impl OursByDyn {
    pub(crate) fn new(limit: u32, reserve: usize) -> Self {
        let Ours { store, policy } = Ours::new(limit, reserve);
        Self {
            store: Box::new(store),
            policy,
        }
    }
}

impl Limiter<String> for OursByDyn {
    fn admits(&self, key: &String) -> bool {
        let decided = self
            .store
            .acquire_one(&self.policy, key.as_str(), Cost::ONE);
        let decided = decided.now_or_never().expect("it completes at once");
        decided.is_ok_and(|decision| decision.is_admitted())
    }
}

fn quota(limit: u32) -> Quota {
    Quota::per_hour(NonZeroU32::new(limit).expect("above 0"))
}

pub(crate) struct GovernorString(RateLimiter<String, DashMapStateStore<String>, DefaultClock>);

impl GovernorString {
    pub(crate) fn new(limit: u32) -> Self {
        Self(RateLimiter::dashmap(quota(limit)))
    }
}

impl Limiter<String> for GovernorString {
    fn admits(&self, key: &String) -> bool {
        self.0.check_key(key).is_ok()
    }
}

pub(crate) struct GovernorU64(RateLimiter<u64, DashMapStateStore<u64>, DefaultClock>);

impl GovernorU64 {
    pub(crate) fn new(limit: u32) -> Self {
        Self(RateLimiter::dashmap(quota(limit)))
    }
}

impl Limiter<u64> for GovernorU64 {
    fn admits(&self, key: &u64) -> bool {
        self.0.check_key(key).is_ok()
    }
}

type Ahash = ahash::RandomState;

pub(crate) struct GovernorAhash(RateLimiter<u64, DashMapStateStore<u64, Ahash>, DefaultClock>);

impl GovernorAhash {
    pub(crate) fn new(limit: u32) -> Self {
        Self(RateLimiter::dashmap_with_hasher(quota(limit), Ahash::new()))
    }
}

impl Limiter<u64> for GovernorAhash {
    fn admits(&self, key: &u64) -> bool {
        self.0.check_key(key).is_ok()
    }
}

pub(crate) struct RateNet(rate_net::RateLimiter);

impl RateNet {
    pub(crate) fn new(limit: u32) -> Self {
        let builder = rate_net::RateLimiter::builder()
            .algorithm(rate_net::Algorithm::FixedWindow)
            .quota(limit, HOUR)
            .eviction(rate_net::Eviction::unbounded());
        Self(builder.build())
    }
}

impl Limiter<String> for RateNet {
    fn admits(&self, key: &String) -> bool {
        self.0.check(key.as_str()).is_allow()
    }
}

impl Limiter<u64> for RateNet {
    fn admits(&self, key: &u64) -> bool {
        self.0.check(*key).is_allow()
    }
}

pub(crate) struct Mailrs(InMemoryRateLimitStore);

impl Mailrs {
    pub(crate) fn new(limit: u32) -> Self {
        Self(InMemoryRateLimitStore::new(TokenBucketConfig {
            capacity: limit,
            refill_rate: f64::from(limit) / 3600.0,
        }))
    }
}

impl Limiter<String> for Mailrs {
    fn admits(&self, key: &String) -> bool {
        self.0.check_sync(key)
    }
}

/// Its collector of garbage is off: it needs a runtime of its own.
pub(crate) struct Actix(InMemoryBackend, u64);

impl Actix {
    pub(crate) fn new(limit: u32) -> Self {
        let backend = InMemoryBackend::builder().with_gc_interval(None).build();
        Self(backend, u64::from(limit))
    }
}

impl Limiter<String> for Actix {
    fn admits(&self, key: &String) -> bool {
        let input = SimpleInput {
            interval: HOUR,
            max_requests: self.1,
            key: key.clone(),
        };
        let answer = self.0.request(input).now_or_never();
        answer
            .expect("it completes at once")
            .is_ok_and(|(decision, ..)| decision.is_allowed())
    }
}
