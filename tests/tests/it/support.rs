//! What most tests begin with.

use std::time::Duration;

use limiter_core::{Acquire, Admission, Budget, Cost, Decision, Denial, Policy, Wait};
use limiter_redis::RedisStore;
use limiter_tests::Server;
use redis::aio::MultiplexedConnection;
use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};

/// A window that does not end while a test runs.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A store with a connection of its own.
pub(crate) type Store = RedisStore<MultiplexedConnection>;

pub(crate) async fn store(server: &Server) -> Store {
    RedisStore::new(server.connect().await)
}

/// A store with a connection of its own that logs in as `login` says.
pub(crate) async fn user_store(server: &Server, login: RedisConnectionInfo) -> Store {
    let address = ConnectionAddr::Unix(server.socket());
    let info = address.into_connection_info().unwrap();
    let client = redis::Client::open(info.set_redis_settings(login)).unwrap();
    RedisStore::new(client.get_multiplexed_async_connection().await.unwrap())
}

pub(crate) fn policy(limit: u64, length: Duration) -> Policy {
    Policy::named("test")
        .scope("whole-system")
        .limit(limit)
        .first_arrival(length)
        .build()
        .unwrap()
}

/// The budget of some identity: `limit` in a window that does not end while a test runs.
pub(crate) fn budget(limit: u64) -> Budget {
    Budget::of(&policy(limit, MINUTE), "alice")
}

pub(crate) fn one_of(budget: &Budget) -> Acquire {
    Acquire::one(budget.clone(), Cost::ONE)
}

pub(crate) fn some_of(budget: &Budget, cost: u64) -> Acquire {
    Acquire::one(budget.clone(), Cost::new(cost).unwrap())
}

#[track_caller]
pub(crate) fn admitted(decision: Decision) -> Admission {
    match decision {
        Decision::Admitted(admission) => admission,
        Decision::Denied(denial) => panic!("denied: {denial:?}"),
    }
}

#[track_caller]
pub(crate) fn denied(decision: Decision) -> Denial {
    match decision {
        Decision::Denied(denial) => denial,
        Decision::Admitted(admission) => panic!("admitted: {admission:?}"),
    }
}

/// The running total that the admission of one charge reports.
#[track_caller]
pub(crate) fn total(decision: Decision) -> u64 {
    admitted(decision).grants()[0].total
}

/// The wait of a denial that is not for ever.
#[track_caller]
pub(crate) fn wait(denial: &Denial) -> Duration {
    match denial.wait() {
        Wait::For(wait) => wait,
        Wait::Never => panic!("never"),
    }
}

/// What the server really holds for `budget`: 0 where there is no key.
pub(crate) fn counter(server: &Server, budget: &Budget) -> u64 {
    let stored: Option<u64> = redis::cmd("GET")
        .arg(key(budget))
        .query(&mut server.admin())
        .unwrap();
    stored.unwrap_or(0)
}

/// The key of `budget` under the prefix that stores have by default.
pub(crate) fn key(budget: &Budget) -> Vec<u8> {
    RedisStore::new(()).redis_key(budget)
}
