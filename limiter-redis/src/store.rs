//! The store: one script call for each decision.

use std::fmt;

use async_trait::async_trait;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Receipt, Refunded, Renewed,
    RuleSet, Snapshot,
};
use redis::aio::ConnectionLike;

use crate::key::{HashTags, KeyLayout};
use crate::place::Place;
use crate::plain;

/// Budgets on a Redis or Valkey server, shared by all who use it with the same prefix.
///
/// `C` is any connection of the `redis` crate, or another implementation of its [`ConnectionLike`].
/// The store clones it for each call, so a clone must be cheap and share the link, as that of a
/// multiplexed connection does. A connection that by itself resends a request after an I/O error
/// can charge twice; those that `RedisStoreBuilder` makes do not. A `redis` cluster connection must
/// be wrapped in a `RedirectingConnection`: alone it may report as not sent what it has sent.
///
/// A call is one request, or two where the server does not know the script yet. Nothing is retried
/// otherwise. (A peek at, and a reset of, a budget that is spread over partitions is one for each.) How long a call may take is up to the connection's own response deadline.
///
/// # Cancel safety
/// A dropped acquire may have charged, and may still charge later: its request may be on its way.
#[derive(Clone)]
pub struct RedisStore<C> {
    pub(crate) connection: C,
    pub(crate) keys: KeyLayout,
}

impl<C> RedisStore<C> {
    /// Keeps budgets behind `connection`, under [`DEFAULT_PREFIX`](crate::DEFAULT_PREFIX). Sends
    /// nothing yet.
    pub fn new(connection: C) -> Self {
        Self {
            connection,
            keys: KeyLayout::default(),
        }
    }

    /// Puts `prefix` before every key. Stores with different prefixes share nothing.
    ///
    /// # Errors
    /// *Invalid* where `prefix` holds a brace.
    pub fn with_prefix(self, prefix: &str) -> Result<Self, Error> {
        let keys = self.keys.with_prefix(prefix)?;
        Ok(Self { keys, ..self })
    }

    /// Gives out hash tags by `tags`. Stores that differ in this share nothing.
    #[must_use]
    pub fn with_hash_tags(self, tags: HashTags) -> Self {
        let keys = self.keys.with_tags(tags);
        Self { keys, ..self }
    }

    /// The key in Redis under which `budget` is kept: `prefix{tag}key`, where `key` is
    /// [`Budget::key`]. Where it is spread over partitions, the one in the first. For operators and
    /// tests.
    pub fn redis_key(&self, budget: &Budget) -> Vec<u8> {
        self.redis_keys(budget).swap_remove(0)
    }

    /// The keys in Redis under which `budget` is kept: one, or one in each partition for a budget
    /// without identity under [`HashTags::Partitions`].
    pub fn redis_keys(&self, budget: &Budget) -> Vec<Vec<u8>> {
        let places = Place::all_of(&self.keys, budget);
        let keys = places.iter().map(|place| self.keys.key(place.tag, budget));
        keys.collect()
    }

    /// The connection.
    pub fn connection(&self) -> &C {
        &self.connection
    }
}

/// What every store of this crate offers.
pub(crate) const OFFERED: Capabilities = {
    let mut offered = Capabilities::on_server();
    offered.rules = RuleSet::ALL;
    offered.refunds = RuleSet::ALL;
    offered.request_ids = true;
    offered.resets = true;
    offered.max_charges = Acquire::MAX_CHARGES;
    offered
};

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: ConnectionLike + Clone + Send + Sync> BudgetStore for RedisStore<C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        match plain::charge(request) {
            Some(charge) => self.acquire_plain(request, charge).await,
            None => self.acquire_any(request).await,
        }
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.look(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = OFFERED;
        offered.together = self.keys.tags().together();
        offered
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.give_back(&receipt).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.extend(receipt).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.forget(budget).await
    }
}

/// `RedisStore(limiter:)`, with the key prefix in the parentheses.
impl<C> fmt::Display for RedisStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisStore({})", self.keys.prefix())
    }
}

/// The connection is left out: not every connection can be shown, and some would show a password.
impl<C> fmt::Debug for RedisStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
