//! What the tests share.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Cost, Decision, Error, Limiter, Policy, Snapshot,
};
use limiter_memory::MemoryStore;

pub(crate) fn policy(name: &str, limit: u64) -> Policy {
    let policy = Policy::named(name).scope(name).limit(limit);
    policy
        .first_arrival(Duration::from_secs(60))
        .build()
        .unwrap()
}

pub(crate) fn ask(limiter: &Limiter<impl BudgetStore>, cost: u64) -> Result<Decision, Error> {
    let cost = Cost::new(cost).unwrap();
    limiter
        .acquire("alice@example.org", cost)
        .now_or_never()
        .expect("at once")
}

/// A store that fails.
#[derive(Debug)]
pub(crate) struct Broken(pub(crate) fn() -> Error);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Broken")
    }
}

#[async_trait]
impl BudgetStore for Broken {
    async fn acquire(&self, _: &Acquire) -> Result<Decision, Error> {
        Err((self.0)())
    }

    async fn peek(&self, _: &Budget) -> Result<Snapshot, Error> {
        Err((self.0)())
    }

    fn capabilities(&self) -> Capabilities {
        MemoryStore::new().capabilities()
    }
}
