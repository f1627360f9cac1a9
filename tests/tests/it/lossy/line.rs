//! A server behind a proxy, and what one call through it comes to.

use std::time::Duration;

use limiter_core::{Budget, BudgetStore, Error, MAX_UNITS};
use limiter_redis::RedisStore;
use limiter_tests::{Fault, Program, Proxy, Server, eventually};
use redis::AsyncConnectionConfig;

use crate::support::{Store, budget, counter, one_of, store, total};

pub(super) const SOON: Duration = Duration::from_secs(20);

/// A server, the proxy before it, and a connection to look at what the server really holds.
pub(super) struct Line {
    pub(super) server: Server,
    pub(super) proxy: Proxy,
    pub(super) budget: Budget,
}

impl Line {
    pub(super) async fn to(program: &Program) -> Self {
        let server = program.setup().start();
        let proxy = Proxy::before(&server);
        let budget = budget(MAX_UNITS);
        // The server knows the script from here on.
        let first = store(&server).await.acquire(&one_of(&budget)).await;
        assert_eq!(total(first.unwrap()), 1);
        Self {
            server,
            proxy,
            budget,
        }
    }

    /// A store with a connection of its own through the proxy, that waits for `patience`.
    pub(super) async fn store(&self, patience: Duration) -> Store {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(patience));
        let client = self.proxy.client();
        let link = client.get_multiplexed_async_connection_with_config(&config);
        RedisStore::new(link.await.unwrap())
    }

    pub(super) fn charged(&self) -> u64 {
        counter(&self.server, &self.budget)
    }

    /// Waits until the server has seen the end of every connection but the one that asks: what they
    /// had sent is executed by then, or never will be.
    pub(super) async fn settled(&self) {
        eventually("the connections are gone", SOON, async || {
            let info: String = redis::cmd("INFO")
                .arg("clients")
                .query(&mut self.server.admin())
                .unwrap();
            info.lines().any(|line| line == "connected_clients:1")
        })
        .await;
    }
}

/// What one lossy call told, and what it charged.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) told: Result<u64, Error>,
    pub(super) charged: u64,
}

impl Outcome {
    /// The truth of an outcome: an admission was charged once, *unavailable* was not charged, and
    /// *uncertain* was charged at most once.
    #[track_caller]
    pub(super) fn assert_true(&self, what: &str) {
        match &self.told {
            Ok(_) => assert_eq!(self.charged, 1, "{what}: {self:?}"),
            Err(error) if error.may_have_spent() => assert!(self.charged <= 1, "{what}: {self:?}"),
            Err(_) => assert_eq!(self.charged, 0, "{what}: {self:?}"),
        }
    }
}

/// Makes `fault` strike one acquire on a connection of its own. `None` where it had no chance to.
pub(super) async fn struck(line: &Line, fault: Fault, patience: Duration) -> Option<Outcome> {
    let store = line.store(patience).await;
    let before = line.charged();
    line.proxy.arm(fault);
    let told = store.acquire(&one_of(&line.budget)).await.map(total);
    let struck = line.proxy.disarm();
    drop(store);
    line.settled().await;
    let charged = line.charged() - before;
    struck.then_some(Outcome { told, charged })
}
